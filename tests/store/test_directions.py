"""The nearest of many vectors: as scoring every one of them finds them, with exact similarities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from hardwon.store.database import LEAST_SIMILARITY
from hardwon.store.vectors import Directions, read_file, record, write_file

Array = numpy.ndarray[Any, Any]
MANY = 6_000


def directions(values: Array) -> Directions:
    return Directions(names(values), rows(values))


def names(values: Array) -> list[str]:
    return [f"L{at}" for at in range(len(values))]


def rows(values: Array) -> Array:
    records = numpy.zeros(len(values), dtype=record(values.shape[1]))
    largest = numpy.abs(values).max(axis=1)
    records["scale"] = largest / 127 / numpy.linalg.norm(values, axis=1)
    records["steps"] = numpy.rint(values / largest[:, None] * 127)
    return records


def about_topics(count: int, dimensions: int) -> Array:
    """Texts are about something: directions in thirty heaps."""
    chance = numpy.random.default_rng(5)
    topics = chance.standard_normal((30, dimensions))
    return topics[chance.integers(0, 30, count)] + 1.5 * chance.standard_normal((count, dimensions))


def unit(vector: Array) -> Array:
    return (vector / numpy.linalg.norm(vector)).astype("<f4")


@pytest.mark.parametrize("dimensions", [64, 100, 384, 1_000])
def test_the_nearest_are_those_that_scoring_all_finds(dimensions: int) -> None:
    values = about_topics(MANY + 20, dimensions)
    questions, values = values[:20], values[20:]
    everything = directions(values)
    found_of_all = []
    for question in map(unit, questions):
        exact = everything.similarity(question, numpy.arange(MANY))
        best = {f"L{at}" for at in numpy.argsort(-exact)[:50]}
        near = everything.nearest(question, 50, LEAST_SIMILARITY)
        assert all(each.similarity == pytest.approx(exact[int(each.item[1:])], abs=1e-5) for each in near)
        assert f"L{exact.argmax()}" in {each.item for each in near}
        found_of_all.append(len(best & {each.item for each in near}) / 50)
    assert numpy.mean(found_of_all) >= 0.99


def test_what_is_less_near_than_the_least_is_left_out() -> None:
    values = about_topics(MANY, 64)
    question = unit(values[7])
    near = {each.item for each in directions(values).nearest(question, MANY, 0.3)}
    all_of_them = directions(values).nearest(question, MANY, LEAST_SIMILARITY)
    near_enough = {each.item for each in all_of_them if each.similarity >= 0.3}
    assert near <= near_enough
    assert len(near) >= 0.98 * len(near_enough)
    assert directions(values).nearest(question, 10, 1.1) == []


def test_a_question_of_equal_numbers_is_one_too() -> None:
    values = about_topics(MANY, 64)
    values[11] = 1.0
    near = directions(values).nearest(unit(numpy.ones(64)), 3, LEAST_SIMILARITY)
    assert max(near, key=lambda each: each.similarity).item == "L11"


def test_more_than_there_are_gives_all() -> None:
    assert len(directions(about_topics(5, 64)).nearest(unit(numpy.ones(64)), 50, LEAST_SIMILARITY)) == 5
    assert Directions([], numpy.zeros(0, dtype=record(64))).nearest(unit(numpy.ones(64)), 5, LEAST_SIMILARITY) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only the kernel of Linux says what a process holds of a file")
def test_a_search_leaves_the_file_to_the_system(tmp_path: Path) -> None:
    values = about_topics(MANY, 384)
    write_file(tmp_path, "a", "model", 1, names(values), rows(values))
    cached = read_file(tmp_path, "a", "model", 384)
    assert cached is not None
    near = cached[1].nearest(unit(values[7]), 50, LEAST_SIMILARITY)
    assert near == directions(values).nearest(unit(values[7]), 50, LEAST_SIMILARITY)
    _, _, mapping = Path("/proc/self/smaps").read_text().partition(str(tmp_path))
    assert mapping.partition("Rss:")[2].split()[:2] == ["0", "kB"]
