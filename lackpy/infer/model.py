"""What every model tier does around its client: prompt, examples, room in the context, repair, staged revision.

A tier's own file only turns chat messages into text. The model gets text and gives text: no tools, no files, no sight
of a run. `propose` never raises; a failure is a proposal without a program, with a reason and a stable `error_kind`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from lackpy.infer import prompt
from lackpy.infer.copied import problems as copies
from lackpy.infer.copied import without_copies
from lackpy.infer.form import in_wanted_form
from lackpy.infer.ground import ground, unused_files
from lackpy.infer.protocol import Feedback, Proposal, Request
from lackpy.infer.retrieve import MAX_EXAMPLES, Picked, Retriever
from lackpy.lang import Signature, Violation, check
from lackpy.lang.repair import repair

if TYPE_CHECKING:
    from lackpy.infer.prompt import Message

TypeCheck = Callable[[str, Mapping[str, Signature], Mapping[str, str]], tuple[Violation, ...]]
SECOND_SHARE = 0.4
"""Share of the best example's closeness that the examples of a second try must have."""
MAX_REVISIONS = 3
"""Lines that staged mode asks for again within one proposal."""


class ModelError(Exception):
    """A model gave no text; `kind` is stable (`overload`, `rate_limit`, `auth`, `timeout`, `unreachable`, …)."""

    def __init__(self, kind: str, message: str) -> None:
        """Keep the kind beside the sentence."""
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer.

    Attributes:
        text: What it wrote.
        truncated: It was cut, by a limit on either side; such a text is never used.
        refused: It declined to answer.
        tokens_in: Prompt tokens. tokens_out: completion tokens. `None` = unknown.
        cost_usd: Dollars; `None` = unknown.
    """

    text: str
    truncated: bool = False
    refused: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked; the fields are the steps that `lackpy eval` switches.

    Attributes:
        examples: Most retrieved examples.
        example_chars: Characters that examples may take together; `None` for no bound.
        repair: Repair what the model wrote.
        coercions: Let repair coerce values of the wrong shape.
        grounding: Hold the program to the intent: its values in place of an example's or misspelt ones, the form it
            asks for; refuse what is left of an example's values, a file left out, and an answer from memory.
        grammar: When decoding is constrained, where the engine can: `off`, `retry` (only a retry) or `always`.
        staged: Ask again for single refused lines before giving up on a proposal.
        chat_retry: A retry continues the conversation in place of a fresh prompt.
        other_examples: Every retry shows the next closest examples; else only one that has no program to mend does,
            because the first examples led it astray.
    """

    examples: int = MAX_EXAMPLES
    example_chars: int | None = None
    repair: bool = True
    coercions: bool = True
    grounding: bool = True
    grammar: str = "retry"
    staged: bool = False
    chat_retry: bool = False
    other_examples: bool = False


LOCAL_SETTINGS = Settings(examples=3, example_chars=600)
"""How a model of a few billion parameters is asked: fewer and closer examples, and a prompt that is read in 2 s."""


def is_constrained(settings: Settings, request: Request) -> bool:
    """Tell whether decoding is constrained: a retry that mends a program, or writes one where there was none."""
    if settings.grammar == "retry" and request.feedback is not None:
        return all(v.rule != "nothing" for v in request.feedback.violations)
    return settings.grammar == "always"


class Client(Protocol):
    """Turns chat messages into text."""

    model: str

    def complete(self, messages: Sequence[Message], request: Request, settings: Settings) -> Completion:
        """Answer.

        Raises:
            ModelError: There is no answer.
        """
        ...

    def room(self) -> int | None:
        """Tokens that a prompt may have; `None` when unbounded."""
        ...


class Asker:
    """Asks one model for one program."""

    def __init__(
        self, client: Client, retriever: Retriever | None = None, settings: Settings | None = None
    ) -> None:
        """Keep the parts; nothing is loaded."""
        self.client = client
        self.retriever = retriever or Retriever()
        self.settings = settings or Settings()

    def propose(self, request: Request) -> Proposal:
        """Ask; never raises for what a model, server or answer does."""
        started = time.perf_counter()
        picked = self._picked(request)
        try:
            proposal = self._asked(request, picked)
        except ModelError as exc:
            proposal = Proposal(None, reason=str(exc), error_kind=exc.kind, examples=_ids(picked))
        return replace(proposal, model=self.client.model, ms=(time.perf_counter() - started) * 1000)

    def _picked(self, request: Request) -> tuple[Picked, ...]:
        limit, chars = self.settings.examples, self.settings.example_chars
        pick = self.retriever.pick
        feedback = request.feedback
        if feedback is None or (feedback.program and not self.settings.other_examples):
            return pick(request.intent, request.signatures, limit, chars)
        first = {p.example.id for p in pick(request.intent, request.signatures, limit, chars)}
        more = pick(request.intent, request.signatures, 2 * limit, least=SECOND_SHARE)
        return tuple(p for p in more if p.example.id not in first)[-limit:]

    def _asked(self, request: Request, picked: tuple[Picked, ...]) -> Proposal:
        messages, shown = self._fitted(request, picked)
        answer = self.client.complete(messages, request, self.settings)
        proposal = self._read(answer, request, shown)
        if proposal.program is not None and self.settings.staged:
            proposal = self._revised(proposal, messages, request)
        return proposal

    def _fitted(
        self, request: Request, picked: tuple[Picked, ...]
    ) -> tuple[list[Message], tuple[Picked, ...]]:
        """Build the prompt, with fewer examples where the context is too short for all.

        Raises:
            ModelError: It doesn't fit without any example.
        """
        room = self.client.room()
        while True:
            messages = prompt.build(request, picked)
            if self.settings.chat_retry and request.feedback is not None and request.feedback.program:
                messages = _conversation(request, request.feedback, picked)
            size = prompt.estimate_tokens(messages)
            if room is None or size <= room:
                return messages, picked
            if not picked:
                needs = f"the prompt needs about {size} tokens"
                message = f"{needs} and {self.client.model} has room for {room}; use a smaller kit"
                raise ModelError("prompt_too_long", message)
            picked = picked[1:]

    def _read(self, answer: Completion, request: Request, shown: tuple[Picked, ...]) -> Proposal:
        base = Proposal(
            None,
            raw=answer.text,
            examples=_ids(shown),
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost_usd=answer.cost_usd,
        )
        if answer.refused:
            return replace(base, reason="the model declined to answer", error_kind="refused")
        if answer.truncated:
            return replace(base, reason="the answer was cut off at its length limit", error_kind="truncated")
        if not answer.text.strip():
            return replace(base, reason="the model answered with nothing", error_kind="empty")
        if not self.settings.repair:
            return replace(base, program=answer.text)
        made = repair(
            answer.text, request.signatures, params=request.params, coercions=self.settings.coercions
        )
        if made.program is None:
            return replace(
                base,
                repairs=made.repairs,
                reason="the model's answer holds no program",
                error_kind="no_program",
            )
        program, repairs, problems = made.program, list(made.repairs), tuple[Violation, ...]()
        if self.settings.grounding:
            program, grounded = ground(program, request.intent, [p.example.program for p in shown])
            repairs += [f"intent-{kind}" for kind in grounded]
            program, dropped = without_copies(program, request.intent, shown)
            repairs += ["copied-condition"] if dropped else []
            program, formed = in_wanted_form(program, request.intent, request.signatures, request.params)
            repairs += ["answer-form"] if formed else []
            problems = (*copies(program, request.intent, shown), *_from_memory(program, request))
            if request.feedback is None and not problems:
                problems = unused_files(program, request.intent)  # twice left out was meant
        return replace(base, program=program, repairs=tuple(repairs), problems=problems)

    def _revised(self, proposal: Proposal, messages: Sequence[Message], request: Request) -> Proposal:
        """Staged mode: ask for each refused line alone, put it in place, check again."""
        for _ in range(MAX_REVISIONS):
            program = proposal.program or ""
            verdict = check(program, request.signatures, params=request.params)
            if verdict.ok or verdict.violations[0].rule == "syntax":
                break
            first = verdict.violations[0]
            turn = {"role": "user", "content": prompt.revise(request.intent, program, first)}
            answer = self.client.complete([*messages[:-1], turn], request, self.settings)
            lines = program.split("\n")
            old = lines[first.line - 1]
            new = repair(answer.text, request.signatures, params=request.params).program
            if answer.truncated or not new:
                break
            indent = old[: len(old) - len(old.lstrip())]
            lines[first.line - 1 : first.line] = [indent + line for line in new.split("\n")]
            proposal = replace(
                proposal,
                program="\n".join(lines),
                repairs=(*proposal.repairs, "revised-line"),
                tokens_in=_sum(proposal.tokens_in, answer.tokens_in),
                tokens_out=_sum(proposal.tokens_out, answer.tokens_out),
                cost_usd=_sum(proposal.cost_usd, answer.cost_usd),
            )
        return proposal


def _conversation(request: Request, feedback: Feedback, picked: tuple[Picked, ...]) -> list[Message]:
    """The retry as a continued conversation: the answer, then what was wrong with it."""
    messages = prompt.build(replace(request, feedback=None), picked)
    errors = "\n".join(str(v) for v in feedback.violations[: prompt.MAX_FIXES])
    messages.append({"role": "assistant", "content": feedback.program})
    messages.append({"role": "user", "content": f"That has errors:\n{errors}\nWrite the corrected cell."})
    return messages


def _from_memory(program: str, request: Request) -> tuple[Violation, ...]:
    """Return a violation for a program that asks no tool: what it answers, the model made up."""
    verdict = check(program, request.signatures, params=request.params)
    if not verdict.ok or verdict.calls or request.params or not request.signatures:
        return ()
    names = ", ".join(request.signatures)
    return (Violation("no-call", 1, 1, "it answers without looking", f"get the answer with {names}"),)


def _ids(picked: tuple[Picked, ...]) -> tuple[str, ...]:
    return tuple(p.example.id for p in picked)


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b
