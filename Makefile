# `make demo` runs the main job on this repository, `make test` runs the tests; both set everything up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types check bench siblings interop browser model wheel-check clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/lackpy delegate "find callers of build_dispatcher" --workspace .

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

check: lint types test

# Optional jobs: each needs something of its own and says what.
siblings: $(VENV)/.ready  # the sibling packages, in an environment of their own: they pin older majors
	test -d .venv-siblings || $(PYTHON) -m venv .venv-siblings
	.venv-siblings/bin/python -m pip install -q kibitzer blq-cli jetsam-mcp fledgling-mcp
	$(BIN)/python -m pytest -m siblings

interop: $(VENV)/.ready  # Node.js; the MCP Inspector and the fastmcp client
	npm install --silent --prefix .interop @modelcontextprotocol/inspector
	test -d .interop/venv || $(PYTHON) -m venv .interop/venv
	.interop/venv/bin/python -m pip install -q fastmcp
	$(BIN)/python -m pytest -m interop

browser: $(VENV)/.ready  # Chromium on the PATH
	$(BIN)/python -m pytest -m browser

model: $(VENV)/.ready  # a GGUF file named by LACKPY_GGUF
	$(BIN)/python -m pip install -q -e '.[local]'
	$(BIN)/python -m pytest -m model

wheel-check: $(VENV)/.ready  # a wheel of HEAD in an empty environment
	rm -rf build/wheel && mkdir -p build/wheel/src && git archive HEAD | tar x -C build/wheel/src
	$(BIN)/python -m pip wheel -q --no-deps -w build/wheel build/wheel/src
	$(PYTHON) -m venv build/wheel/venv && build/wheel/venv/bin/python -m pip install -q build/wheel/*.whl
	cd build/wheel/src && ../venv/bin/lackpy delegate "where is canonical defined" --workspace lackpy
	cd build/wheel/src && ../venv/bin/lackpy doctor && ../venv/bin/riggs candidates

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) .venv-siblings .interop dist build .mypy_cache .ruff_cache .hypothesis
