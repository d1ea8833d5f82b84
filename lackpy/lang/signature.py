"""What the language knows of a tool: its name, parameters, result type and grade. No callable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Grade:
    """How much of the world a program touches.

    Attributes:
        w: World coupling: 0 pure query, 1 pinhole read, 2 scoped execution, 3 scoped write.
        d: Effects ceiling, same scale; the worst a tool may set off indirectly.
    """

    w: int = 0
    d: int = 0

    def join(self, other: Grade) -> Grade:
        """Return the least grade that covers both (component-wise maximum)."""
        return Grade(max(self.w, other.w), max(self.d, other.d))

    def within(self, cap: Grade) -> bool:
        """Tell whether neither component exceeds `cap`."""
        return self.w <= cap.w and self.d <= cap.d


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a tool; `type` and `default` are Python source text (`"str"`, `'"**/*"'`)."""

    name: str
    type: str = "Any"
    default: str | None = None

    @property
    def required(self) -> bool:
        """Tell whether a call must supply it."""
        return self.default is None


@dataclass(frozen=True, slots=True)
class RowType:
    """A dictionary shape that a tool returns, rendered as a TypedDict for the type check.

    Attributes:
        name: Class name in the stubs, e.g. `CallerRow`.
        fields: (key, type source) in the order that results carry them.
    """

    name: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool as the language sees it.

    Attributes:
        name: The name a program calls.
        params: In call order.
        returns: Type source, e.g. `list[CallerRow]`, `str`, `Any`.
        rows: Row types that `returns` names.
        grade: Declared grade; a tool without one counts as `Grade(3, 3)`.
        doc: One sentence.
    """

    name: str
    params: tuple[Param, ...] = ()
    returns: str = "Any"
    rows: tuple[RowType, ...] = ()
    grade: Grade = field(default_factory=lambda: Grade(3, 3))
    doc: str = ""

    def text(self) -> str:
        """Return `name(p: T, q: U = d) -> R`, as prompts and help show it."""
        params = ", ".join(
            f"{p.name}: {p.type}" + (f" = {p.default}" if p.default is not None else "") for p in self.params
        )
        return f"{self.name}({params}) -> {self.returns}"
