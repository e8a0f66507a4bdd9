"""Harvesting is idempotent, follows growing files, and gives the same store from the same files."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import apsw
import pytest

from oldhand import Oldhand
from oldhand.errors import OldhandError
from oldhand.harvest.run import Report
from tests.conftest import EXAMPLES, ClaudeSession

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"


def fixed_session(name: str, day: int) -> ClaudeSession:
    return (
        ClaudeSession(name, day=day)
        .user("Always use uv, never pip install, in this project.")
        .run("pytest -q", MISSING, exit_code=1)
        .run("uv sync --extra postgres", "ok")
        .run("pytest -q", "3 passed")
    )


def harvest(home: Path, *paths: Path) -> Report:
    with Oldhand(home) as memory:
        return memory.harvest(paths)


def dump(home: Path) -> str:
    """Everything the store says, but for the random key that fences are made with."""
    content: list[str] = []
    connection = apsw.Connection(str(home / "oldhand.db"))
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_index%' ORDER BY name"
    ).fetchall():
        where = " WHERE key <> 'fence_key'" if table == "meta" else ""
        rows = connection.execute(f"SELECT * FROM {table}{where}").fetchall()
        content += [table, *sorted(map(repr, rows))]
    terms = connection.execute("SELECT s.item, i.terms FROM search_item s JOIN search_index i ON i.rowid = s.id")
    return "\n".join(content + sorted(map(repr, terms)))


def test_a_second_harvest_skips_everything_and_changes_nothing(home: Path) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    first = harvest(home, *files)
    before = dump(home)
    second = harvest(home, *files)
    assert first.sessions > 0
    assert (second.sessions, second.skipped) == (0, len(files))
    assert dump(home) == before


def test_lessons_gain_sources_instead_of_copies(home: Path, tmp_path: Path) -> None:
    paths = [fixed_session(f"s{day}", day).write(tmp_path) for day in (1, 2, 3)]
    harvest(home, *paths)
    with Oldhand(home) as memory:
        lessons = {lesson.rule: lesson for lesson in memory.lessons()}
        (failure, fixes) = memory.failures()[0]
    assert len(lessons) == 2
    assert lessons["user-directive"].source_count == 3
    assert lessons["fixed-by-command"].confidence == pytest.approx(0.88)
    assert (failure.occurrences, failure.sessions) == (3, 3)
    assert fixes[0].confirmed == 3


def test_the_order_of_files_does_not_matter(home: Path, tmp_path: Path) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    shuffled = random.Random(7).sample(files, len(files))
    harvest(tmp_path / "one", *files)
    for path in shuffled:
        harvest(tmp_path / "other", path)

    def content(home: Path) -> list[str]:
        connection = apsw.Connection(str(home / "oldhand.db"))
        queries = (
            "SELECT id, kind, text, confidence, status, source_count FROM lesson",
            "SELECT id, signature, occurrences, sessions, first_seen, last_seen FROM failure",
            "SELECT id, steps, avoid, status, confirmed FROM fix",
            "SELECT id, messages, errors FROM session",
        )
        return sorted(repr(row) for query in queries for row in connection.execute(query))

    assert [row for row in content(tmp_path / "one") if row not in content(tmp_path / "other")] == []


def test_a_grown_session_is_read_again_and_counted_once(home: Path, tmp_path: Path) -> None:
    session = ClaudeSession().run("pytest -q", MISSING, exit_code=1)
    path = session.write(tmp_path)
    harvest(home, path)
    session.run("uv sync --extra postgres", "ok").run("pytest -q", "3 passed").write(tmp_path)
    again = harvest(home, path)
    assert again.sessions == 1
    with Oldhand(home) as memory:
        assert memory.totals()["sessions"] == 1
        (failure, fixes) = memory.failures()[0]
        assert failure.occurrences == 1
        assert fixes[0].steps == (("run", "uv sync --extra postgres"),)


def test_a_copy_of_a_session_is_not_counted_again(home: Path, tmp_path: Path) -> None:
    path = fixed_session("s1", 1).write(tmp_path)
    copy = tmp_path / "copy" / "another-name.jsonl"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    harvest(home, path, copy)
    with Oldhand(home) as memory:
        assert memory.totals()["sessions"] == 1
        assert memory.failures()[0][0].occurrences == 1


def test_only_the_most_valuable_are_taken_when_there_are_too_many(home: Path, tmp_path: Path) -> None:
    dull = [ClaudeSession(f"dull{n}", day=n + 1).user("hello").write(tmp_path) for n in range(5)]
    rich = fixed_session("rich", 1).write(tmp_path)
    with Oldhand(home) as memory:
        report = memory.harvest([*dull, rich], most=1)
        assert (report.sessions, report.left_for_later) == (1, 5)
        assert memory.totals()["errors"] == 1


def test_oldhand_off_harvests_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLDHAND_OFF", "1")
    with Oldhand(home) as memory, pytest.raises(OldhandError, match="OLDHAND_OFF"):
        memory.harvest([])
    assert not home.exists()
