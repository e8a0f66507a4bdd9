"""A store that nothing happened to is never called damaged: `doctor` is asked after every public write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hardwon import Attempt, Hardwon, Interaction, Outcome, connect
from hardwon.store import check
from hardwon.store.database import connect as open_store
from tests.conftest import ClaudeSession, Run
from tests.serve.service import environment, fill, served

Writes = Iterator[tuple[str, object]]


def wrong(place: Path | str) -> list[str]:
    db = open_store(place)
    try:
        return [f"{one.name}: {one.says}" for one in check.store(db) if not one.ok]
    finally:
        db.close()


@pytest.fixture
def filled(home: Path, place: Path | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    if isinstance(place, str):
        monkeypatch.setenv("HARDWON_DATABASE", place)
    fill(home, place, tmp_path / "sessions")
    return place


def shared_writes(memory: Any) -> Writes:
    """What the facade and the client of a service both have, each a step behind the one before it."""
    add, propose = memory.lessons.add, memory.lessons.propose
    one = add("Use tabs in Makefiles.", scope="global")
    yield "lessons.add", one
    yield "lessons.propose, of nobody's session", propose("The tide gauge reads metres.")
    yield "lessons.propose, of a session", propose("The gauge is read hourly.", session="a-session", agent="codex")
    claimed = propose("The gauge drifts in winter.", session="S0123456789abcdef")
    yield "lessons.propose, of a session that looks like one of ours", claimed
    yield "lessons.feedback", memory.lessons.feedback(one, helped=True)
    asked = Interaction(prompt="How?", response="Use tabs in Makefiles, always.", project="reef", client="me")
    said = memory.interactions.record(asked)
    yield "interactions.record", said
    yield "interactions.extract", memory.interactions.extract(said)
    yield "interactions.reinforce", memory.interactions.reinforce(said)
    boom = "ModuleNotFoundError: No module named 'gauge'"
    tried = Attempt("mend the gauge", "by hand", test_results=boom, outcome=Outcome.FAILURE, session="a-session")
    number = memory.journal.log(tried)
    yield "journal.log", number
    yield "journal.log_all", memory.journal.log_all([tried, tried])
    yield "journal.reflect", memory.journal.reflect(number, "Read the manual first.")
    yield "documents.add", memory.documents.add("tides.md", "# Tides\n\nThey come twice a day.\n", project="reef")
    yield "documents.add, another text", memory.documents.add("tides.md", "# Tides\n\nThey come and go.\n")
    for added in [each.path for each in memory.documents.list() if each.path.endswith("tides.md")]:
        yield "documents.remove", memory.documents.remove(added)
    yield "review.promote", memory.review.promote(claimed)
    yield "review.edit", memory.review.edit(one, text="Use tabs in all Makefiles.")
    event = memory.review.archive(one)
    yield "review.archive", event
    yield "review.undo", memory.review.undo(event)
    yield "review.supersede", memory.review.supersede(claimed, one)
    yield "review.restore", memory.review.restore(claimed)
    yield "review.reject", memory.review.reject(propose("The gauge is blue."))
    yield "store.forget", memory.store.forget(said)
    yield "store.forget, a text", memory.store.forget(text="Read the manual first.")
    yield "store.purge", memory.store.purge(1)


def local_writes(memory: Hardwon, folder: Path) -> Writes:
    """What only who has the files can do."""
    one, two = (memory.lessons.add(text, scope="global") for text in ("Always use tabs.", "Never use tabs."))
    conflict = memory.review.open_conflict([one, two])
    yield "review.open_conflict", conflict
    yield "review.settle", memory.review.settle(conflict, one)
    yield "review.reopen", memory.review.reopen(conflict)
    yield "review.keep", memory.review.keep(one)
    yield "review.link", memory.review.link(one, "related", two)
    yield "review.merge", memory.review.merge(memory.lessons.add("Tabs, always.", scope="global"), one)
    yield "review.invalidate", memory.review.invalidate(one)
    note = folder / "note.md"
    note.write_text("# Gauges\n\nThe gauge is read at noon.\n")
    yield "documents.ingest", memory.documents.ingest([note], project="reef")
    note.write_text("# Gauges\n\nThe gauge is read at night.\n")
    yield "documents.ingest, changed", memory.documents.ingest([note], project="reef")
    yield "journal.capture_crash", memory.journal.capture_crash(b'{"exit_code": 1, "stderr": "ValueError: no tide"}')
    yield "failures.refingerprint", memory.failures.refingerprint()
    yield "store.reindex", memory.store.reindex(rebuild=True)
    yield "store.make_token", memory.store.make_token("ada", ["read"])
    yield "store.revoke_token", memory.store.revoke_token(memory.store.tokens()[0].id)
    yield "store.keep_daily_metrics", memory.store.keep_daily_metrics()
    yield "store.export", memory.store.export(folder / "tree")
    yield "store.import_tree", memory.store.import_tree(folder / "tree")
    with (folder / "dump.jsonl").open("wb") as out:
        memory.store.dump(out)
    yield "store.load, into itself", memory.store.load(folder / "dump.jsonl")
    grown = ClaudeSession("reef-1", cwd="/srv/work/reef").user("Never use spaces.").write(folder / "grown")
    yield "harvest", memory.harvest([grown], mine=True)
    (session, *_) = memory.sessions.list()
    yield "store.forget, a session", memory.store.forget(session.id)
    yield "store.forget, a project", memory.store.forget(project="kelp")


def assert_sound_after_each(steps: Writes, place: Path | str) -> None:
    for name, _ in steps:
        assert (name, wrong(place)) == (name, [])


def test_after_every_write_of_the_facade(home: Path, filled: Path | str, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        assert_sound_after_each(shared_writes(memory), filled)
    with Hardwon(home) as memory:
        assert_sound_after_each(local_writes(memory, tmp_path), filled)


def test_after_every_write_over_http(home: Path, filled: Path | str) -> None:
    with (
        served({**environment(home, filled), "HARDWON_SERVE_RATE": "1000", "HARDWON_SERVE_BURST": "1000"}) as running,
        connect(running.address, running.token) as memory,
    ):
        assert_sound_after_each(shared_writes(memory), filled)


WRITING_COMMANDS: tuple[Callable[[Path], tuple[str, ...]], ...] = (
    lambda _: ("interactions", "record", "--prompt", "How is the tide told?", "--response", "By the gauge."),
    lambda _: ("backup",),
    lambda _: ("reindex",),
    lambda folder: ("export", str(folder / "tree")),
    lambda _: ("forget", "--text", "tide told", "--yes"),
)


def test_after_commands_that_write(hardwon: Run, home: Path, tmp_path: Path) -> None:
    fill(home, home / "hardwon.db", tmp_path / "sessions")
    for command in WRITING_COMMANDS:
        done = hardwon(*command(tmp_path))
        assert done.returncode == 0, done.stderr
        checked = hardwon("doctor")
        assert checked.returncode == 0, checked.stdout


def test_what_came_from_nobodys_session_and_from_a_removed_document_keeps_its_quotes(home: Path) -> None:
    with Hardwon(home) as memory:
        lesson = memory.lessons.propose("The tide gauge reads metres.")
        assert memory.store.healthy()
        (source,) = memory.lessons.get(lesson).sources
    assert source.quote == "The tide gauge reads metres."
