"""One running service an engine and module: each test makes what it needs in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from hardwon.text.normalise import made
from tests.serve.service import Service, environment, fill, served


@pytest.fixture(scope="module")
def workspace(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty workspace on PostgreSQL for a whole module."""
    with made_workspace(request.getfixturevalue("postgres_server")) as address:
        yield address


@contextmanager
def made_workspace(address: str) -> Iterator[str]:
    import psycopg

    schema = made("serve_")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        joined = "&" if "?" in address else "?"
        yield f"{address}{joined}options={quote(f'-csearch_path={schema},public')}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With two projects, `reef` and `kelp`."""
    folder = tmp_path_factory.mktemp("service")
    home = folder / "hardwon"
    place: Path | str = home / "hardwon.db"
    if request.param == "postgresql":
        place = request.getfixturevalue("workspace")
    fill(home, place, folder / "sessions")
    unhurried = {"HARDWON_SERVE_RATE": "10000", "HARDWON_SERVE_BURST": "10000"}
    with served({**environment(home, place), **unhurried}) as running:
        yield running
