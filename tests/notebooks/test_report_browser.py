"""The report page in a real Chromium, on a phone's and a desktop's width. Run by `make browser`."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from riggs.report import html
from riggs.store import Store

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
# Runs in the page: tells whether anything is wider than the window.
PROBE = (
    "<script>document.title = 'width ' + document.documentElement.scrollWidth + ' of ' + innerWidth</script>"
)


@pytest.fixture
def page(tmp_path):
    journal = Journal(tmp_path / ".lackpy" / "journal")
    for n in range(40):
        journal.append(
            Trace(
                trace_id=new_id(),
                ts=f"2026-01-{n // 8 + 1:02d}T10:00:00.000000Z",
                project="p",
                session_id=f"s{n % 4}",
                intent=f"find callers of name_{n}",
                kit="debug",
                tier="0" if n > 12 else "2",
                template="callers" if n > 12 else None,
                program=f'find_callers("name_{n}")',
                valid=True,
                success=True,
                gen_ms=1.0 if n > 12 else 900.0,
                total_ms=3.0 if n > 12 else 905.0,
            )
        )
    journal.close()
    store = Store(tmp_path)
    store.sync()
    target = tmp_path / "report.html"
    target.write_text(html(store).replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    return target


@pytest.mark.parametrize("width", [390, 1100])
def test_page_renders_and_fits_its_window(page, tmp_path, width):
    command = [CHROMIUM, *QUIET, f"--user-data-dir={tmp_path}/profile{width}", f"--window-size={width},900"]
    dom = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=90, check=True
    ).stdout
    assert dom.count("<svg") == 5
    title = dom.split("<title>")[1].split("</title>")[0]
    scroll, inner = (int(part) for part in title.removeprefix("width ").split(" of "))
    assert scroll <= inner
    shot = tmp_path / "shot.png"
    subprocess.run(
        [*command, f"--screenshot={shot}", page.as_uri()], capture_output=True, timeout=90, check=True
    )
    assert shot.stat().st_size > 15_000
