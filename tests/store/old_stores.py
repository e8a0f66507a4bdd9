"""Stores as older versions wrote them, and what a store physically is."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import apsw

from hardwon.store import fulltext, migrations
from hardwon.store.database import Database, connect, insert
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import REPOSITORY

SCHEMAS = REPOSITORY / "tests" / "data" / "schema"
FIXTURES = sorted(SCHEMAS.glob("*.db.gz"))


def put(fixture: Path, home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    database = home / "hardwon.db"
    database.write_bytes(gzip.decompress(fixture.read_bytes()))
    return database


def released(place: Path | str, tmp_path: Path, schema: int = 2) -> None:
    """The store that the version with that schema left at a place, filled from its examples.

    PostgreSQL was there from schema 2 on; its tables are made by the very statements of that version.
    """
    fixture = SCHEMAS / f"{schema:04}.db.gz"
    if isinstance(place, Path):
        put(fixture, place.parent)
        return
    import psycopg

    rows = apsw.Connection(str(put(fixture, tmp_path / "filled")))
    tables, vectors = (SCHEMAS / f"{schema:04}.postgresql.sql").read_bytes().split(b"-- where there is pgvector\n")
    with psycopg.connect(place) as connection:
        connection.execute(tables)
        if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
            connection.execute(vectors)
        for table in migrations.tables_at(schema).values():
            sql = insert(table.name, table.names).replace("?", "%s")
            found = rows.execute(f"SELECT {', '.join(table.names)} FROM {table.name}").fetchall()
            connection.cursor().executemany(sql, found)
    db = connect(place, write=True)
    with db.transaction():
        fulltext.complete(db)
    db.close()


def physical(db: Database) -> list[Any]:
    """Tables, columns, constraints and indexes as the engine itself tells them."""
    if isinstance(db, SqliteDatabase):
        rows = db.query("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name <> 'table_sum' ORDER BY 1, 2")
        return [(*row, _plain(sql)) for *row, sql in rows]
    return [
        *db.query(
            "SELECT table_name, ordinal_position, column_name, data_type, collation_name, is_nullable, column_default "
            "FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2"
        ),
        *db.query(
            "SELECT tablename, indexname, replace(indexdef, current_schema() || '.', '') FROM pg_indexes "
            "WHERE schemaname = current_schema() ORDER BY 1, 2"
        ),
        *db.query(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2"
        ),
    ]


def _plain(sql: str | None) -> str:
    said = re.sub("--[^\n]*", "", sql or "")
    spaced = " ".join(said.replace('"', "").split())
    return re.sub(r" ?([(),]) ?", r"\1", spaced)
