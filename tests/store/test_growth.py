"""What is done for one item takes no longer where there are many others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.filled import fill

from hardwon import Hardwon
from hardwon.measure import tallies
from hardwon.recall.search import SearchFilter, load
from hardwon.sessions.project import Project
from hardwon.store import failures
from tests.timing import assert_growth, spent

FEW, MANY = 1_000, 8_000
ROUNDS = 5
"""The machine has other work as well: the best of some measurements counts."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    homes = {count: tmp_path_factory.mktemp(str(count)) for count in (FEW, MANY)}
    for count, home in homes.items():
        fill(home, Project("tidepool", "tidepool"), count)
    return homes


def recounted(memory: Hardwon, ids: list[str]) -> None:
    db = memory.writing()
    with db.transaction():
        failures.refresh(db, ids)


def found(memory: Hardwon, ids: list[str]) -> None:
    assert len(load(memory.reading(), ids, SearchFilter(types=("failure",)))) == len(ids)


def tallied(memory: Hardwon, ids: list[str]) -> None:
    tallies.met_again(memory.reading(), tallies.Window(0, 1 << 60))


@pytest.mark.parametrize(("done", "most"), [(recounted, 3.0), (found, 3.0), (tallied, 1.5 * MANY / FEW)])
def test_one_costs_the_same_among_many_and_all_of_them_in_proportion(
    stores: dict[int, Path], done: Callable[[Hardwon, list[str]], None], most: float
) -> None:
    few, many = stores.values()
    assert_growth(lambda: _seconds(few, done), lambda: _seconds(many, done), most)


def _seconds(home: Path, done: Callable[[Hardwon, list[str]], None]) -> float:
    with Hardwon(home) as memory:
        ids = [row[0] for row in memory.reading().query("SELECT id FROM failure ORDER BY id LIMIT 20")]
        return min(spent(lambda: done(memory, ids)) for _ in range(ROUNDS))
