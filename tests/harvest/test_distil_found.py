"""What an agent found out is its own although what it found it in names the same things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.harvest.distil.claims import names_in
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
        "Equal corners differ because of floating-point precision in `reefpool`.",
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


def test_what_a_command_printed_may_be_told_in_a_sentence_of_the_models(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    error = "reefd: no room for the index of the lagoon: operation not permitted"
    path = ClaudeSession().user("start it").run("mkreef up", error, exit_code=1).user("ok").write(tmp_path)
    claim = f"Inside the sandbox here `mkreef up` ends with {error}."
    quotes = [{"at": "S1:1", "text": "$ mkreef up"}, {"at": "S1:1", "text": error}]
    serve(answering({**GOOD, "claim": claim, "quotes": quotes}))
    with Hardwon(home) as memory:
        memory.harvest([path])
        memory.sessions.distil(pause=lambda _: None)
        assert claim in memory.bootstrap("reef", budget=4000).text


def test_that_a_command_is_not_there_is_told_with_what_works_instead(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    session = ClaudeSession().user("run it").run("python app.py", "Command 'python' not found", exit_code=127)
    path = session.run(". env/bin/activate && python app.py", "ready").user("ok").write(tmp_path)
    claim = "`python app.py` alone ends with Command 'python' not found; `. env/bin/activate && python app.py` works."
    quotes = [
        {"at": "S1:1", "text": "$ python app.py"},
        {"at": "S1:1", "text": "Command 'python' not found"},
        {"at": "S1:3", "text": "$ . env/bin/activate && python app.py"},
    ]
    serve(answering({**GOOD, "claim": claim, "quotes": quotes}))
    with Hardwon(home) as memory:
        memory.harvest([path])
        memory.sessions.distil(pause=lambda _: None)
        assert claim in memory.bootstrap("reef", budget=4000).text


def test_lines_from_one_number_to_another_are_one_name() -> None:
    assert names_in("Only the models of README (22-43) count") == ["22-43", "README"]


def test_what_two_sessions_have_alike_is_shown_once_but_for_what_a_person_said(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    error = "reefd: no room for the index of the lagoon"
    paths = [
        ClaudeSession(f"s-{day}", day=day)
        .user("keep the lagoon small, please")
        .run("mkreef up", error, exit_code=1)
        .user(f"ok, {day}")
        .write(tmp_path)
        for day in (1, 2)
    ]
    server = serve(answering())
    with Hardwon(home) as memory:
        memory.harvest(paths)
        memory.sessions.distil(pause=lambda _: None)
    asked = server.asked[0]["messages"][1]["content"]
    assert (asked.count(f"failed: {error}"), asked.count("user: keep the lagoon small, please")) == (1, 2)


def test_what_went_wrong_is_shown_also_where_the_call_counts_as_a_success_and_with_how_often(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    one = ClaudeSession().user("tidy the lagoon")
    one.run("mkreef check | tail -20", "reading\nlagoon.toml: unknown key depth\n" + "ok\n" * 5)
    one.call("mcp__notes__save", {"title": "tides"}, "permission denied: the notes are read-only")
    for line in range(3):
        one.edit(f"/repo/pool{line}.py", "new", output="String to replace not found in file.", error=True)
    server = serve(answering())
    with Hardwon(home) as memory:
        memory.harvest([one.says("Done.").user("ok").write(tmp_path)])
        memory.sessions.distil(pause=lambda _: None)
    shown = server.asked[0]["messages"][1]["content"]
    assert "printed: lagoon.toml: unknown key depth" in shown
    assert "permission denied: the notes are read-only" in shown
    assert "failed 3 times: " in shown
