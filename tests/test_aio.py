"""The awaitable API: the same verbs, and an event loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from hardwon import api, errors
from hardwon.aio import Attempt, Hardwon, ModificationJournal, Outcome
from hardwon.api.journal import Journal


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
        assert (await journal.past_failures(run="none")).text == ""
        await journal.close()

    asyncio.run(use())


def test_every_verb_of_the_journal_is_there() -> None:
    verbs = {name for name, _ in inspect.getmembers(Journal, inspect.isfunction) if not name.startswith("_")}
    awaitable = {name for name, _ in inspect.getmembers(ModificationJournal, inspect.iscoroutinefunction)}
    assert verbs <= awaitable


def test_every_verb_of_the_api_can_be_awaited(home: Path) -> None:
    async def use() -> None:
        async with Hardwon(home) as memory:
            id = await memory.review.add("Use uv.", scope="global")
            assert [lesson.id for lesson in await memory.lessons()] == [id]
            assert await memory.search("uv")
            await memory.review.archive(id)
            assert await memory.journal.log_attempt(Attempt("x")) == 1
            assert memory.home == home
            for name, _ in inspect.getmembers(api.Hardwon, inspect.isfunction):
                assert name.startswith("_") or callable(getattr(memory, name))

    asyncio.run(use())


def test_many_at_once_lose_nothing_and_errors_come_through(home: Path) -> None:
    async def use() -> None:
        async with Hardwon(home) as memory:
            ids = await asyncio.gather(*(memory.journal.log_attempt(Attempt(f"task {n}")) for n in range(50)))
            assert sorted(ids) == list(range(1, 51))
            with pytest.raises(errors.NotAllowed, match="needs a task"):
                await memory.journal.log_attempt(Attempt(""))

    asyncio.run(use())
