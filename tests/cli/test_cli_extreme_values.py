"""Option values beyond what any part below can take: one sentence and exit code 2."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--timeout", "1e308"], "at most 86,400"),
        (["--timeout", "nan"], "must be seconds > 0"),
        (["--param", "class=1"], "'class' is not a plain identifier"),
        (["--param", "x=" + "[" * 100_000], "nests too deeply"),
    ],
    ids=["endless_timeout", "no_number", "keyword", "bottomless_json"],
)
def test_an_extreme_value_is_refused_with_a_sentence(cli, options, said):
    """Nothing reaches an executor, and no traceback reaches the user."""
    done = cli("lackpy", "run", "1", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_in_the_place_of_the_state_folder(cli, workspace):
    """The sentence says what is in the way."""
    (workspace / ".lackpy").touch()
    done = cli("lackpy", "run", "1")
    assert done.returncode == 2
    assert "is a file" in done.stderr
    assert "Traceback" not in done.stderr
