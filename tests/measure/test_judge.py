"""The judge of sameness is frozen: these answers may never change under the same version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.measure.judge import VERSION, key

TRACEBACK = """Exit code 1
Traceback (most recent call last):
  File "{path}", line {line}, in <module>
    import asyncpg
ModuleNotFoundError: No module named 'asyncpg'
"""


def test_the_version_these_answers_belong_to() -> None:
    assert VERSION == 1


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (TRACEBACK.format(path="/home/a/x.py", line=3), "modulenotfounderror: no module named 'asyncpg'"),
        ("cat: /home/u/x/notes.txt: No such file or directory", "cat: notes.txt: no such file or directory"),
        ("src/bar.ts(12,5): error TS2304: Cannot find name 'x'.", "bar.ts(#,#): error ts#: cannot find name 'x'."),
        ("\x1b[31merror\x1b[0m: exit status 2 in deadbeef01", "error: exit status # in #"),
        ("building…\nstep 3 failed: disk full", "step # failed: disk full"),
        ("nothing to see", "nothing to see"),
        ("", ""),
    ],
)
def test_what_varies_is_masked_and_names_are_kept(output: str, answer: str) -> None:
    assert key(output) == answer


def test_the_same_error_elsewhere_is_the_same_and_another_is_not() -> None:
    here, there = (TRACEBACK.format(path=path, line=line) for path, line in (("/a/b.py", 3), ("C:/x/y.py", 90)))
    assert key(here) == key(there)
    assert key(here) != key(here.replace("asyncpg", "redis"))


@given(st.text())
def test_any_output_has_an_answer_of_bounded_length(output: str) -> None:
    assert len(key(output)) <= 160
