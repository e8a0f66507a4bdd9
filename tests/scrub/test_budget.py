"""Scrubbing fails closed: what takes too long is not stored, is told, and is tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon import Hardwon, ScrubTimeout
from hardwon.harvest.walk import harvest
from hardwon.scrub.scrubber import Scrubber, Scrubbing
from hardwon.store import sessions
from tests.conftest import ClaudeSession


def test_a_scrubber_stops_when_its_time_is_up() -> None:
    scrubber = Scrubber(seconds=0.0)
    with pytest.raises(ScrubTimeout, match="nothing of this text was stored"):
        scrubber.scrub("password=hunter2x")


def test_the_time_of_all_texts_together_counts() -> None:
    scrubber = Scrubber(seconds=0.5)
    texts = ["token=abc " * 100_000] * 1_000
    with pytest.raises(ScrubTimeout):
        list(map(scrubber.scrub, texts))


def test_a_session_that_takes_too_long_waits_and_the_next_harvest_takes_it(home: Path, tmp_path: Path) -> None:
    path = ClaudeSession().user("always run make lint").run("make test", "E: no", exit_code=2).write(tmp_path)
    with Hardwon() as memory:
        db = memory.writing()
        report = harvest(db, [path], scrubbing=Scrubbing(seconds=0.0))
        assert (report.waiting, report.sessions) == (1, 0)
        assert sessions.totals(db)["sessions"] == 0
        report = memory.harvest([path])
        assert (report.waiting, report.sessions) == (0, 1)
