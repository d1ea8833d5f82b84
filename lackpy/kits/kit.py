"""Kit: a named set of tools that programs may call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lackpy.kits.spec import ToolSpec
from lackpy.lang.signature import Grade, Signature


@dataclass(frozen=True, slots=True)
class Kit:
    """One kit.

    Attributes:
        name: As traces record it.
        description: One sentence.
        tools: Name that programs call → tool.
        max_grade: Highest grade a program over this kit may have; `None` = no cap.
        rules: Extra rules that programs must keep (see `lackpy spec`).
    """

    name: str
    description: str
    tools: Mapping[str, ToolSpec]
    max_grade: Grade | None = None
    rules: tuple[str, ...] = ()
    _signatures: list[Mapping[str, Signature]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """Name → signature, as the language wants it; the same object every time."""
        if not self._signatures:
            self._signatures.append(
                MappingProxyType({name: spec.signature for name, spec in self.tools.items()})
            )
        return self._signatures[0]
