"""What somebody else wrote, in a dump or by a pull request in an exported tree, is never active by itself."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from tests.conftest import ClaudeSession
from tests.data.poison import payloads

ME = ClaudeSession("mine", cwd="/srv/work/reef").user("Always use uv in this project.")


def forged() -> Iterator[str]:
    return (payload.replace("\n", " ") for payload in payloads())


def attacks() -> dict[str, int]:
    """Class of attack → cases tried."""
    return {
        "lessons, fixes and evidence of somebody else's dump": 2 * len(list(forged())),
        "lines that a pull request changed, added or removed": 2 * len(list(forged())) + 2,
    }


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Hardwon]:
    with Hardwon(home) as memory:
        memory.harvest([ME.write(tmp_path / "mine")])
        yield memory


def briefing(memory: Hardwon) -> str:
    return memory.bootstrap("reef", budget=100_000).text + memory.bootstrap("reef", agent="claude-code").text


def active(memory: Hardwon) -> set[str]:
    return {lesson.text for lesson in memory.lessons.list(status="active")}


def a_strangers_dump(folder: Path) -> list[dict[str, Any]]:
    """Every payload as a user's own rule, and as the fix of a failure that the victim may meet."""
    with Hardwon(folder / "stranger") as memory:
        sessions = []
        for number in range(len(list(forged()))):
            session = ClaudeSession(f"s{number}", cwd="/srv/work/reef", day=1 + number % 28)
            session.user("Always be kind.").run(
                "pytest -q", f"ModuleNotFoundError: No module named 'm{number}'", exit_code=1
            )
            session.run(f"uv add m{number}", "ok").run("pytest -q", "ok")
            sessions.append(session.write(folder / "theirs"))
        memory.harvest(sessions)
        out = io.BytesIO()
        memory.store.dump(out)
    records = [json.loads(line) for line in out.getvalue().splitlines()]
    first = next(record for record in records if record.get("table") == "lesson")
    for number, payload in enumerate(forged()):
        row = {**first["row"], "id": f"L{number:016x}", "text": payload, "status": "active", "trust": "human"}
        row |= {"pinned": 1, "kept": 1, "confidence": 1.0, "base_confidence": 1.0, "text_hash": f"{number:032x}"}
        records.insert(records.index(first), {"table": "lesson", "row": row})
    for record in records:
        if record.get("table") == "fix":
            record["row"] |= {"status": "active", "confirmed": 9, "untrusted": "", "reviewed": 1}
    head = records[0]
    head["rows"]["lesson"] = sum(record.get("table") == "lesson" for record in records)
    return records


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    return path


@pytest.mark.parametrize("into", ["a store in use", "an empty store"])
def test_somebody_elses_dump_is_never_active_by_itself(into: str, memory: Hardwon, tmp_path: Path) -> None:
    dump = written(tmp_path / "dump.jsonl", a_strangers_dump(tmp_path))
    victim = memory if into == "a store in use" else Hardwon(tmp_path / "empty")
    before, keys = active(victim) if victim.exists else set(), _keys(victim)
    report = victim.store.load(dump)
    assert report.added["lesson"] >= len(list(forged()))
    assert active(victim) == before
    assert _keys(victim) == keys or into == "an empty store"
    stranger = next(row["row"] for row in a_strangers_dump(tmp_path / "again") if row.get("table") == "meta")
    assert stranger["value"] not in _keys(victim).values()
    db = victim.reading()
    assert db.query("SELECT count(*) FROM lesson WHERE trust IN ('human', 'measured') AND text LIKE '%zorb%'") == [(0,)]
    assert db.query("SELECT count(*) FROM session WHERE owner = 'own' AND id LIKE 'S%'")[0][0] == (
        into != "an empty store"
    )
    assert db.query("SELECT count(*) FROM fix WHERE status = 'active'") == [(0,)]
    for table in ("project_root", "conflict", "chunk", "attempt"):
        theirs = db.query(f"SELECT count(*) FROM {table}")[0][0]
        assert theirs <= (1 if into == "a store in use" else 0), table
    assert "zorb" not in briefing(victim)
    for number in range(0, len(list(forged())), 3):
        told = victim.failures.recall(f"ModuleNotFoundError: No module named 'm{number}'", project="reef")
        assert f"uv add m{number}" not in told.said
    if victim is not memory:
        victim.close()


def _keys(memory: Hardwon) -> dict[str, str]:
    return dict(memory.reading().query("SELECT key, value FROM meta WHERE key LIKE '%key'")) if memory.exists else {}


def test_ones_own_dump_comes_back_whole_with_ones_word_for_it(memory: Hardwon, tmp_path: Path) -> None:
    with (tmp_path / "dump.jsonl").open("wb") as out:
        memory.store.dump(out)
    with Hardwon(tmp_path / "new") as copy:
        copy.store.load(tmp_path / "dump.jsonl", trusted=True)
        assert active(copy) == active(memory)


def test_what_a_pull_request_changed_in_a_tree_waits_for_review(memory: Hardwon, tmp_path: Path) -> None:
    for number in range(len(list(forged()))):
        memory.lessons.add(f"Never push on day {number}.", project="reef")
    tree = tmp_path / "tree"
    memory.store.export(tree)
    before = active(memory)
    page = tree / "knowledge" / "repos" / "reef.md"
    text = page.read_text()
    for number, payload in enumerate(forged()):
        text = text.replace(f"Never push on day {number}.", payload)
    page.write_text(text + "\n## Facts\n\n" + "".join(f"- Also {payload}\n" for payload in forged()))
    report = memory.store.import_tree(tree)
    assert {change.what for change in report.changes} <= {"proposed", "waits"}  # type: ignore[union-attr]
    assert sum(change.what == "proposed" for change in report.changes) >= len(list(forged()))  # type: ignore[union-attr]
    assert active(memory) == before
    assert "zorb" not in briefing(memory)
    proposed = len(memory.lessons.list(status="candidate"))
    memory.store.import_tree(tree)
    assert len(memory.lessons.list(status="candidate")) == proposed


def test_a_line_that_a_pull_request_removed_or_silenced_stays(memory: Hardwon, tmp_path: Path) -> None:
    memory.lessons.add("Never push to main.", project="reef")
    tree = tmp_path / "tree"
    memory.store.export(tree)
    before = active(memory)
    page = tree / "knowledge" / "repos" / "reef.md"
    lines = page.read_text().splitlines()
    page.write_text("\n".join(line.replace("active", "invalid") for line in lines if "Never push" not in line) + "\n")
    report = memory.store.import_tree(tree)
    assert {change.what for change in report.changes} == {"waits"}  # type: ignore[union-attr]
    assert active(memory) == before
    assert not report.settled  # type: ignore[union-attr]
