"""A store on each engine, with the API on top."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from hardwon import Hardwon
from tests.scrub.fakes import text

Make = Callable[[str, Path | str], Hardwon]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes stores beside each other; `at` is the address of a server, or anything else for a file."""
    made: list[Hardwon] = []

    def another(name: str, at: Path | str = "") -> Hardwon:
        home = tmp_path / "homes" / name
        home.mkdir(parents=True)
        if isinstance(at, str) and at:
            (home / "config.toml").write_text(f'database = "{at}"\n')
        made.append(Hardwon(home))
        made[-1].writing()
        return made[-1]

    yield another
    for memory in made:
        memory.close()


@pytest.fixture
def memory(make: Make, place: Path | str) -> Hardwon:
    return make("first", place)


def made_up_secret(seed: int = 1) -> str:
    """A token of a known shape that opens nothing."""
    return "ghp_" + text(Random(seed), 36)
