"""A stream of developer requests to simulate with: generated from families of phrasings, or recorded as JSON lines.

A family has a program with `{slot}`s, phrasings with the same slots, slot values and a weight. Same seed, same stream.
A recorded line needs `day`, `session_id`, `ts`, `intent`, `program` (what is right), `model_program` (what the model
tier hands back), and may have `feedback`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from riggs.errors import RiggsError

START = datetime(2025, 1, 6, tzinfo=UTC)
_NOISE = ("please ", "can you ", "", "", "", "")


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a stream.

    Attributes:
        day: 1-based.
        session_id: Session.
        ts: When, UTC.
        intent: What is asked.
        program: The right program.
        model_program: What the model stand-in answers.
        feedback: `good` or `bad` the caller would give to the model's answer.
    """

    day: int
    session_id: str
    ts: datetime
    intent: str
    program: str
    model_program: str
    feedback: str | None = None


@dataclass(frozen=True, slots=True)
class Mix:
    """How a generated stream is drawn.

    Attributes:
        calls: Fewest and most calls a day.
        sessions: Fewest and most sessions a day.
        novel: Share of one-off requests that no family holds, 0-1.
        p: Probability that the model's program is right, 0-1.
        wrong_share: Of the others, the share that runs and answers another question, 0-1; the rest fails.
        feedback: Share of wrong answers that the caller marks bad, 0-1.
    """

    calls: tuple[int, int] = (20, 50)
    sessions: tuple[int, int] = (3, 8)
    novel: float = 0.12
    p: float = 0.85
    wrong_share: float = 0.4
    feedback: float = 0.3


def load_families(path: Path) -> list[dict[str, Any]]:
    """Read a family file.

    Raises:
        RiggsError: It can't be read, or isn't a list of families.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise RiggsError(f"{path} can't be read as families ({exc})") from exc
    if not isinstance(data, list) or not data:
        raise RiggsError(f"{path} must hold a list of families")
    for number, family in enumerate(data):
        missing = [
            key for key in ("family", "program", "slots", "paraphrases", "weight") if key not in family
        ]
        if missing:
            raise RiggsError(f"{path}: family {number + 1} lacks '{missing[0]}'")
    return data


def recorded(lines: Iterable[str]) -> Iterator[Call]:
    """Read a recorded stream.

    Raises:
        RiggsError: A line lacks what a call needs.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield Call(
                int(row["day"]),
                str(row["session_id"]),
                datetime.fromisoformat(str(row["ts"])),
                str(row["intent"]),
                str(row["program"]),
                str(row["model_program"]),
                row.get("feedback"),
            )
        except (ValueError, KeyError, TypeError) as exc:
            raise RiggsError(f"line {number} of the stream is no call ({exc})") from exc


def generate(
    families: Sequence[Mapping[str, Any]], *, seed: int, days: int, mix: Mix | None = None
) -> Iterator[Call]:
    """Draw a stream: Zipf-like families, phrasings and values, several sessions a day, a novel tail.

    Args:
        families: As in a family file.
        seed: Same seed, same stream.
        days: Days of calls.
        mix: Shares and ranges; defaults when absent.
    """
    mix = mix or Mix()
    rng = random.Random(f"workload-{seed}")  # noqa: S311  # reproducible draws, no secret
    weights = [float(f["weight"]) for f in families]
    phrasings = {f["family"]: rng.sample(f["paraphrases"], len(f["paraphrases"])) for f in families}
    values = {
        f["family"]: {n: rng.sample(s["values"], len(s["values"])) for n, s in f["slots"].items()}
        for f in families
    }
    for day in range(1, days + 1):
        sessions = [f"d{day:02d}-s{n}" for n in range(1, rng.randint(*mix.sessions) + 1)]
        seconds = sorted(rng.randrange(8 * 3600, 19 * 3600) for _ in range(rng.randint(*mix.calls)))
        for second in seconds:
            ts = START + timedelta(days=day - 1, seconds=second)
            if rng.random() < mix.novel:
                intent, program = _novel(rng)
                wrong = "[]"
            else:
                family = rng.choices(families, weights)[0]
                chosen = {n: _zipf(rng, pool, 0.8) for n, pool in values[family["family"]].items()}
                intent = rng.choice(_NOISE) + fill_text(_zipf(rng, phrasings[family["family"]], 0.7), chosen)
                program = fill_program(family["program"], chosen)
                other = rng.choice(families)
                wrong = fill_program(
                    other["program"], {n: _zipf(rng, p, 0.8) for n, p in values[other["family"]].items()}
                )
            answer, feedback = _answer(rng, program, wrong, mix)
            yield Call(day, rng.choice(sessions), ts, intent, program, answer, feedback)


def _answer(rng: random.Random, right: str, wrong: str, mix: Mix) -> tuple[str, str | None]:
    if rng.random() < mix.p:
        return right, "good" if rng.random() < 0.05 else None
    if rng.random() < mix.wrong_share:
        return wrong, "bad" if rng.random() < mix.feedback else None
    return "read('no/such/file.txt')", None


def _zipf(rng: random.Random, pool: Sequence[Any], exponent: float) -> Any:
    return rng.choices(pool, [(rank + 1) ** -exponent for rank in range(len(pool))])[0]


_FILTERS = (
    ("whose name is longer than {k} characters", 'len(d["name"]) > {k}'),
    ("whose name has at most {k} characters", 'len(d["name"]) <= {k}'),
    ("with {part} in the name", '"{part}" in d["name"]'),
    ("whose name ends in {letter}", 'd["name"].endswith("{letter}")'),
    ("whose name starts with {letter}", 'd["name"].startswith("{letter}")'),
    ("with an underscore in the name", '"_" in d["name"]'),
    ("below line {k}", 'd["line"] > {k}'),
    ("that are functions", 'd["type"] == "function"'),
    ("in files that end in {letter}.py", 'd["file"].endswith("{letter}.py")'),
    ("whose file has {part} in its path", '"{part}" in d["file"]'),
)
_OUTPUTS = (
    ("names of the definitions", '[d["name"] for d in {rows}]'),
    ("sorted names of the definitions", 'sorted([d["name"] for d in {rows}])'),
    ("number of definitions", "len([d for d in {rows}])"),
    ("files with definitions", 'sorted({{d["file"] for d in {rows}}})'),
    ("first definition", "[d for d in {rows}][:1]"),
)


def _novel(rng: random.Random) -> tuple[str, str]:
    """Return a one-off: an output over one to three of ten filters, of which some 4,000 kinds exist."""
    chosen = rng.sample(_FILTERS, rng.randint(1, 3))
    values = {
        "k": str(rng.randint(3, 40)),
        "letter": rng.choice("abcdefghkmnprst"),
        "part": rng.choice(("get", "set", "name")),
    }
    said, held = rng.choice(_OUTPUTS)
    clauses = " and ".join(fill_text(words, values) for words, _ in chosen)
    condition = " and ".join(fill_text(code, values) for _, code in chosen)
    rows = f'find_definitions("*") if {condition}'
    return f"{said} {clauses}", held.replace("{{", "{").replace("}}", "}").replace("{rows}", rows)


def fill_text(text: str, values: Mapping[str, Any]) -> str:
    """Put said values into a phrasing."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value["say"] if isinstance(value, dict) else value))
    return text


def fill_program(program: str, values: Mapping[str, Any]) -> str:
    """Put program values into a program's double-quoted strings; a number stands bare."""
    for name, value in values.items():
        held = value["program"] if isinstance(value, dict) else value
        text = str(held) if isinstance(held, int) else json.dumps(held, ensure_ascii=False)[1:-1]
        program = program.replace(f"{{{name}}}", text)
    return program


def build_tree(folder: Path, families: Sequence[Mapping[str, Any]]) -> None:
    """Write a small source tree in which the families' programs run: names defined and called, files there."""
    idents: set[str] = set()
    files: set[str] = set()
    texts: set[str] = set()
    folders: set[str] = {"src", "tests"}
    for family in families:
        for slot in family["slots"].values():
            held = {str(v["program"] if isinstance(v, dict) else v) for v in slot["values"]}
            kind = slot["type"]
            {"identifier": idents, "path": files, "text": texts, "dir": folders}.get(kind, set()).update(held)
    names = sorted(i for i in idents if i.isidentifier())
    body = "".join(f"def {name}(value=None):\n    # TODO: tidy\n    return value\n\n\n" for name in names)
    calls = "".join(f"    {name}(1)\n" for name in names)
    notes = "".join(f"# {text}\n" for text in sorted(texts))
    for place in sorted(folders):
        target = folder / place.strip("/")
        target.mkdir(parents=True, exist_ok=True)
        stem = place.strip("/").replace("/", "_")
        (target / f"{stem}_use.py").write_text(
            f"import re\n\n\ndef use_{stem.replace('-', '_')}():\n{calls}    return 1\n{notes}"
        )
    (folder / "src" / "defs.py").write_text(f"import sys\nfrom os import path\n\n\n{body}{notes}")
    for file in sorted(files):
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.write_text(f"import sys\n{notes}")
