# `make demo` runs the main job on this repository, `make test` runs the tests; both set everything up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types check bench siblings clean

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

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .hypothesis
