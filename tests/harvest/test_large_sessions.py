"""A session of hundreds of megabytes: time in proportion to its length, and no more memory than it needs."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from benchmarks.large_session import FORMATS, generate

from hardwon.failures.ledger import examine, read
from hardwon.harvest.learn import content_hash, learn
from hardwon.model.session import Message, Session
from hardwon.scrub.scrubber import Scrubbing
from tests.timing import assert_growth, spent

MEGABYTES = 2
NOISE = 0.15
"""Below this a measurement says more about the machine than about the session."""


def session_of(folder: Path, format: str, megabytes: float) -> Session:
    generate(folder / "large.jsonl", format, megabytes)
    (session,) = read(folder / "large.jsonl").sessions
    return session


@pytest.mark.parametrize("format", FORMATS)
def test_eight_times_the_session_takes_about_eight_times_the_time(tmp_path: Path, format: str) -> None:
    short, long = (session_of(tmp_path, format, size) for size in (MEGABYTES, 8 * MEGABYTES))
    assert_growth(
        lambda: spent(lambda: examine(short)), lambda: spent(lambda: examine(long)), most=12, noise=12 * NOISE
    )


def test_a_long_session_has_time_to_be_scrubbed_in_proportion(tmp_path: Path) -> None:
    budget = Scrubbing(seconds=1.0)
    assert budget.scrubber(100)._seconds == 1.0
    assert budget.scrubber(150_000_000)._seconds == 15.0
    generate(tmp_path / "large.jsonl", "codex", MEGABYTES)
    transcript = read(tmp_path / "large.jsonl")
    assert learn(transcript.sessions[0], None, transcript, 0, Scrubbing()).row.tool_calls > 50


@pytest.mark.parametrize("messages", [0, 1, 15, 16, 70_000])
def test_the_hash_of_a_session_is_that_of_all_of_it_packed(messages: int) -> None:
    said = tuple(Message(role="user", origin="user", text=f"messages {number}") for number in range(messages))
    session = Session(external_id="messages\x90", agent="a", format="f", messages=said, unknown_records=messages)
    whole = hashlib.blake2b(msgspec.msgpack.encode(session), digest_size=16)
    assert content_hash(session) == whole.hexdigest()


def test_hashing_a_session_does_not_hold_it_twice() -> None:
    said = tuple(Message(role="user", origin="user", text=str(number) * 100_000) for number in range(100))
    session = Session(external_id="s", agent="a", format="f", messages=said)
    tracemalloc.start()
    try:
        content_hash(session)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
