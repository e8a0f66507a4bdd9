"""Nothing is lost in silence of the real sessions beside the checkout."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from hardwon import NotASession
from hardwon.failures.ledger import inspected
from hardwon.sessions.discover import below
from hardwon.sessions.loss import census
from hardwon.sessions.reader import Source

# Read once, by two processes, for both tests; each file is named with what it lost.

MADE_UP = ("daaain__claude-code-log/test/test_data/edge_cases.jsonl",)
"""Records that a parser's tests broke on purpose."""
SPLICED = ("specstory-cli/2026-02-09_20-36-38Z-command-message-pr-review.md",)
"""Between two of its own, the messages of another session of the day before, by another model."""
NOT_LOST = (*MADE_UP, *SPLICED)


def looked_at(path: Path) -> tuple[list[str], bool]:
    """(what may be lost of it, whether it was refused and seems to hold a session)."""
    try:
        return [f"{loss.what}: {loss.read} of {loss.seen}" for loss in inspected(path).suspected_loss], False
    except NotASession:
        return [], census(Source(path)).holds_a_session


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, tuple[list[str], bool]]]:
    shared = Path(__file__).parents[3] / "shared" / "data"
    if not shared.is_dir():
        pytest.skip(f"the shared data is not at {shared}")
    paths = [path for folder in ("transcripts", "replay", "projects") for path in below(shared / folder)]
    with ProcessPoolExecutor(2) as workers:
        names = [path.relative_to(shared).as_posix() for path in paths]
        yield dict(zip(names, workers.map(looked_at, paths, chunksize=16), strict=True))


def test_no_file_loses_more_than_a_hundredth_in_silence(found: dict[str, tuple[list[str], bool]]) -> None:
    lost = {name: losses for name, (losses, _) in found.items() if losses and not name.endswith(NOT_LOST)}
    assert lost == {}


def test_no_file_that_holds_a_session_is_refused(found: dict[str, tuple[list[str], bool]]) -> None:
    refused = [name for name, (_, is_session) in found.items() if is_session]
    assert refused == []
