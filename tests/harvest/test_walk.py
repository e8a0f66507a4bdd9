"""Harvesting is idempotent, follows growing files, and gives the same store from the same files."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, HardwonError, Step
from hardwon.harvest.walk import Report
from hardwon.sessions.workers import Workers
from tests.conftest import EXAMPLES, ClaudeSession, same_marks

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
    with Hardwon(home) as memory:
        same_marks(memory)
        return memory.harvest(paths)


def dump(home: Path) -> str:
    """Everything the store says, but for random keys, times in the audit trail and scores that follow the clock."""
    content: list[str] = []
    connection = apsw.Connection(str(home / "hardwon.db"))
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_index%' "
        "AND name NOT LIKE 'search_said%' "
        "AND name NOT IN ('event', 'table_sum') ORDER BY name"
    ).fetchall():
        where = " WHERE key NOT LIKE '%_key'" if table == "meta" else ""
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        wanted = ", ".join(name for name in names if (table, name) != ("standing", "score"))
        rows = connection.execute(f"SELECT {wanted} FROM {table}{where}").fetchall()
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
    with Hardwon(home) as memory:
        lessons = {lesson.rule: lesson for lesson in memory.lessons.list()}
        failure = memory.failures.list()[0]
        fixes = failure.fixes
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
        connection = apsw.Connection(str(home / "hardwon.db"))
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
    with Hardwon(home) as memory:
        assert memory.store.totals()["sessions"] == 1
        failure = memory.failures.list()[0]
        fixes = failure.fixes
        assert failure.occurrences == 1
        assert fixes[0].steps == [Step(action="run", what="uv sync --extra postgres")]


def test_a_copy_of_a_session_is_not_counted_again(home: Path, tmp_path: Path) -> None:
    path = fixed_session("s1", 1).write(tmp_path)
    copy = tmp_path / "copy" / "another-name.jsonl"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    harvest(home, path, copy)
    with Hardwon(home) as memory:
        assert memory.store.totals()["sessions"] == 1
        assert memory.failures.list()[0].occurrences == 1


def test_only_the_most_valuable_are_taken_when_there_are_too_many(home: Path, tmp_path: Path) -> None:
    dull = [ClaudeSession(f"dull{n}", day=n + 1).user("hello").write(tmp_path) for n in range(5)]
    rich = fixed_session("rich", 1).write(tmp_path)
    with Hardwon(home) as memory:
        report = memory.harvest([*dull, rich], most=1)
        assert (report.sessions, report.left_for_later) == (1, 5)
        assert memory.store.totals()["errors"] == 1


@pytest.fixture
def many_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every harvest were a large one on a machine of three cores."""
    monkeypatch.setattr("hardwon.harvest.pipeline._BYTES_READ_WITHOUT_WORKERS", 0)
    monkeypatch.setattr("hardwon.harvest.pipeline._BYTES_PER_REQUEST", 1)
    monkeypatch.setattr("hardwon.harvest.pipeline.cores", lambda: 3)


def test_on_all_cores_the_store_becomes_the_same(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    alone = harvest(tmp_path / "alone", *files)
    request.getfixturevalue("many_workers")
    together = harvest(home, *files)
    assert dump(home) == dump(tmp_path / "alone")
    alone.seconds = together.seconds
    assert together == alone


def test_workers_that_die_lose_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    harvest(tmp_path / "alone", *files)
    request.getfixturevalue("many_workers")
    started: list[Workers] = []

    class Seen(Workers):
        def __init__(self, module: str, count: int) -> None:
            super().__init__(module, count)
            started.append(self)

    def killing(doing: str, done: int, count: int) -> None:
        if doing == "harvesting" and done == 0:
            for process in started[-1].processes:
                process.kill()

    monkeypatch.setattr("hardwon.harvest.pipeline.Processes", Seen)
    with Hardwon(home) as memory:
        same_marks(memory)
        memory.harvest(files, progress=killing)
    assert len(started[-1].processes) == 2
    assert dump(home) == dump(tmp_path / "alone")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a system that tells when a process ended")
def test_an_interrupted_harvest_leaves_no_process_and_is_completed_by_the_next(home: Path, tmp_path: Path) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    harvest(tmp_path / "alone", *files)
    harvest(home)
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_HARVEST, home, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        handles = [os.pidfd_open(int(pid)) for pid in process.stdout.readline().split()]
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate()[1]
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], 60)
        os.close(handle)
        assert ended
    assert len(handles) == 2
    harvest(home, *files)
    assert dump(home) == dump(tmp_path / "alone")


INTERRUPTED_HARVEST = """
import signal, sys
from pathlib import Path
from hardwon import Hardwon, Step
from hardwon.harvest import pipeline

pipeline._BYTES_READ_WITHOUT_WORKERS, pipeline._BYTES_PER_REQUEST, pipeline.cores = 0, 1, lambda: 3

class Seen(pipeline.Processes):
    def __init__(self, module, count):
        super().__init__(module, count)
        pipeline.pids = [process.pid for process in self.processes]

pipeline.Processes = Seen

def progress(doing, done, count):
    if doing == "harvesting" and done == 0:
        print(*pipeline.pids, flush=True)
        signal.pause()

Hardwon(Path(sys.argv[1])).harvest(map(Path, sys.argv[2:]), progress=progress)
"""


def test_a_file_that_changed_without_anything_new_in_it_is_not_learned_from_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixed_session("s1", 1).write(tmp_path)
    harvest(home, path)
    before = dump(home)
    with path.open("ab") as file:
        file.write(b'{"type":"file-history-snapshot","messageId":"m"}\n')
    monkeypatch.delattr("hardwon.harvest.pipeline.learn")
    again = harvest(home, path)
    assert (again.sessions, again.skipped) == (0, 0)
    stamp = path.stat()
    changed = (str(stamp.st_size), str(stamp.st_mtime_ns // 1000))
    differing = set(dump(home).splitlines()) ^ set(before.splitlines())
    assert [line for line in differing if path.name not in line] == []
    assert any(all(part in line for part in changed) for line in differing)
    assert harvest(home, path).skipped == 1


def test_hardwon_off_harvests_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_OFF", "1")
    with Hardwon(home) as memory, pytest.raises(HardwonError, match="HARDWON_OFF"):
        memory.harvest([])
    assert not home.exists()


@pytest.mark.parametrize("order", [1, -1])
def test_a_sub_agent_told_of_in_two_files_counts_once_by_the_longer(tmp_path: Path, order: int) -> None:
    helper = ClaudeSession("s-1").user("look at the reef").run("make", MISSING, exit_code=1).says("It is broken.")
    for record in helper.records:
        record |= {"agentId": "af30", "isSidechain": True}
    caller = ClaudeSession("s-1").user("go")
    caller.records += [
        {
            "type": "progress",
            "sessionId": "s-1",
            "data": {"type": "agent_progress", "agentId": "af30", "message": record},
        }
        for record in helper.records[:-1]
    ]
    files = [caller.write(tmp_path / "caller"), helper.write(tmp_path / "helper")]
    for file in files[::order]:
        harvest(tmp_path / "home", file)
    with Hardwon(tmp_path / "home") as memory:
        rows = memory.reading().query("SELECT subagent, messages, errors FROM session ORDER BY subagent")
    assert [tuple(row) for row in rows] == [("", 1, 0), ("af30", 4, 1)]
