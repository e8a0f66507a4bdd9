"""The sampler: exact counts, real outcomes, the same order whatever order the disk gives."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.harvest.sampler import Sample, ranked
from hardwon.sessions.scan import scan
from tests.conftest import ClaudeSession, Run

NOW = 1_792_000_000_000_000  # 2026-10-14
DAY = 86_400_000_000


def samples(*paths: Path, **filters: object) -> list[Sample]:
    return ranked(scan(paths), NOW, **filters)  # type: ignore[arg-type]


def talk(name: str, messages: int, *, day: int = 12, month: int = 10, cwd: str = "/srv/work/reef") -> ClaudeSession:
    session = ClaudeSession(name, day=day, month=month, cwd=cwd)
    for _ in range(messages):
        session.user("hello")
    return session


@pytest.mark.parametrize(
    ("day", "month", "messages", "parts"),
    [
        (12, 10, 51, (3, 3, 5, 1, 0)),
        (20, 9, 50, (2, 2, 5, 1, 0)),
        (20, 9, 21, (2, 2, 5, 1, 0)),
        (20, 1, 20, (1, 1, 5, 1, 0)),
        (30, 12, 1, (3, 1, 5, 1, 0)),  # a clock that runs ahead
    ],
)
def test_recency_and_length_score_as_specified(
    tmp_path: Path, day: int, month: int, messages: int, parts: tuple[int, ...]
) -> None:
    (sample,) = samples(talk("a", messages, day=day, month=month).write(tmp_path))
    assert sample.score == parts


def test_outcome_and_tool_calls_score_as_specified(tmp_path: Path) -> None:
    failed, completed = ClaudeSession("failed", day=12), ClaudeSession("completed", day=12)
    for _ in range(11):
        failed.run("make", "ok")
        completed.run("make", "Error: no", exit_code=1)
    failed.run("make", "Error: no", exit_code=1)
    completed.run("echo done", "0 failed, no errors found, added error handling")
    worst, best = (
        next(sample for sample in samples(session.write(tmp_path)) if session) for session in (completed, failed)
    )
    assert (best.score.outcome, best.failed, best.errors) == (3, True, 1)
    assert (worst.score.outcome, worst.failed, worst.errors) == (2, False, 11)
    assert best.score.tool_calls == worst.score.tool_calls == 2


def test_the_first_seen_bonus_goes_to_the_best_of_each_project_after_the_filters(tmp_path: Path) -> None:
    paths = [
        talk("short", 1).write(tmp_path),
        talk("long", 60).write(tmp_path),
        talk("old", 60, month=1).write(tmp_path),
        talk("other", 1, cwd="/srv/work/lagoon").write(tmp_path),
    ]
    bonus = {Path(sample.path).stem: sample.score.repo_unique for sample in samples(*paths)}
    assert bonus == {"long": 5, "short": 1, "old": 1, "other": 5}
    (only,) = samples(*paths, project="lagoon")
    assert (Path(only.path).stem, only.score.repo_unique) == ("other", 5)
    recent = samples(*paths, since=NOW - 30 * DAY)
    assert "old" not in {Path(sample.path).stem for sample in recent}


def test_the_order_is_the_same_for_any_order_of_files(tmp_path: Path) -> None:
    paths = [talk(f"s{n}", n % 3, day=1 + n % 5).write(tmp_path) for n in range(30)]
    expected = [sample.path for sample in samples(*paths)]
    for seed in range(5):
        shuffled = random.Random(seed).sample(paths, len(paths))
        assert [sample.path for sample in samples(*shuffled)] == expected


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    path = talk("a", 3).write(tmp_path)
    assert scan([path], cache)[str(path)].messages == 3
    stamp = path.stat()
    path.write_bytes(b"x" * stamp.st_size)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert scan([path], cache)[str(path)].messages == 3
    talk("a", 4).write(tmp_path)
    assert scan([path], cache)[str(path)].messages == 4
    cache.write_bytes(b"garbage")
    assert scan([path], cache)[str(path)].messages == 4


def test_many_files_are_counted_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardwon.sessions.scan._MAX_BYTES_COUNTED_ALONE", 1000)
    monkeypatch.setattr("hardwon.sessions.scan.cores", lambda: 3)
    monkeypatch.setattr("hardwon.sessions.scan._BYTES_PER_SHARE", 1000)
    paths = [talk(f"s{n}", n).write(tmp_path) for n in range(1, 20)]
    found = scan(paths)
    assert [found[str(path)].messages for path in paths] == list(range(1, 20))


def test_the_command_prints_rows_as_the_source_system_does(tmp_path: Path, hardwon: Run, home: Path) -> None:
    folder = tmp_path / "sessions"
    failed = ClaudeSession("failed", day=12).run("make", "Error: no", exit_code=1)
    paths = [failed.write(folder), talk("dull", 2, cwd="/srv/work/lagoon").write(folder)]
    with Hardwon(home) as memory:
        memory.harvest([paths[1]])

    def rows(*options: object) -> list[dict[str, object]]:
        done = hardwon("sample", "--sessions-dir", folder, "--format", "json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    first, second = rows()
    assert set(first) >= {
        "path", "filename", "score", "breakdown", "message_count", "tool_call_count", "error_count", "repos",
        "is_failure", "started_at", "format",
    }  # fmt: skip
    assert (first["filename"], first["is_failure"], first["repos"]) == ("failed.jsonl", True, ["reef"])
    assert sum(first["breakdown"].values()) == first["score"]  # type: ignore[attr-defined]
    assert second["harvested"] is True
    assert [row["filename"] for row in rows("--new")] == ["failed.jsonl"]
    assert [row["filename"] for row in rows("--repo", "lagoon")] == ["dull.jsonl"]
    assert len(rows("--count", 1)) == len(rows("--top-percent", 1)) == 1
    assert rows("--min-score", 99) == []
    listed = hardwon("sample", "--sessions-dir", folder, "--format", "paths", "--output", tmp_path / "out.txt")
    assert listed.stdout == ""
    assert (tmp_path / "out.txt").read_text().splitlines() == list(map(str, paths))
    assert "SCORE" in hardwon("sample", "--sessions-dir", folder, "--explain").stdout


def test_by_value_a_session_that_says_the_same_again_comes_after_one_with_something_new(
    home: Path, tmp_path: Path
) -> None:
    def failing(name: str, module: str) -> Path:
        error = f"ModuleNotFoundError: No module named '{module}'"
        session = ClaudeSession(name).run("pytest", error, exit_code=1).run(f"uv add {module}", "ok")
        return session.run("pytest", "ok").write(tmp_path)

    first, again, other = failing("a", "asyncpg"), failing("b", "asyncpg"), failing("c", "httpx")
    dull = ClaudeSession("d").user("hello").write(tmp_path)
    with Hardwon(home) as memory:
        order = memory.sample([again, dull, first, other], by_value=True)
        assert [Path(sample.path) for sample in order] == [first, other, again, dull]
        assert [sample.score.total for sample in order] == [6, 6, 0, 0]
        memory.harvest([first])
        assert memory.sample([again, other], by_value=True)[0].path == str(other)


def test_what_is_no_session_is_not_left_for_later(home: Path, tmp_path: Path) -> None:
    sessions = [talk(f"s{n}", 2).write(tmp_path) for n in range(3)]
    other = tmp_path / "package.json"
    other.write_text('{"name": "reef"}')
    with Hardwon(home) as memory:
        report = memory.harvest([*sessions, other], most=2)
        assert (report.sessions, report.left_for_later, report.refused) == (2, 1, 1)


def test_counting_one_folder_forgets_nothing_of_another(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    here, there = talk("a", 1).write(tmp_path / "here"), talk("b", 2).write(tmp_path / "there")
    scan([here], cache)
    scan([there], cache)
    stamp = here.stat()
    here.write_bytes(b"x" * stamp.st_size)
    os.utime(here, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert scan([here], cache)[str(here)].messages == 1


def test_to_rank_by_counts_loads_nothing_that_learns() -> None:
    program = "import sys, hardwon.harvest.sampler; print('hardwon.failures.ledger' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
