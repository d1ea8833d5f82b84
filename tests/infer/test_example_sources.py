"""Examples from a workspace's own templates and traces."""

from __future__ import annotations

import pytest

from lackpy import Lackpy
from lackpy.infer.retrieve import Retriever
from lackpy.infer.sources import REFRESH_S, live_templates, past_successes
from lackpy.templates.loader import TemplateLibrary
from lackpy.traces.drain import drain

TEMPLATE = """---
name: todo-count
pattern: 'how many todos (are|sit) in {dir}'
slots: {dir: dir}
kit: debug
state: active
---
len(grep("TODO", "{dir}/**/*"))
"""


@pytest.fixture
def library(workspace):
    folder = workspace / ".lackpy" / "templates"
    folder.mkdir(parents=True)
    (folder / "todo-count.tmpl").write_text(TEMPLATE, encoding="utf-8")
    made = TemplateLibrary(folder, starter=False)
    yield made
    made.close()


def test_a_live_template_is_an_example(library):
    (example,) = live_templates(library)()
    assert example.id == "template:todo-count"
    assert example.phrasings == ("how many todos are in lib",)
    assert example.program == 'len(grep("TODO", "lib/**/*"))'


def test_the_callers_own_program_is_an_example_until_marked_bad(workspace):
    now = [0.0]
    source = past_successes(workspace, clock=lambda: now[0])
    assert source() == []
    with Lackpy(workspace) as runtime:
        kept = runtime.run_program('glob("*.md")', intent="zebra crossing pages")
        runtime.run_program("1 + 1")
    drain(workspace / ".lackpy")
    assert source() == []
    now[0] = REFRESH_S
    (example,) = source()
    assert (example.id, example.program) == (f"trace:{kept.trace_id}", "glob('*.md')")
    with Lackpy(workspace) as runtime:
        picked = Retriever(sources=[source]).pick("zebra crossings", runtime.load_kit().signatures, 1)
        assert picked[0].example == example
        runtime.feedback(kept.trace_id, "bad")
    drain(workspace / ".lackpy")
    now[0] = 2 * REFRESH_S
    assert source() == []
