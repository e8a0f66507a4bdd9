"""Wherever the API takes a path it takes a string as well, and a folder for all that is in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hardwon import Hardwon, NotFound
from tests.conftest import ClaudeSession


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sessions, one of them in a folder below."""
    ClaudeSession("one").user("Always use uv.").says("ok").write(tmp_path / "logs")
    ClaudeSession("two").user("Never push to main.").says("ok").write(tmp_path / "logs" / "deep")
    return tmp_path / "logs"


def test_a_string_is_a_path(folder: Path) -> None:
    with Hardwon() as memory:
        assert memory.harvest(str(folder / "one.jsonl")).sessions == 1
        assert memory.harvest([str(folder / "deep" / "two.jsonl")]).sessions == 1
        assert [one.external_id for one in memory.inspect(str(folder / "one.jsonl")).sessions] == ["one"]


def test_a_session_tells_its_times(folder: Path) -> None:
    with Hardwon() as memory:
        (session,) = memory.inspect(folder / "one.jsonl").sessions
    assert session.start_time == session.messages[0].time == datetime(2026, 10, 1, 10, tzinfo=UTC)
    assert session.end_time == datetime(2026, 10, 1, 10, 0, 1, tzinfo=UTC)


def test_a_folder_means_all_sessions_in_it(folder: Path) -> None:
    with Hardwon() as memory:
        assert len(memory.sample(str(folder))) == 2
        assert memory.harvest(folder).sessions == 2
        assert memory.harvest(str(folder)).skipped == 2


def test_what_is_named_twice_is_read_once(folder: Path) -> None:
    with Hardwon() as memory:
        assert memory.harvest([folder, folder / "one.jsonl"]).sessions == 2


def test_a_path_that_does_not_exist_is_said(tmp_path: Path) -> None:
    with Hardwon() as memory:
        for missing in ("nowhere.jsonl", tmp_path / "nowhere"):
            for verb in (memory.harvest, memory.sample, memory.inspect):
                with pytest.raises(NotFound, match=r"no such file or folder: .*nowhere"):
                    verb(missing)


def test_a_folder_without_sessions_teaches_nothing(tmp_path: Path) -> None:
    with Hardwon() as memory:
        assert memory.harvest(tmp_path).sessions == 0
