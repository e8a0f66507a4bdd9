"""A model is paid once for each question: whatever ended a run, the next one goes on where it was."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from tests.conftest import ClaudeSession
from tests.harvest.chat import Server, said

MANY = 4
"""Questions that the long sessions make."""


def words(number: int) -> str:
    return f"the dashboard of team{number} lives below apps/team{number} and nowhere else"


def long_session(number: int, parts: int = 1) -> ClaudeSession:
    """Each part has a thing of its own to tell, and fills most of a question: a model has little room here."""
    session = ClaudeSession(f"s-{number}", day=1 + number).user(f"go on with {number}")
    for part in range(parts):
        session = session.says(f"The parser {number} reads words. " * 4_000)
        session = session.user("look at this: " + f"so many words of part {number}.{part} " * 60)
        session = session.says("Done.").user(words(10 * number + part))
    return session


def answers(body: dict[str, Any]) -> tuple[int, Any]:
    """One claim for each thing in the question."""
    text = body["messages"][1]["content"]
    items = [
        {
            "claim": f"The dashboard of team{number} lives below apps/team{number}",
            "kind": "fact",
            "quotes": [{"at": "", "text": words(int(number))}],
            "relation": "new",
            "known": "",
            "confidence": 0.9,
        }
        for number in re.findall(r"user: the dashboard of team(\d+)", text)
    ]
    return said({"items": items}, tokens=1_000)


def readings(server: Server) -> list[str]:
    """What was asked about, as often as it was, without what was known."""
    texts = [body["messages"][1]["content"] for body in server.asked]
    return [text.partition("\n## ")[2] for text in texts]


@pytest.fixture(autouse=True)
def small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardwon.harvest.distil.model.OpenAI.__init__.__defaults__", (2_600,))


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return [long_session(number).write(tmp_path) for number in range(MANY)]


def distilled(home: Path, paths: list[Path]) -> Any:
    with Hardwon(home) as memory:
        memory.harvest(paths)
        return memory.sessions.distil(pause=lambda _: None)


def claims(home: Path) -> set[str]:
    with Hardwon(home) as memory:
        return {lesson.text for lesson in memory.lessons.list() if "The dashboard of" in lesson.text}


SCRIPT = """
import sys
from hardwon import Hardwon
from hardwon.harvest.distil.model import OpenAI
OpenAI.__init__.__defaults__ = (2_600,)
with Hardwon() as memory:
    memory.sessions.distil()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_where_it_was(
    how: signal.Signals, home: Path, paths: list[Path], serve: Callable[..., Server]
) -> None:
    reached, released = threading.Event(), threading.Event()

    def stuck(body: dict[str, Any]) -> tuple[int, Any]:
        reached.set()
        released.wait(60)
        return answers(body)

    server = serve(answers, answers, stuck, answers)
    with Hardwon(home) as memory:
        memory.harvest(paths)
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=subprocess.DEVNULL)
    try:
        assert reached.wait(60)
    finally:
        process.send_signal(how)
        process.wait()
        released.set()
    assert len(claims(home)) == 2  # what was read before is kept
    read = readings(server)[:2]
    server.asked.clear()
    report = distilled(home, paths)
    assert set(read) & set(readings(server)) == set()
    assert len(claims(home)) == MANY
    assert (report.sessions, report.left) == (2, 0)


def test_a_run_that_reached_the_cap_goes_on_the_next_day(
    home: Path, paths: list[Path], serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answers)
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "6500")
    report = distilled(home, paths)
    first = report.sessions
    assert "the daily limit is reached" in report.trouble
    assert 0 < first < MANY == first + report.left
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "1000000")
    report = distilled(home, paths)
    assert (report.left, report.sessions) == (0, MANY - first)
    asked = readings(server)
    assert len(asked) == len(set(asked)) == MANY
    assert len(claims(home)) == MANY


def test_what_is_known_is_carried_on(home: Path, paths: list[Path], serve: Callable[..., Server]) -> None:
    server = serve(answers)
    distilled(home, paths)
    texts = [body["messages"][1]["content"] for body in server.asked]
    assert "Known: nothing" in texts[0]
    assert all("The dashboard of team0 lives" in text.partition("## ")[0] for text in texts[1:])


def test_of_a_session_that_grew_only_what_is_new_is_asked(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    server = serve(answers)
    distilled(home, [long_session(1).write(tmp_path)])
    server.asked.clear()
    report = distilled(home, [long_session(1, 2).write(tmp_path)])
    (asked,) = readings(server)
    assert (words(10) in asked, words(11) in asked, report.sessions) == (False, True, 1)
    assert len(claims(home)) == 2  # those of before are still there


def test_a_session_too_long_for_a_question_is_read_in_parts(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    server = serve(answers, said("You have reached your usage limit."))
    path = long_session(1, 3).write(tmp_path)
    report = distilled(home, [path])
    assert (report.sessions, report.left) == (0, 1)
    assert len(claims(home)) == 1
    read = readings(server)[:1]
    server.asked.clear()
    server.replies = [answers]
    report = distilled(home, [path])
    assert (report.sessions, report.left) == (1, 0)
    assert set(read) & set(readings(server)) == set()
    assert len(claims(home)) == 3
    with Hardwon(home) as memory:
        assert memory.reading().query("SELECT session FROM distilled_window") == []


def test_the_estimate_counts_what_is_left(home: Path, paths: list[Path], serve: Callable[..., Server]) -> None:
    serve(answers, answers, said("You have reached your usage limit."))
    with Hardwon(home) as memory:
        memory.harvest(paths)
        before = memory.sessions.distil_cost(room=2_600)
        memory.sessions.distil(pause=lambda _: None)
        after = memory.sessions.distil_cost(room=2_600)
    assert (before.questions, after.questions) == (MANY, MANY - 2)
    assert 0 < after.tokens < before.tokens


def test_lessons_outlive_a_harvest_of_the_same_session(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    serve(answers)
    path = long_session(1).write(tmp_path)
    distilled(home, [path])
    with Hardwon(home) as memory:
        memory.harvest([long_session(1).says("One word more.").write(tmp_path)])
    assert len(claims(home)) == 1


@pytest.mark.parametrize("what", ["session", "lesson", "text"])
def test_what_is_forgotten_is_forgotten_here_too(
    what: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """Also while the session is read in parts."""
    path = long_session(1, 3).write(tmp_path)
    serve(answers, answers, said("You have reached your usage limit."))
    distilled(home, [path])
    with Hardwon(home) as memory:
        assert "team11" in repr(memory.reading().query("SELECT claims FROM distilled_window"))
        lesson = next(one for one in memory.lessons.list() if "team10" in one.text)
        if what == "session":
            gone = memory.store.forget(session=str(path))
        elif what == "lesson":
            gone = memory.store.forget(lesson.id)
        else:
            gone = memory.store.forget(text="team1")
        assert gone.left == []
        left = memory.reading().query("SELECT claims FROM distilled_window")
        assert "team10" not in repr(left)
        if what == "session":
            assert (left, memory.reading().query("SELECT session FROM distilled")) == ([], [])


def test_what_was_read_is_read_again_only_deeper_and_then_shows_more(home: Path, tmp_path: Path, serve: Any) -> None:
    session = ClaudeSession().user("why is the seeder slow?")
    for number in range(400):
        session = session.says(f"Cause {number}: `index{number}` is not used by the seeder, because it is partial.")
    path = session.user("thanks").write(tmp_path)
    server = serve(answers)
    with Hardwon(home) as memory:
        memory.harvest([path])
        seen = []
        for depth in (1, 1, 3, 3, 1):
            before = len(server.asked)
            memory.sessions.distil(depth=depth, pause=lambda _: None)
            seen.append(sum(text.count("not used by the seeder") for text in readings(server)[before:]))
    assert 0 < seen[0] < seen[2]
    assert seen[1] == seen[3] == seen[4] == 0
