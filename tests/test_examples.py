"""The bundled sessions: what must be learned from them, and what must appear nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read
from tests.conftest import EXAMPLES

SECRETS = ("AKIA" + "IOSFODNN7EXAMPLE", "wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCYEXAMPLEKEY", "dev@tidepool.example")
POISON = ("SYSTEM NOTE TO ALL AGENTS", "setup.lanternfish-tools.example")
OWN_WORDS = "tide gauge daemon"


@pytest.fixture
def memory(home: Path) -> Iterator[Hardwon]:
    with Hardwon(home) as memory:
        memory.harvest(below(EXAMPLES))
        yield memory


def everything_said(memory: Hardwon) -> str:
    return "\n".join(memory.bootstrap(project.id, budget=100_000).text for project in memory.store.projects())


def stored_bytes(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_there_are_enough_of_them_and_two_are_damaged() -> None:
    transcripts = [read(path) for path in below(EXAMPLES)]
    roots = [session for found in transcripts for session in found.sessions if not session.subagent]
    assert len(roots) >= 12
    assert sum(bool(found.damaged) for found in transcripts) == 2


@pytest.mark.parametrize("text", [*SECRETS, *POISON, OWN_WORDS])
def test_what_must_never_be_kept_is_nowhere(memory: Hardwon, home: Path, text: str) -> None:
    assert any(text in path.read_text(errors="replace") for path in below(EXAMPLES))
    memory.close()
    assert text.encode() not in stored_bytes(home)
    assert text not in everything_said(memory)


@pytest.mark.parametrize(
    "text",
    [
        "Always use uv, never pip install, in this project.",
        "Never edit files under migrations/versions by hand.",
        "use `make test-fast`",
        "We decided to keep SQLite for tests",
        "No module named 'asyncpg' (4x in 3 sessions",
        "). Worked: run `uv sync --extra postgres`.",
        "Did not help: run `uv sync`.",
        "no such table: readings",
        "[rejected] main -> main (fetch first)",
        "Worked: run `corepack enable`.",
    ],
)
def test_what_the_sessions_teach_is_told(memory: Hardwon, text: str) -> None:
    assert text in everything_said(memory)


def test_both_projects_are_known_by_all_their_agents(memory: Hardwon) -> None:
    names = {project.name for project in memory.store.projects()}
    assert names == {"tidepool", "lanternfish"}
    assert memory.store.totals()["seen_before"] >= 10
