"""Every test of the store's contract runs on a real SQLite file and on a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hardwon.store.database import Database, connect

Open = Callable[..., Database]


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
