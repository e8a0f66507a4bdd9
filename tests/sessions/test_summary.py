"""Counting without building gives exactly what building and counting gives."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hardwon import NotASession
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read
from hardwon.sessions.scan import summaries, summary
from tests.conftest import EXAMPLES, ClaudeSession


def test_the_examples_are_counted_exactly() -> None:
    for path in below(EXAMPLES):
        assert summaries(path) == [summary(session) for session in read(path).sessions], path


def test_real_sessions_are_counted_exactly(shared: Path) -> None:
    compared = 0
    for path in below(shared / "transcripts"):
        with suppress(NotASession):
            assert summaries(path) == [summary(session) for session in read(path).sessions], path
            compared += 1
    assert compared > 60


def test_a_session_that_the_user_stopped_failed(tmp_path: Path) -> None:
    path = ClaudeSession().run("make", "ok").user("[Request interrupted by user]").write(tmp_path)
    assert [found.outcome for found in summaries(path)] == ["failure"]
