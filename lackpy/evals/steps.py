"""Which steps of the model pipeline an evaluation switches: the whole pipeline, each step taken out, and none.

With good examples a model rarely writes what the later steps are for, so those are also measured without examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One configuration to measure.

    Attributes:
        name: Row of the ablation table.
        settings: Fields of `lackpy.infer.model.Settings` to change.
        retry: A refused program is asked for once more.
        typecheck: Types are checked before running.
        doubt: A program that found nothing for a text of its own is doubted once.
    """

    name: str
    settings: dict[str, Any]
    retry: bool = True
    typecheck: bool = True
    doubt: bool = True


_NONE: dict[str, Any] = {"examples": 0}
STEPS: dict[str, Step] = {
    step.name: step
    for step in (
        Step("full", {}),
        Step("no-examples", _NONE),
        Step("no-repair", {"repair": False}),
        Step("no-coercions", {"coercions": False}),
        Step("no-grounding", {"grounding": False}),
        Step("no-typecheck", {}, typecheck=False),
        Step("no-retry", {}, retry=False),
        Step("no-doubt", {}, doubt=False),
        Step("chat-retry", {"chat_retry": True}),
        Step("other-examples", {"other_examples": True}),
        Step("staged", {"staged": True}),
        Step("no-grammar", {"grammar": "off"}),
        Step("grammar-always", {"grammar": "always"}),
        Step("two-examples", {"examples": 2}),
        Step("six-examples", {"examples": 6, "example_chars": None}),
        Step("no-examples-no-repair", {**_NONE, "repair": False}),
        Step("no-examples-no-retry", _NONE, retry=False),
        Step("no-examples-chat-retry", {**_NONE, "chat_retry": True}),
        Step("no-examples-no-grammar", {**_NONE, "grammar": "off"}),
        Step(
            "plain",
            {**_NONE, "repair": False, "grammar": "off"},
            retry=False,
            typecheck=False,
        ),
    )
}
"""Name → step; `full` is what the tier does by default."""
