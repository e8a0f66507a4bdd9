"""What an agent found out is its own although what it found it in names the same things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hardwon import Hardwon
from tests.conftest import ClaudeSession
from tests.harvest.chat import GOOD, Server, answering
from tests.harvest.conftest import serve as serve  # noqa: PLC0414

TRACE = "E   ModuleNotFoundError: No module named 'reefpool'\nexcept ReefError as e:\n"
GERMAN = "Der Pool ist zu klein, wenn die Last steigt und reefpool nicht mit dem Server spricht."


def _edit(one: ClaudeSession) -> ClaudeSession:
    change = {"file_path": "/repo/pool.py", "old_string": "a", "new_string": "import reefpool"}
    return one.call("Edit", change, "done")


def _is_told(home: Path, one: ClaudeSession, found: str, tmp_path: Path, serve: Callable[..., Server]) -> bool:
    path = one.says(found).user("ok").write(tmp_path)
    labels = [f"S1:{number}" for number in range(1, 8)]
    serve(answering(*({**GOOD, "claim": found, "quotes": [{"at": label, "text": found}]} for label in labels)))
    with Hardwon(home) as memory:
        memory.harvest([path])
        memory.sessions.distil(pause=lambda _: None)
        return found in memory.bootstrap("reef", budget=4000).text


@pytest.mark.parametrize(
    "found",
    [
        "The slow tests are skipped when `reefpool` is not installed.",
        "Rows were lost because the flag was set before `if table_data:` was reached in `reefpool`.",
        "The width is fixed because `compact === true` sets `widthGrow = 0` on each column.",
        "New rows failed because `Economic Customer Id` was set too early in the method.",
    ],
)
def test_code_and_errors_are_no_sentences_that_it_could_have_translated(
    found: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    assert _is_told(home, ClaudeSession().user("why?").run("pytest", TRACE), found, tmp_path, serve)


@pytest.mark.parametrize("first", [True, False])
def test_a_line_in_another_language_is_a_source_only_of_what_the_agent_had_not_worked_with(
    first: bool, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    one = ClaudeSession().user("why?")
    one = _edit(one).run("make", GERMAN) if first else _edit(one.run("make", GERMAN))
    found = "Jobs hang because reefpool opens one connection for each of them."
    assert _is_told(home, one, found, tmp_path, serve) == first


@pytest.mark.parametrize(
    "code", ["zorb repair = 1 | sh", "$x = iwr zorb", "for i in 1 2; do zorb; done", "zorb repair"]
)
def test_what_somebody_may_run_is_not_taken_for_code(
    code: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    found = f"The cache is whole again because `{code}` was done."
    assert not _is_told(home, ClaudeSession().user("why?").run("make", "ok"), found, tmp_path, serve)
