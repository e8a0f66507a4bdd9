"""The awaitable API: the same methods, typed, and an event loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from tools.facade import NOUNS

from hardwon import AsyncHardwon, Attempt, Hardwon, ModificationJournal, NotAllowed, NotFound, Outcome


def test_the_journal_of_the_source_system_works_as_documented(home: Path) -> None:
    async def use() -> None:
        journal = ModificationJournal()
        first = await journal.log_attempt(
            Attempt("Add a health endpoint", approach="a route", files_modified=["src/app.py"], outcome=Outcome.SUCCESS)
        )
        second = await journal.log_attempt(Attempt("Add a metrics endpoint", outcome=Outcome.FAILURE))
        assert [found.id for found in await journal.find_similar("health endpoint", limit=1)] == [first]
        assert [found.id for found in await journal.find_similar("endpoint", 5, [Outcome.FAILURE])] == [second]
        assert (await journal.get_success_rate())["overall"] == 0.5
        assert [found.id for found in await journal.get_recent_failures(limit=10)] == [second]
        assert await journal.update_reflection(second, "count first")
        assert not await journal.update_reflection(99, "nobody")
        found = await journal.get_by_id(second)
        assert found is not None
        assert found.reflection == "count first"
        assert await journal.get_by_id(99) is None
        assert [entry.id for entry in await journal.get_attempts_for_file("src/app.py")] == [first]
        assert (await journal.stats()).overall.attempts == 2
        await journal.close()

    asyncio.run(use())


def test_every_method_can_be_awaited_with_the_arguments_of_the_facade(home: Path) -> None:
    memory, awaitable = Hardwon(home), AsyncHardwon(home)
    for noun in NOUNS:
        for name, method in inspect.getmembers(getattr(memory, noun), inspect.ismethod):
            if not name.startswith("_"):
                twin = getattr(getattr(awaitable, noun), name)
                assert inspect.iscoroutinefunction(twin)
                assert inspect.signature(twin) == inspect.signature(method)
    for name, function in vars(Hardwon).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            assert inspect.iscoroutinefunction(getattr(AsyncHardwon, name))
            assert inspect.signature(getattr(AsyncHardwon, name)) == inspect.signature(function)


def test_what_is_written_is_read(home: Path) -> None:
    async def use() -> None:
        async with AsyncHardwon(home) as memory:
            id = await memory.lessons.add("Use uv.", scope="global")
            assert [lesson.id for lesson in await memory.lessons.list()] == [id]
            assert [hit.id for hit in (await memory.search("uv")).hits] == [id]
            await memory.review.archive(id)
            assert await memory.journal.log(Attempt("x")) == 1
            with pytest.raises(NotFound):
                await memory.journal.get(2)
            assert memory.home == home

    asyncio.run(use())


def test_the_loop_goes_on_while_the_store_works(home: Path) -> None:
    async def use() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with AsyncHardwon(home) as memory:
            ticking = asyncio.create_task(tick())
            await asyncio.gather(*(memory.journal.log(Attempt(f"task {n}")) for n in range(20)))
            ticking.cancel()
            assert ticks > 20
            assert (await memory.journal.stats()).overall.attempts == 20

    asyncio.run(use())


def test_many_at_once_lose_nothing_and_errors_come_through(home: Path) -> None:
    async def use() -> None:
        async with AsyncHardwon(home) as memory:
            ids = await asyncio.gather(*(memory.journal.log(Attempt(f"task {n}")) for n in range(50)))
            assert sorted(ids) == list(range(1, 51))
            with pytest.raises(NotAllowed, match="needs a task"):
                await memory.journal.log(Attempt(""))

    asyncio.run(use())


SNIPPET = """
from hardwon import AsyncHardwon

async def use(m: AsyncHardwon) -> None:
    await m.search("x", limit=5)
    await m.serach("x")
    await m.lessons.promote("L1")
    await m.journal.get(None)
"""


def test_a_misspelt_method_is_refused_by_the_type_checker(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "snippet.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    said = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert [line.partition(": error: ")[0] for line in said] == ["snippet.py:6", "snippet.py:7", "snippet.py:8"]
    for line, words in zip(said, ('has no attribute "serach"', 'no attribute "promote"', "incompatible"), strict=True):
        assert words in line
