"""Hermes' database: every session in it, and of each only the messages that still stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Hardwon, Session
from hardwon.sessions.discover import hermes_state as roots
from hardwon.sessions.hermes_state import read, recognises
from hardwon.sessions.reader import Source

SCHEMA = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, parent_session_id TEXT,
    started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title TEXT, cwd TEXT, git_branch TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT,
    tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT,
    _compressed_summary INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT
);
CREATE INDEX idx_messages_session_id ON messages (session_id, id);
"""
STARTED = 1790848800.5


class Database:
    """Writes the rows that Hermes writes, as few columns as a test needs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(SCHEMA)

    def insert(self, table: str, **row: Any) -> None:
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))

    def session(self, id: str, **row: Any) -> None:
        self.insert("sessions", **{"id": id, "source": "cli", "started_at": STARTED, **row})

    def message(self, session: str, role: str, content: str | None, **row: Any) -> None:
        self.insert("messages", session_id=session, role=role, content=content, timestamp=STARTED + 1, **row)

    def read(self) -> list[Session]:
        source = Source(self.path)
        assert recognises(source)
        return read(source)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "state.db")
    with closing(made.connection):
        yield made


def test_sessions_and_their_messages_are_read(database: Database) -> None:
    calls = json.dumps([{"id": "k", "function": {"name": "terminal", "arguments": '{"command": "make"}'}}])
    database.session("s-2", started_at=STARTED + 60)
    database.session("s-1", cwd="/srv/reef", git_branch="main", ended_at=STARTED + 9)
    database.message("s-1", "user", "fix it")
    database.message("s-2", "user", "another")
    database.message("s-1", "assistant", None, tool_calls=calls, reasoning="hm")
    database.message("s-1", "tool", '{"output": "boom", "exit_code": 2}', tool_call_id="k", tool_name="terminal")
    first, second = database.read()
    assert [(message.role, message.text) for message in first.messages] == [
        ("user", "fix it"),
        ("assistant", ""),
        ("tool", ""),
    ]
    (result,) = first.results()
    assert (result.outcome, result.exit_code, result.text) == ("error", 2, "boom")
    assert (first.external_id, first.cwd, first.branch, first.agent) == ("s-1", "/srv/reef", "main", "hermes")
    assert (first.started_at, first.ended_at) == (1_790_848_800_500_000, 1_790_848_809_500_000)
    assert (second.external_id, second.format, second.ended_at) == ("s-2", "hermes-state", 1_790_848_801_500_000)


def test_what_was_rewound_or_compacted_is_never_counted(database: Database) -> None:
    database.session("s-1")
    database.message("s-1", "user", "the wrong way", active=0)
    database.message("s-1", "user", "fix it", active=0, compacted=1)
    database.message("s-1", "user", "fix it")
    (session,) = database.read()
    assert [message.text for message in session.messages] == ["fix it"]


def test_what_the_client_put_in_the_users_place_is_not_the_users(database: Database) -> None:
    database.session("s-1")
    database.message("s-1", "user", "Summary of what was said", _compressed_summary=1)
    database.message("s-1", "user", "scaffolding", display_kind="hidden")
    database.message("s-1", "user", '\x00json:[{"type": "text", "text": "look at this"}, {"type": "image_url"}]')
    (session,) = database.read()
    assert [message.text for message in session.messages if message.origin == "user"] == ["look at this"]


def test_a_sub_agent_belongs_to_the_session_that_called_it(database: Database) -> None:
    database.session("s-1")
    database.session("s-2", parent_session_id="s-1", model_config='{"_delegate_from": "s-1"}')
    database.message("s-2", "user", "look into it")
    _, inner = database.read()
    assert (inner.external_id, inner.subagent, inner.user_messages) == ("s-1", "s-2", 0)


def test_a_continued_session_is_one_of_its_own(database: Database) -> None:
    database.session("s-1", end_reason="compression")
    database.session("s-2", parent_session_id="s-1")
    assert [(session.external_id, session.subagent) for session in database.read()] == [("s-1", ""), ("s-2", "")]


def test_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    database.session("s-1")
    database.connection.close()
    before = database.path.read_bytes()
    assert len(database.read()) == 1
    assert list(tmp_path.glob("state.db*")) == [database.path]
    assert database.path.read_bytes() == before


def test_an_older_schema_has_no_inactive_rows(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "state.db"))) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL)")
        connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content, tool_calls, timestamp)"
        )
        connection.execute("INSERT INTO messages VALUES (1, 's-1', 'user', 'hi', NULL, 1790848800.5)")
    (session,) = read(Source(tmp_path / "state.db"))
    assert (session.external_id, session.user_messages) == ("s-1", 1)


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE notes (id, text)",
        "CREATE TABLE sessions (id, source, started_at); CREATE TABLE messages (id, session_id, role, content_json)",
        "CREATE VIEW sessions AS SELECT 1 id, 2 source, 3 started_at; CREATE VIEW messages AS SELECT 1 id",
    ],
)
def test_other_databases_are_refused(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "other.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(schema)
    assert not recognises(Source(path))


def test_what_only_looks_like_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    for content in (b"", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\xff" * 5_000, b'{"role": "user"}'):
        path.write_bytes(content)
        assert not recognises(Source(path))
        assert read(Source(path)) == []


def test_a_damaged_database_gives_what_is_left_and_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    database.session("s-1")
    for number in range(500):
        database.message("s-1", "user", f"{number} " * 300)
    database.connection.close()
    content = bytearray(database.path.read_bytes())
    content[60_000:120_000] = b"\xa5" * 60_000
    database.path.write_bytes(content)
    source = Source(database.path)
    (session,) = read(source)
    assert 0 < session.user_messages < 500
    (damage,) = source.damaged
    assert damage.reason.startswith("the database could not be read to its end")


def test_each_profile_has_its_own_database(tmp_path: Path) -> None:
    other = tmp_path / ".hermes" / "profiles" / "coder" / "state.db"
    other.parent.mkdir(parents=True)
    other.touch()
    assert roots({}, tmp_path) == [tmp_path / ".hermes" / "state.db", other]
    assert roots({"HERMES_HOME": "/h"}, tmp_path) == [Path("/h/state.db")]


CELL = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20)
)
COLUMNS = "content tool_call_id tool_calls tool_name display_kind".split()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.sampled_from(COLUMNS), CELL | st.just("[[]]")), max_size=4), cell=CELL)
def test_no_cell_is_too_strange(database: Database, rows: list[dict[str, Any]], cell: Any) -> None:
    database.connection.execute("DELETE FROM messages; DELETE FROM sessions")
    strange = cell if cell is not None else ""
    database.session(str(cell), started_at=strange, model_config=cell, cwd=cell)
    for row in rows:
        for role in ("assistant", "tool", strange):
            database.insert("messages", **{"session_id": str(cell), "role": role, "timestamp": strange, **row})
    assert len(database.read()) == 1


def test_a_session_that_stands_in_the_journal_alone_is_harvested(database: Database, home: Path) -> None:
    """While Hermes has it open, the file itself neither grows nor gets a new time."""
    with Hardwon() as memory:
        for number in (1, 2):
            before = database.path.stat()
            database.session(f"s{number}", cwd="/srv/work/reef")
            database.message(f"s{number}", "user", "Always use uv in this project.")
            assert (database.path.stat().st_size, database.path.stat().st_mtime_ns) == (
                before.st_size,
                before.st_mtime_ns,
            )
            memory.harvest([database.path])
            assert memory.store.totals()["sessions"] == number
        assert memory.sessions.harvested([database.path]) == {database.path}
