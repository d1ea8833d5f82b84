"""Configuration of one workspace: `.lackpy/config.toml` read into frozen records, every default in one place.

Unknown keys and wrong types are refused with file, key and what to write; a missing file is all defaults.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

from lackpy.errors import LackpyError
from lackpy.run.record import Limits
from lackpy.traces.store import Store

STATE_DIR = ".lackpy"


class ConfigError(LackpyError):
    """The configuration can't be used; the sentence says where and what to write."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """`[tiers]`: who proposes programs, in this order."""

    order: tuple[str, ...] = ("templates", "rules", "ollama", "llamacpp", "anthropic")
    retry: bool = True
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Templates:
    """`[templates]`: `starter = false` switches the shipped library off."""

    starter: bool = True


@dataclass(frozen=True, slots=True)
class Rules:
    """`[rules]`: `enabled = false` switches tier 1 off."""

    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """`[run]`: which executor, how many warm workers, and whether programs are type-checked first."""

    executor: str = "monty"
    workers: int = 4
    type_check: bool = True


@dataclass(frozen=True, slots=True)
class Traces:
    """`[traces]`: what is kept and where.

    Attributes:
        store: `duckdb:PATH`, relative to `.lackpy/`; another scheme is refused with a sentence.
        keep: `none`, `preview` or `full`: what a trace keeps of results and outputs.
        mask: Mask secrets before anything is written.
        results_keep: How many stored large outputs to keep.
    """

    store: str = "duckdb:traces.duckdb"
    keep: str = "preview"
    mask: bool = True
    results_keep: int = 200


@dataclass(frozen=True, slots=True)
class Ollama:
    """`[ollama]`: local model server (tier 2)."""

    model: str = "qwen2.5-coder:3b"
    host: str | None = None
    keep_alive: str = "10m"
    timeout_s: float = 60.0
    num_ctx: int = 8192


@dataclass(frozen=True, slots=True)
class LlamaCpp:
    """`[llamacpp]`: a GGUF file run in this process (tier 2)."""

    model_path: str | None = None
    n_ctx: int = 8192
    threads: int = 0
    timeout_s: float = 60.0
    grammar: bool = True


@dataclass(frozen=True, slots=True)
class Anthropic:
    """`[anthropic]`: API model (tier 3)."""

    model: str = "claude-haiku-4-5"
    max_tokens: int = 1024
    timeout_s: float = 30.0
    api_key_env: str = "ANTHROPIC_API_KEY"
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """All of a workspace's settings.

    Attributes:
        kit: Default kit.
        max_grade: Cap on a program's `w` for every call; `None` = no cap.
        configured: Sections that the file or the environment names; a model tier outside it is skipped.
        raw: The file's tables as read, for sections that riggs owns (`[candidates]`, `[trust]`, …).
        path: The file, whether or not it exists.
    """

    kit: str = "debug"
    max_grade: int | None = None
    tiers: Tiers = field(default_factory=Tiers)
    templates: Templates = field(default_factory=Templates)
    rules: Rules = field(default_factory=Rules)
    run: Run = field(default_factory=Run)
    limits: Limits = field(default_factory=Limits)
    traces: Traces = field(default_factory=Traces)
    ollama: Ollama = field(default_factory=Ollama)
    llamacpp: LlamaCpp = field(default_factory=LlamaCpp)
    anthropic: Anthropic = field(default_factory=Anthropic)
    configured: frozenset[str] = frozenset()
    raw: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    path: Path | None = None

    def section(self, name: str) -> Mapping[str, Any]:
        """Return table `name` as read, empty when absent; for sections this module doesn't own.

        Raises:
            ConfigError: It stands in the file but isn't a table.
        """
        value = self.raw.get(name, {})
        if not isinstance(value, Mapping):
            raise ConfigError(f"{self.path}: '{name}' must be a table; write [{name}] with keys below it")
        return value


# Sections that other modules read through `Config.section`; listed so that a typo is still caught here.
FOREIGN_SECTIONS = frozenset(
    {"candidates", "trust", "audit", "lifecycle", "sources", "brief", "tools", "otlp"}
)
_CHOICES = {
    ("run", "executor"): ("monty", "inline"),
    ("traces", "keep"): ("none", "preview", "full"),
}
PROVIDERS = ("templates", "rules", "ollama", "llamacpp", "anthropic")


def load(workspace: Path) -> Config:
    """Read `WORKSPACE/.lackpy/config.toml`.

    Raises:
        ConfigError: The file can't be read, isn't TOML, or holds an unknown key or a value of the wrong type.
    """
    path = workspace / STATE_DIR / "config.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        data = {}
    except NotADirectoryError as exc:
        raise ConfigError(
            f"{path.parent} is a file, lackpy keeps its state in a folder of that name; move it"
        ) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: can't be read ({exc}); fix its permissions or encoding (UTF-8)") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: not valid TOML: {exc}") from exc
    return from_mapping(data, path)


def trace_store(workspace: Path, *, wait_s: float = 5.0) -> Store:
    """Return the store that `[traces] store` names; nothing is opened.

    Args:
        workspace: Folder with a `.lackpy` folder.
        wait_s: Seconds to wait for another process to let go of it.

    Raises:
        ConfigError: The configuration can't be used.
        StoreError: An address of a kind that can't be opened.
    """
    return Store(load(workspace).traces.store, base=workspace / STATE_DIR, wait_s=wait_s)


def from_mapping(data: Mapping[str, Any], path: Path | None = None) -> Config:
    """Build a `Config` from parsed TOML tables.

    Raises:
        ConfigError: An unknown key or a value of the wrong type.
    """
    where = str(path) if path else "config"
    own = {k: v for k, v in data.items() if k not in FOREIGN_SECTIONS}
    config: Config = _record(Config, own, where, "")
    bad = [p for p in config.tiers.order if p not in PROVIDERS]
    if bad:
        raise ConfigError(f"{where}: [tiers] order names '{bad[0]}'; known: {', '.join(PROVIDERS)}")
    object.__setattr__(config, "raw", MappingProxyType(dict(data)))
    object.__setattr__(config, "path", path)
    object.__setattr__(config, "configured", frozenset(data) | _from_environment())
    return config


def _from_environment() -> set[str]:
    """Name the model tiers that the environment alone switches on; an API key alone never spends money."""
    found = set()
    if os.environ.get("OLLAMA_HOST"):
        found.add("ollama")
    if os.environ.get("LACKPY_GGUF"):
        found.add("llamacpp")
    return found


def _record(cls: type[Any], data: Mapping[str, Any], where: str, prefix: str) -> Any:
    hints = get_type_hints(cls)
    names = [f.name for f in fields(cls) if f.name not in {"configured", "raw", "path"}]
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1)
            tip = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}"
            raise ConfigError(f"{where}: unknown key '{prefix}{key}'; {tip}")
        hint = hints[key]
        if is_dataclass(hint) and isinstance(hint, type):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{where}: '{key}' must be a table; write [{key}] with keys below it")
            values[key] = _record(hint, value, where, f"{key}.")
        else:
            values[key] = _value(hint, value, where, f"{prefix}{key}")
            choices = _CHOICES.get((prefix.rstrip("."), key))
            if choices and value not in choices:
                raise ConfigError(
                    f"{where}: '{prefix}{key}' must be one of {', '.join(choices)} (got {value!r})"
                )
    return cls(**values)


def _value(hint: Any, value: Any, where: str, key: str) -> Any:
    if get_origin(hint) is tuple:
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(value)
        raise ConfigError(f"{where}: '{key}' must be a list of strings (got {value!r})")
    kinds = [k for k in (get_args(hint) or (hint,)) if k is not type(None)]
    for kind in kinds:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            if value < 0:
                raise ConfigError(f"{where}: '{key}' must be >= 0 (got {value!r})")
            return float(value)
        if kind is int and isinstance(value, int) and not isinstance(value, bool):
            if value < 0:
                raise ConfigError(f"{where}: '{key}' must be >= 0 (got {value!r})")
            return value
        if kind in (str, bool) and type(value) is kind:
            return value
    wanted = " or ".join(k.__name__ for k in kinds)
    raise ConfigError(f"{where}: '{key}' must be {wanted} (got {value!r})")
