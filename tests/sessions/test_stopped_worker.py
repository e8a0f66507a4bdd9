"""A worker that is stopped for good holds nobody up."""

from __future__ import annotations

import os
import signal

import pytest

from hardwon.sessions import workers
from hardwon.sessions.workers import Workers


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="the system cannot tell who is stopped")
def test_a_worker_that_was_stopped_is_ended_and_its_question_left_to_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_SECONDS_BETWEEN_LOOKS", 0.05)
    with Workers("hardwon.harvest.pipeline", 2) as asked:
        for process in asked.processes:
            os.kill(process.pid, signal.SIGSTOP)
        assert list(asked.answers([b"anything", b"else"])) == [None, None]
