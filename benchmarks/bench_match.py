"""Tier-0 decisions: microseconds from intent to checked program, from 10 to 10,000 templates in a workspace folder.

    python benchmarks/bench_match.py [--sizes 10,100,1000,10000]

Every size holds real template files with typed slots and optional words; every decision includes the freshness check
of the folder, the clean-up of an intent not seen before, the match, and the filled program. `ratio` compares a size
with the smallest one in the same run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from lackpy.infer.protocol import Request
from lackpy.infer.templates import TemplateProvider
from lackpy.kits import load_kit
from lackpy.templates.breaker import Breaker
from lackpy.templates.files import write_template
from lackpy.templates.format import Template, dump
from lackpy.templates.loader import TemplateLibrary

VERBS = ["find", "show", "list", "count", "trace", "audit", "collect", "review"]


def make(folder: Path, count: int) -> None:
    """Write `count` templates whose patterns differ in their literal words."""
    folder.mkdir(parents=True)
    for n in range(count):
        topic = f"topic{n}"
        pattern = f"({VERBS[n % 8]} )?(all )?{topic} (callers|usages) of {{name}}"
        program = f'rows = find_callers("{{name}}")\n[r["file"] for r in rows if r["line"] > {n}]'
        template = Template(topic, pattern, program, {"name": "identifier"})
        (folder / f"{topic}.tmpl").write_text(dump(template), encoding="utf-8")


def microseconds(provider: TemplateProvider, requests: list[Request], *, served: bool) -> list[float]:
    times = []
    for request in requests:
        started = time.perf_counter_ns()
        proposal = provider.propose(request)
        times.append((time.perf_counter_ns() - started) / 1000)
        if (proposal.program is not None) is not served:
            raise SystemExit(f"unexpected answer to {request.intent!r}: {proposal}")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,100,1000,10000")
    parser.add_argument("--calls", type=int, default=2000)
    arguments = parser.parse_args()
    first: dict[str, float] = {}
    print("templates  load_s  promote_ms  hit_us  ratio  repeat_us  miss_us  ratio")
    for count in map(int, arguments.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            folder = root / ".lackpy" / "templates"
            make(folder, count)
            signatures = load_kit("debug", root).signatures
            provider = TemplateProvider(
                TemplateLibrary(folder, starter=False), Breaker(root / ".lackpy" / "b.json")
            )

            def ask(intent: str, signatures=signatures) -> Request:
                return Request(intent, "debug", signatures)

            started = time.perf_counter()
            provider.propose(ask("nothing of the kind"))
            load_s = time.perf_counter() - started
            old = time.time() - 3600
            for path in folder.iterdir():
                os.utime(path, (old, old))
            provider.propose(ask("nothing of the kind"))
            new = Template("new", "whatever moves {name}", 'find_callers("{name}")', {"name": "identifier"})
            write_template(folder, new)
            started = time.perf_counter()
            microseconds(provider, [ask("whatever moves foo")], served=True)
            promote_ms = (time.perf_counter() - started) * 1000
            topics = [n for n in range(min(count, 50)) if VERBS[n % 8] == "show"]
            asked = [
                ask(f"show all topic{topics[n % len(topics)]} callers of name_{count}_{n}")
                for n in range(arguments.calls)
            ]
            microseconds(provider, [ask(f"show all topic{n} callers of warm") for n in topics], served=True)
            hit = statistics.median(microseconds(provider, asked, served=True))
            repeat = statistics.median(microseconds(provider, asked[-500:], served=True))
            missing = [ask(f"zebra{n} callers of name_{count}_{n}") for n in range(arguments.calls)]
            miss = statistics.median(microseconds(provider, missing, served=False))
            hit_ratio = hit / first.setdefault("hit", hit)
            miss_ratio = miss / first.setdefault("miss", miss)
            print(
                f"{count:9,d} {load_s:7.2f} {promote_ms:11.1f} {hit:7.1f} {hit_ratio:6.2f} {repeat:10.1f}"
                f" {miss:8.1f} {miss_ratio:6.2f}"
            )
            provider.close()


if __name__ == "__main__":
    main()
