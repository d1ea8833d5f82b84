"""What a workspace has, what is missing, and what to do: behind `lackpy init`, `status` and `doctor`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lackpy import config as configuration
from lackpy.errors import LackpyError
from lackpy.kits import broken_kits
from lackpy.service import Lackpy

_CONFIG_HEAD = """\
# lackpy's settings for this workspace; every key is optional. `lackpy doctor` says what works.
# kit = "debug"
# max_grade = 1            # 0 query, 1 read, 2 run, 3 write

# [tiers]
# order = ["templates", "rules", "ollama", "llamacpp", "anthropic"]

# [templates]
# starter = true           # the shipped library

# [run]
# executor = "monty"       # or "inline"
"""


def initialise(workspace: Path, *, model: str | None = None, api: bool = False) -> dict[str, Any]:
    """Write `.lackpy/config.toml` unless it exists.

    Args:
        workspace: Folder to set up.
        model: GGUF path or Ollama model name; found by probing when absent.
        api: Switch the API tier on.

    Raises:
        LackpyError: The folder can't be written.
    """
    from lackpy.infer.setup import find_local_tier  # noqa: PLC0415  # probes a server

    state = workspace / configuration.STATE_DIR
    path = state / "config.toml"
    tier = find_local_tier(model)
    found = [tier.finding]
    text = _CONFIG_HEAD
    if tier.section:
        text += f"\n[{tier.section}]\n" + "".join(
            f"{key} = {_toml(value)}\n" for key, value in tier.settings.items()
        )
    if api:
        text += '\n[anthropic]\nmodel = "claude-haiku-4-5"\n'
        found.append("API tier on; it needs ANTHROPIC_API_KEY")
    if path.exists():
        return {"written": False, "path": str(path), "found": [*found, "the file was there and is unchanged"]}
    try:
        state.mkdir(exist_ok=True)
        (state / "templates").mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as exc:
        raise LackpyError(f"{state} can't be written ({exc.strerror or exc})") from exc
    configuration.load(workspace)
    return {"written": True, "path": str(path), "found": found}


def overview(workspace: Path) -> dict[str, Any]:
    """Return tiers with their status, template and trace counts, and problems found on the way."""
    problems: list[str] = []
    with Lackpy(workspace) as runtime:
        tiers = [
            {"tier": str(tier), "provider": name, "status": said}
            for tier, name, said in runtime.dispatcher.statuses()
        ]
        rows = runtime.dispatcher.template_rows()
        problems += broken_kits(workspace)
        problems += [f"template {row['name']}: {row['problem']}" for row in rows if row["problem"]]
        counts = {
            origin: sum(1 for r in rows if r["origin"] == origin) for origin in ("workspace", "starter")
        }
        try:
            from lackpy.traces.query import count_traces  # noqa: PLC0415  # loads DuckDB

            traces = str(count_traces(workspace, store=configuration.trace_store(workspace, wait_s=1.0)))
        except LackpyError as exc:
            traces = "unknown"
            problems.append(str(exc))
        return {
            "workspace": str(workspace),
            "kit": runtime.kit if isinstance(runtime.kit, str) else "custom",
            "executor": runtime.config.run.executor,
            "tiers": tiers,
            "templates": f"{counts['workspace']} of this workspace, {counts['starter']} shipped",
            "traces": traces,
            "problems": problems,
        }


def examine(workspace: Path) -> list[dict[str, str]]:
    """Run every check; each row is part, state (`ok`, `warn`, `fail`), finding and what to do."""
    checks = [
        _check("python", lambda: f"Python {sys.version.split()[0]}", "install Python 3.11 or newer"),
        _check("configuration", lambda: _configured(workspace), "fix .lackpy/config.toml"),
        _check(
            "state folder", lambda: _writable(workspace), "make .lackpy writable; calls work, traces are lost"
        ),
        _check("kit", lambda: _kit(workspace), "name an existing kit, see `lackpy kit list`"),
        _check(
            "executor", lambda: _runs(workspace), 'set [run] executor = "inline" if workers can\'t start here'
        ),
        _check(
            "store",
            lambda: _store(workspace),
            "close the program that holds the store, or move the file away",
        ),
    ]
    if checks[1]["state"] == "ok":
        with Lackpy(workspace) as runtime:
            for tier, name, said in runtime.dispatcher.statuses():
                ready = said.startswith("ready")
                checks.append(
                    {
                        "part": f"tier {tier} {name}",
                        "state": "ok" if ready else "warn",
                        "finding": said,
                        "do": "" if ready else "optional; `lackpy init` sets a model tier up",
                    }
                )
    return checks


def _check(part: str, probe: Callable[[], str], remedy: str) -> dict[str, str]:
    try:
        return {"part": part, "state": "ok", "finding": probe(), "do": ""}
    except (LackpyError, OSError, ImportError) as exc:
        return {"part": part, "state": "fail", "finding": str(exc), "do": remedy}


def _configured(workspace: Path) -> str:
    config = configuration.load(workspace)
    return f"{config.path} read" if config.path and config.path.exists() else "defaults (no config.toml)"


def _writable(workspace: Path) -> str:
    state = workspace / configuration.STATE_DIR
    folder = state if state.is_dir() else workspace
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(b"x")
    return f"{state} can be written"


def _kit(workspace: Path) -> str:
    with Lackpy(workspace) as runtime:
        return f"'{runtime.config.kit}' has {len(runtime.load_kit().tools)} tools"


def _runs(workspace: Path) -> str:
    with Lackpy(workspace) as runtime:
        verdict = runtime.validate("1 + 1")
        ran = runtime.executor.run(verdict, {}, {}, runtime.config.limits)
        if not ran.ok or ran.output != 2:
            raise LackpyError(f"{runtime.config.run.executor} could not run '1 + 1': {ran.error}")
        return f"{runtime.config.run.executor} ran a program in {ran.ms:.0f} ms"


def _store(workspace: Path) -> str:
    from lackpy.traces.query import count_traces  # noqa: PLC0415  # loads DuckDB

    return f"{count_traces(workspace, store=configuration.trace_store(workspace, wait_s=1.0))} traces"


def _toml(value: Any) -> str:
    return json.dumps(value)
