"""The `python` provider: `module:function` imported from the environment, and tools that packages register.

A package registers tools in the entry-point group `lackpy.tools`: `name = "module:function"`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lackpy.kits.define import spec_of
from lackpy.kits.errors import KitError
from lackpy.kits.spec import ToolSpec
from lackpy.lang.signature import Grade

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "lackpy.tools"
_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_reference(text: str) -> bool:
    """Tell whether `text` has the form `module:function`."""
    return _REFERENCE.fullmatch(text) is not None


def imported(reference: str, *, name: str | None = None, grade: Grade | None = None) -> ToolSpec:
    """Return the tool that `module:function` names.

    Raises:
        KitError: The reference is malformed, the import fails, or what it names is no tool.
    """
    if not is_reference(reference):
        raise KitError(f"python tool {reference!r} must be written 'module:function'")
    module, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as exc:
        raise KitError(
            f"python tool {reference!r}: can't import {module!r} ({exc}); install it in this environment"
        ) from exc
    except (
        SyntaxError,
        RuntimeError,
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        NameError,
    ) as exc:
        raise KitError(
            f"python tool {reference!r}: importing {module!r} failed ({type(exc).__name__}: {exc})"
        ) from exc
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as exc:
            raise KitError(f"python tool {reference!r}: {module!r} has no {path!r}") from exc
    return spec_of(found, name=name or None, grade=grade, provider="python")


@cache
def registered() -> Mapping[str, EntryPoint]:
    """Return name → entry point of every tool that installed packages register; read once a process."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # only names that aren't builtin need it

    return MappingProxyType({point.name: point for point in entry_points(group=GROUP)})


def from_entry_point(name: str) -> ToolSpec:
    """Return the registered tool `name`.

    Raises:
        KitError: Its package is broken.
    """
    point = registered()[name]
    return imported(point.value.replace(" ", ""), name=name)
