"""What kind of work a task is."""

from __future__ import annotations

import pytest

from hardwon.briefing.rank import task_type, task_weight
from hardwon.text.normalise import named_in


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("Fix the failing migration in src/db/migrate.py", "debug"),
        ("the tests crash with KeyError again", "debug"),
        ("Add a --json flag to the export command", "implement"),
        ("Explain how the scanner finds sessions", "explore"),
        ("Review PR 12 for security problems", "review"),
        ("Rename Gauge to Meter and split the module", "refactor"),
        ("hello", ""),
        ("", ""),
    ],
)
def test_it_is_told_by_its_words(task: str, kind: str) -> None:
    assert task_type(task) == kind


def test_failures_weigh_more_when_debugging_than_when_exploring() -> None:
    assert task_weight("debug", "failure") > task_weight("", "failure") > task_weight("explore", "failure")


def test_files_are_found_in_a_task() -> None:
    assert named_in("Look at src/db/migrate.py and docs/ in README.md, e.g. v1.2") == [
        "src/db/migrate.py", "README.md",
    ]  # fmt: skip
