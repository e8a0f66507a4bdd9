"""A model is paid once for each window: whatever ended a run, the next one goes on where it was."""

from __future__ import annotations

import json
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

MANY = 8


def quote(number: int) -> str:
    return f"`make part{number}` needs the database; after `make up{number}` it passes."


def long_session(parts: int = MANY) -> ClaudeSession:
    """Every part fills most of a window."""
    session = ClaudeSession().user("go")
    for number in range(parts):
        for _ in range(11):
            session = session.says("The parser reads words and more words of it. " * 60)
        session = session.says(quote(number))
    return session


def answers(body: dict[str, Any]) -> tuple[int, Any]:
    """One claim for each part in the window, at the message that says it."""
    if body["response_format"]["json_schema"]["schema"]["required"] == ["supported"]:
        pairs = json.loads(body["messages"][1]["content"].partition("---\n")[2])
        return said({"supported": [pair["number"] for pair in pairs]}, tokens=2_000)
    text = body["messages"][1]["content"]
    items = [
        {
            "message": 12 * (number + 1),
            "quote": quote(number),
            "claim": f"Run `make up{number}` before `make part{number}`: it needs the database.",
            "category": "pitfall",
            "confidence": 0.9,
        }
        for number in range(MANY + 4)
        if quote(number) in text
    ]
    return said({"items": items}, tokens=2_000)


def windows(server: Server) -> list[str]:
    """What the first question was asked about, as often as it was."""
    texts = [body["messages"][1]["content"] for body in server.asked]
    return [text for text in texts if not text.partition("---\n")[2].startswith("[{")]


def distilled(home: Path, path: Path) -> Any:
    with Hardwon(home) as memory:
        memory.harvest([path])
        return memory.sessions.distil([path], pause=lambda _: None)


def claims(home: Path) -> set[str]:
    with Hardwon(home) as memory:
        return {lesson.text for lesson in memory.lessons.list() if lesson.rule == "model"}


@pytest.mark.parametrize("when", ["a window is read", "its claims are checked"])
def test_a_killed_run_goes_on_where_it_was(when: str, home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    path = long_session().write(tmp_path)
    reached, released = threading.Event(), threading.Event()
    third = 4 if when == "a window is read" else 5

    def stuck(body: dict[str, Any]) -> tuple[int, Any]:
        reached.set()
        released.wait(60)
        return answers(body)

    server = serve(*[answers] * third, stuck, answers)
    with Hardwon(home) as memory:
        memory.harvest([path])
    command = [sys.executable, "-m", "hardwon", "harvest", str(path), "--llm"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert reached.wait(60)
    finally:
        process.kill()
        process.wait()
        released.set()
    assert 0 < len(claims(home)) < MANY  # what was read before is kept
    answered = server.asked[:third]
    server.asked.clear()
    report = distilled(home, path)
    paid_twice = {body["messages"][1]["content"] for body in answered} & set(windows(server))
    assert paid_twice == set()
    assert len(claims(home)) == MANY
    assert (report.sessions, report.left) == (1, 0)


def test_a_run_that_reached_the_cap_goes_on_the_next_day(
    home: Path, tmp_path: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = long_session().write(tmp_path)
    server = serve(answers)
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "30000")
    report = distilled(home, path)
    first = report.windows
    assert report.left == 1
    assert "the daily limit is reached" in report.trouble
    assert 0 < report.windows < MANY
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "1000000")
    report = distilled(home, path)
    assert report.left == 0
    asked = windows(server)
    assert len(asked) == len(set(asked)) == first + report.windows
    assert len(claims(home)) == MANY


def test_a_run_that_met_a_quota_goes_on(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    path = long_session().write(tmp_path)
    server = serve(*[answers] * 6, said("You have reached your usage limit."))
    report = distilled(home, path)
    assert (report.windows, report.left) == (3, 1)
    read = windows(server)[:3]
    server.asked.clear()
    server.replies = [answers]
    distilled(home, path)
    assert set(read) & set(windows(server)) == set()
    assert len(claims(home)) == MANY


def test_of_a_session_that_grew_only_what_is_new_is_asked(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    server = serve(answers)
    distilled(home, long_session().write(tmp_path))
    first = windows(server)
    server.asked.clear()
    report = distilled(home, long_session(MANY + 2).write(tmp_path))
    asked = windows(server)
    assert set(asked) & set(first) == set()
    assert len(asked) == report.windows <= 3
    assert len(claims(home)) == MANY + 2  # those of the old windows are still there


def test_the_estimate_counts_what_is_left(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    path = long_session().write(tmp_path)
    server = serve(*[answers] * 6, said("You have reached your usage limit."))
    with Hardwon(home) as memory:
        memory.harvest([path])
        before = memory.sessions.distil_cost([path])
        memory.sessions.distil([path], pause=lambda _: None)
        after = memory.sessions.distil_cost([path])
    assert after.windows == before.windows - 3
    assert 0 < after.tokens < before.tokens
    assert server.asked


@pytest.mark.parametrize("what", ["session", "lesson", "text"])
def test_what_is_forgotten_is_forgotten_here_too(
    what: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = long_session(2).write(tmp_path)
    serve(answers)
    distilled(home, path)
    with Hardwon(home) as memory:
        lesson = next(one for one in memory.lessons.list() if "part1" in one.text)
        if what == "session":
            gone = memory.store.forget(session=str(path))
        elif what == "lesson":
            gone = memory.store.forget(lesson.id)
        else:
            gone = memory.store.forget(text="make part1")
        assert gone.left == []
        left = memory.reading().query("SELECT claims FROM distilled_window")
        assert "part1" not in repr(left)
        if what == "session":
            assert (left, memory.reading().query("SELECT session FROM distilled")) == ([], [])
