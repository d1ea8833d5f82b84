"""Templates checked against a kit's tools: once for each template and each set of signatures it meets. Thread-safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lackpy.templates.fill import Filler, compile_template, sample_values
from lackpy.templates.format import Origin, Template, TemplateError
from lackpy.templates.needs import called_names, why_withdrawn

if TYPE_CHECKING:
    from lackpy.lang import Signature, Violation

TypeCheck = Callable[[str, "Mapping[str, Signature]", Mapping[str, str]], "tuple[Violation, ...]"]
_MAX_TEMPLATES = 20_000
_MAX_KITS = 8
_Tools = tuple["Signature | None", ...]


class ReadyTemplates:
    """Remembers which templates can be served with which tools.

    Args:
        typecheck: Checks types of a filled program (`lackpy.run.typecheck`); applied to the workspace's templates,
            shipped ones are type-checked by the tests.
    """

    def __init__(self, typecheck: TypeCheck | None = None) -> None:
        """Check nothing yet."""
        self._typecheck = typecheck
        self._known: dict[str, list[tuple[_Tools, Filler | str]]] = {}

    def get(self, key: str, template: Template, signatures: Mapping[str, Signature]) -> Filler | str:
        """Return the template ready to be filled, or why it can't be served with these tools.

        Args:
            key: Names this version of the template.
            template: The template.
            signatures: The kit's tools.
        """
        tools = tuple([signatures.get(name) for name in called_names(template.program)])
        known = self._known.get(key, [])
        for seen, ready in known:
            if seen == tools:
                return ready
        ready = self._check(template, signatures)
        if len(self._known) > _MAX_TEMPLATES:
            self._known.clear()
        self._known[key] = [*known[1 - _MAX_KITS :], (tools, ready)]
        return ready

    def _check(self, template: Template, signatures: Mapping[str, Signature]) -> Filler | str:
        withdrawn = why_withdrawn(template, signatures)
        if withdrawn is not None:
            return withdrawn
        try:
            ready = compile_template(template, signatures)
        except TemplateError as exc:
            return str(exc)
        if self._typecheck is not None and template.origin is Origin.WORKSPACE:
            wrong = self._typecheck(ready(sample_values(template)).program, signatures, {})
            if wrong:
                return f"its program doesn't fit the tools' types: {wrong[0]}"
        return ready
