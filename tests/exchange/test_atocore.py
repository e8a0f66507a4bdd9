"""An ATOCore database comes in without loss, with its times and statuses, once. On both engines."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, HardwonError, Lesson
from hardwon.clock import iso
from hardwon.store import integrity
from hardwon.store.integrity import whole_hash
from tests.exchange.conftest import made_up_secret

DDL = """
CREATE TABLE source_documents (
    id TEXT PRIMARY KEY, file_path TEXT UNIQUE NOT NULL, file_hash TEXT NOT NULL, title TEXT,
    doc_type TEXT DEFAULT 'markdown', tags TEXT DEFAULT '[]',
    ingested_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE source_chunks (
    id TEXT PRIMARY KEY, document_id TEXT NOT NULL REFERENCES source_documents(id) ON DELETE CASCADE,
    chunk_index INTEGER NOT NULL, content TEXT NOT NULL, heading_path TEXT DEFAULT '', char_count INTEGER NOT NULL,
    metadata TEXT DEFAULT '{}', created_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE memories (
    id TEXT PRIMARY KEY, memory_type TEXT NOT NULL, content TEXT NOT NULL, project TEXT DEFAULT '',
    source_chunk_id TEXT REFERENCES source_chunks(id), confidence REAL DEFAULT 1.0, status TEXT DEFAULT 'active',
    last_referenced_at DATETIME, reference_count INTEGER DEFAULT 0,
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE projects (
    id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, description TEXT DEFAULT '', status TEXT DEFAULT 'active',
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE interactions (
    id TEXT PRIMARY KEY, prompt TEXT NOT NULL, context_pack TEXT DEFAULT '{}', response_summary TEXT DEFAULT '',
    response TEXT DEFAULT '', memories_used TEXT DEFAULT '[]', chunks_used TEXT DEFAULT '[]', client TEXT DEFAULT '',
    session_id TEXT DEFAULT '', project TEXT DEFAULT '', project_id TEXT REFERENCES projects(id),
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
"""
OLD_DDL = """
CREATE TABLE source_documents (
    id TEXT PRIMARY KEY, file_path TEXT UNIQUE NOT NULL, file_hash TEXT NOT NULL, title TEXT,
    doc_type TEXT DEFAULT 'markdown', tags TEXT DEFAULT '[]', ingested_at DATETIME, updated_at DATETIME
);
CREATE TABLE source_chunks (
    id TEXT PRIMARY KEY, document_id TEXT NOT NULL, chunk_index INTEGER NOT NULL, content TEXT NOT NULL,
    heading_path TEXT DEFAULT '', char_count INTEGER NOT NULL, metadata TEXT DEFAULT '{}', created_at DATETIME
);
CREATE TABLE memories (
    id TEXT PRIMARY KEY, memory_type TEXT NOT NULL, content TEXT NOT NULL, source_chunk_id TEXT,
    confidence REAL DEFAULT 1.0, status TEXT DEFAULT 'active', created_at DATETIME, updated_at DATETIME
);
CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, description TEXT DEFAULT '');
CREATE TABLE interactions (
    id TEXT PRIMARY KEY, prompt TEXT NOT NULL, context_pack TEXT DEFAULT '{}', response_summary TEXT DEFAULT '',
    project_id TEXT, created_at DATETIME
);
"""
CREATED, UPDATED, USED = "2026-04-06 19:31:00", "2026-04-07T21:18:00", "2026-04-08 08:00:00"
HASH = "ab" * 32


def memories(*rows: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [
        {"id": id, "memory_type": type, "content": f"Memory {id} of type {type}.", "status": status}
        for id, type, status in rows
    ]


def made(path: Path, ddl: str = DDL, **tables: list[dict[str, Any]]) -> Path:
    with sqlite3.connect(path) as connection:
        connection.executescript(ddl)
        for table, rows in tables.items():
            for row in rows:
                names, marks = ", ".join(row), ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
    connection.close()
    return path


def whole(path: Path) -> Path:
    """One row of each table, with every field filled."""
    return made(
        path,
        projects=[
            {"id": "p-1", "name": "reef", "description": "Corals", "status": "active", "created_at": CREATED,
             "updated_at": UPDATED}
        ],
        source_documents=[
            {"id": "d-1", "file_path": "/home/ada/reef/README.md", "file_hash": HASH, "title": "Reef",
             "doc_type": "markdown", "tags": '["coral"]', "ingested_at": CREATED, "updated_at": UPDATED}
        ],
        source_chunks=[
            {"id": "c-1", "document_id": "d-1", "chunk_index": 3, "content": "Ports are in the 7000s.",
             "heading_path": "Reef > Ports", "char_count": 23, "metadata": '{"page": 1}', "created_at": CREATED}
        ],
        memories=[
            {"id": "m-1", "memory_type": "knowledge", "content": "Ports are in the 7000s.", "project": "reef",
             "source_chunk_id": "c-1", "confidence": 0.85, "status": "active", "last_referenced_at": USED,
             "reference_count": 4, "created_at": CREATED, "updated_at": UPDATED}
        ],
        interactions=[
            {"id": "i-1", "prompt": "Which port?", "context_pack": '{"chars": 10}', "response_summary": "7001",
             "response": "Use 7001.", "memories_used": '["m-1", "m-0"]', "chunks_used": '["c-1"]',
             "client": "claude-code", "session_id": "s-9", "project": "reef", "project_id": "p-1",
             "created_at": CREATED}
        ],
    )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "atocore.db"


def rows(memory: Hardwon, table: str) -> list[dict[str, Any]]:
    names = memory.reading().columns()[table]
    found = memory.reading().query(f"SELECT {', '.join(names)} FROM {table} ORDER BY 1")
    return [dict(zip(names, row, strict=True)) for row in found]


def by_text(memory: Hardwon) -> dict[str, Lesson]:
    return {lesson.text: lesson for lesson in memory.lessons.list()}


def test_every_row_and_field_has_its_place(memory: Hardwon, path: Path) -> None:
    report = memory.store.import_from("atocore", whole(path))
    assert report.added == {"projects": 1, "documents": 1, "chunks": 1, "lessons": 1, "interactions": 1}
    assert (report.left_out, report.redactions) == ([], 0)

    (project,) = rows(memory, "project")
    assert (project["name"], project["description"], project["status"]) == ("reef", "Corals", "active")
    (told,) = (event for event in memory.review.history(project["id"]) if event.action == "import")
    assert (told.after["id"], told.after["created_at"], told.after["updated_at"]) == ("p-1", CREATED, UPDATED)

    (document,) = rows(memory, "document")
    assert (document["path"], document["hash"], document["title"]) == ("~/reef/README.md", HASH, "Reef")
    assert (document["type"], document["tags"]) == ("markdown", '["coral"]')
    assert (iso(document["ingested_at"]), iso(document["updated_at"])) == (
        "2026-04-06T19:31:00Z",
        "2026-04-07T21:18:00Z",
    )

    (chunk,) = rows(memory, "chunk")
    assert (chunk["document"], chunk["position"]) == (document["id"], 3)
    assert (chunk["content"], chunk["heading_path"]) == ("Ports are in the 7000s.", "Reef > Ports")
    assert (json.loads(chunk["metadata"]), iso(chunk["created_at"])) == ({"page": 1}, "2026-04-06T19:31:00Z")

    (lesson,) = memory.lessons.list()
    assert (lesson.kind, lesson.text, lesson.scope) == ("fact", "Ports are in the 7000s.", "project")
    assert (lesson.project, lesson.confidence, lesson.status) == (project["id"], 0.85, "active")
    assert (lesson.trust, lesson.tags, lesson.reference_count) == ("claimed", ("memory:knowledge",), 4)
    times = (lesson.first_seen, lesson.last_confirmed, lesson.last_referenced)
    assert [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in times] == [
        "2026-04-06T19:31:00Z", "2026-04-07T21:18:00Z", "2026-04-08T08:00:00Z",
    ]  # fmt: skip
    sources = memory.lessons.get(lesson.id).sources
    assert {(source.source, source.origin) for source in sources} == {
        (chunk["id"], "import"), ("import:atocore:m-1", "import"),
    }  # fmt: skip

    (interaction,) = rows(memory, "interaction")
    assert (interaction["prompt"], interaction["response"]) == ("Which port?", "Use 7001.")
    assert (interaction["response_summary"], interaction["client"]) == ("7001", "claude-code")
    assert (interaction["session"], interaction["project"]) == ("s-9", project["id"])
    assert json.loads(interaction["context"]) == {"chars": 10}
    assert json.loads(interaction["lessons_used"]) == [lesson.id, "m-0"]
    assert json.loads(interaction["chunks_used"]) == [chunk["id"]]
    assert iso(interaction["created_at"]) == "2026-04-06T19:31:00Z"
    assert (
        integrity.broken_seals(memory.reading(), "interaction")
        == integrity.broken_seals(memory.reading(), "lesson")
        == []
    )
    assert [check for check in memory.store.check() if not check.ok] == []


def test_importing_twice_adds_nothing(memory: Hardwon, path: Path) -> None:
    memory.store.import_from("atocore", whole(path))
    before = whole_hash(memory.reading())
    assert memory.store.import_from("atocore", path).added == {}
    assert whole_hash(memory.reading()) == before


def test_types_and_statuses_are_mapped(memory: Hardwon, path: Path) -> None:
    types = "identity preference project episodic knowledge adaptation hunch".split()
    statuses = "candidate active superseded invalid".split()
    made(
        path,
        memories=[
            *memories(*((f"t{n}", type, "active") for n, type in enumerate(types))),
            *memories(*((f"s{n}", "knowledge", status) for n, status in enumerate(statuses))),
            *memories(("x", "knowledge", "graduated")),
        ],
    )
    memory.store.import_from("atocore", path)
    found = by_text(memory)
    kinds = [found[f"Memory t{n} of type {type}."].kind for n, type in enumerate(types)]
    assert kinds == ["identity", "preference", "fact", "fact", "fact", "decision", "fact"]
    assert found["Memory t6 of type hunch."].tags == ("memory:hunch",)
    assert [found[f"Memory s{n} of type knowledge."].status for n in range(4)] == statuses
    odd = found["Memory x of type knowledge."]
    assert (odd.status, odd.tags) == ("candidate", ("memory:knowledge", "status:graduated"))


def test_only_a_person_vouches_for_it(memory: Hardwon, path: Path) -> None:
    made(path, memories=memories(("m", "knowledge", "active")))
    memory.store.import_from("atocore", path, trusted=True)
    (lesson,) = memory.lessons.list()
    assert (lesson.status, lesson.trust) == ("active", "human")


def test_a_database_from_before_the_migrations_is_read(memory: Hardwon, path: Path) -> None:
    made(
        path,
        OLD_DDL,
        memories=memories(("m", "preference", "active")),
        projects=[{"id": "p-1", "name": "reef"}],
        interactions=[{"id": "i-1", "prompt": "Go", "project_id": "p-1", "created_at": CREATED}],
    )
    report = memory.store.import_from("atocore", path)
    assert report.added == {"projects": 1, "lessons": 1, "interactions": 1}
    (lesson,) = memory.lessons.list()
    assert (lesson.scope, lesson.reference_count, lesson.last_referenced) == ("global", 0, None)
    (interaction,) = rows(memory, "interaction")
    assert (interaction["project"], interaction["lessons_used"]) == (rows(memory, "project")[0]["id"], "[]")


def test_what_has_no_place_is_said(memory: Hardwon, path: Path) -> None:
    ddl = DDL + "CREATE TABLE memory_audit (id TEXT); INSERT INTO memory_audit VALUES ('a'); CREATE TABLE empty (x);"
    made(path, ddl + "ALTER TABLE memories ADD COLUMN mood TEXT;", memories=memories(("m", "knowledge", "active")))
    left_out = memory.store.import_from("atocore", path).left_out
    assert left_out == ["memory_audit: the store has no place for it", "memories.mood: the store has no place for it"]


def test_rows_that_no_rule_forbids_there_come_in(memory: Hardwon, path: Path) -> None:
    document = {"id": "d", "file_path": "a.md", "file_hash": "x"}
    chunk = {"document_id": "d", "chunk_index": 0, "content": "Text.", "char_count": 5, "metadata": "not json"}
    made(
        path,
        source_documents=[document],
        source_chunks=[{**chunk, "id": "c-1"}, {**chunk, "id": "c-2"}, {**chunk, "id": "c-3", "document_id": "gone"}],
        memories=[
            {"id": "m-1", "memory_type": "knowledge", "content": "High.", "confidence": 7},
            {"id": "m-2", "memory_type": "knowledge", "content": " "},
        ],
        interactions=[{"id": "i-1", "prompt": " "}, {"id": "i-2", "prompt": "x", "memories_used": "{bad"}],
    )
    report = memory.store.import_from("atocore", path)
    assert report.added == {"documents": 1, "chunks": 2, "lessons": 1, "interactions": 1}
    assert [line.partition(":")[0] for line in report.left_out] == ["chunk c-3", "memory m-2", "interaction i-1"]
    assert [row["position"] for row in sorted(rows(memory, "chunk"), key=lambda row: row["position"])] == [0, 1]
    assert memory.lessons.list()[0].confidence == 1.0


def test_a_memory_that_the_store_knows_gives_it_one_more_source(memory: Hardwon, path: Path) -> None:
    own = memory.lessons.add("Use uv.", kind="preference", scope="global")
    made(path, memories=[{"id": "m", "memory_type": "preference", "content": "use  UV."}])
    report = memory.store.import_from("atocore", path)
    assert (report.added, report.known) == ({}, {"lessons": 1})
    assert [source.source for source in memory.lessons.get(own).sources] == ["import:atocore:m"]


def test_secrets_stay_outside(memory: Hardwon, path: Path) -> None:
    secret = made_up_secret()
    pack = json.dumps({"prompt": f"token {secret}", secret: [secret]})
    made(path, interactions=[{"id": "i", "prompt": f"use {secret}", "response": secret, "context_pack": pack}])
    assert memory.store.import_from("atocore", path).redactions >= 4
    assert secret not in str(rows(memory, "interaction"))


def test_what_is_no_atocore_database_is_refused(memory: Hardwon, path: Path) -> None:
    made(path, "CREATE TABLE memories (x)")
    with pytest.raises(HardwonError, match="is not an ATOCore database"):
        memory.store.import_from("atocore", path)


def test_an_imported_lesson_can_be_asked_for(memory: Hardwon, path: Path) -> None:
    memory.store.import_from("atocore", whole(path))
    briefing = memory.bootstrap("reef")
    assert "Ports are in the 7000s." in briefing.text
    assert memory.search("ports 7000s").hits[0].text == "Ports are in the 7000s."
