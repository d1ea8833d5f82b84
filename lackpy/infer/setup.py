"""What this machine has for tier 2, and the one step that is missing. Probes a local server; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lackpy.infer.model import ModelError
from lackpy.infer.ollama import OllamaProvider

DEFAULT_MODEL = "qwen2.5-coder:3b"
_GGUF_FOLDERS = ("~/.cache/lackpy/models", "~/models")


@dataclass(frozen=True, slots=True)
class LocalTier:
    """The local tier that was found.

    Attributes:
        section: Configuration section to write; `None` when nothing usable was found.
        settings: Keys of that section.
        finding: One sentence: what is there, or what is missing and what to do.
    """

    section: str | None
    finding: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def find_local_tier(model: str | None = None) -> LocalTier:
    """Find a local model: the one named, a GGUF file in a usual place, or a model of a running Ollama.

    Args:
        model: GGUF path or Ollama model name; `None` probes.
    """
    if model is not None:
        return _gguf(Path(model).expanduser()) if model.endswith(".gguf") else _ollama(model)
    given = os.environ.get("LACKPY_GGUF")
    if given:
        return _gguf(Path(given).expanduser())
    ollama = _ollama(None)
    if ollama.section is not None:
        return ollama
    files = gguf_files()
    if files and find_spec("xllamacpp") is not None:
        return _gguf(files[0])
    return ollama


def gguf_files() -> list[Path]:
    """Return GGUF files in the usual folders, largest first."""
    found = [p for folder in _GGUF_FOLDERS for p in Path(folder).expanduser().glob("*.gguf")]
    return sorted(found, key=lambda p: (-p.stat().st_size, p.name))


def _gguf(path: Path) -> LocalTier:
    if not path.is_file():
        return LocalTier(None, f"no file at {path}; name an existing .gguf file")
    settings = {"model_path": str(path.resolve())}
    if find_spec("xllamacpp") is None:
        return LocalTier(
            "llamacpp", f"{path.name} found; it needs the engine: pip install 'lackpy-riggs[local]'", settings
        )
    return LocalTier("llamacpp", f"local model {path.name}, run in this process", settings)


def _ollama(model: str | None) -> LocalTier:
    wanted = model or DEFAULT_MODEL
    provider = OllamaProvider(model=wanted)
    try:
        names = provider.models()
    except ModelError as exc:
        return LocalTier("ollama" if model else None, str(exc), {"model": model} if model else {})
    if wanted in names or f"{wanted}:latest" in names:
        return LocalTier("ollama", f"Ollama is running and has {wanted}", {"model": wanted})
    coder = next((n for n in names if "coder" in n), None)
    if model is None and coder is not None:
        return LocalTier("ollama", f"Ollama is running and has {coder}", {"model": coder})
    return LocalTier(
        "ollama", f"Ollama is running without {wanted}; run: ollama pull {wanted}", {"model": wanted}
    )
