"""Forgetting takes a thing out of every table and index, leaves the rest right, and outlives the next harvest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, NotFound
from hardwon.clock import now
from hardwon.failures.ledger import Findings
from hardwon.harvest.walk import harvest
from hardwon.model.failure import Occurrence
from hardwon.store import check, failures, fulltext, integrity, lessons, lifecycle, meta
from hardwon.store import forget as store_forget
from hardwon.store.database import Database, Vector, insert
from hardwon.store.deletion import Removal
from hardwon.store.forget import Target, sequences
from hardwon.store.lessons import LessonRow
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import ClaudeSession
from tests.store.conftest import Open

CANARY = "nightjar"
NEVER_TOLD = frozenset(("event", "tombstone", "stale", "meta", "standing"))


@pytest.fixture
def store(db: Database) -> Database:
    meta.prepare(db)
    return db


def session(name: str, word: str, day: int = 1, cwd: str = "/srv/work/reef") -> ClaudeSession:
    return (
        ClaudeSession(name, cwd=cwd, day=day)
        .user(f"Always use {word} for tides in this project.")
        .run(f"pytest -q tests/{word}", f"ModuleNotFoundError: No module named '{word}'", exit_code=1)
        .run(f"uv sync --extra {word}", "ok")
        .run(f"pytest -q tests/{word}", "3 passed")
    )


def plain(name: str, day: int = 2) -> ClaudeSession:
    return session(name, "asyncpg", day)


def everything(db: Database) -> dict[str, list[str]]:
    """Every row of every table, and what the full-text index says."""
    said = {
        table: sorted(map(repr, db.query(f"SELECT {', '.join(columns)} FROM {table}")))
        for table, columns in _columns(db).items()
    }
    terms = (
        "SELECT s.item, i.terms FROM {items} s JOIN {words} i ON i.rowid = s.id"
        if db.engine == "sqlite"
        else "SELECT item, terms FROM {items}"
    )
    indexed = [row for index in fulltext.INDEXES for row in db.query(terms.format(**index._asdict()))]
    return said | {"index": sorted(map(repr, indexed))}


def _columns(db: Database) -> dict[str, list[str]]:
    """Without the numbers of attempts, which are given in the order of arrival."""
    found = db.columns()
    found["attempt"].remove("number")
    return found


def told(db: Database) -> dict[str, list[str]]:
    return {table: rows for table, rows in everything(db).items() if table not in NEVER_TOLD}


def where(db: Database, needle: str) -> list[str]:
    return [table for table, rows in everything(db).items() if any(needle in row.lower() for row in rows)]


def forget(db: Database, wanted: Target) -> Removal:
    with db.transaction():
        return store_forget.remove(db, wanted, sequences(db, wanted.text) if wanted.text else set(), "tester")


def sound(db: Database) -> list[str]:
    meta.recount_stale(db)
    return [f"{found.name}: {found.says}" for found in check.store(db) if not found.ok]


def filled(db: Database, tmp_path: Path) -> Path:
    """A store with something of every noun, all of it about the canary, beside a session that is not."""
    canary = session("s-canary", CANARY).write(tmp_path)
    harvest(db, [canary, plain("s-plain").write(tmp_path)])
    id = by(db, "session", "external_id", "s-canary")
    project = str(db.query("SELECT project FROM session WHERE id = ?", (id,))[0][0])
    lesson = by(db, "lesson", "kind", "preference", f"AND text LIKE '%{CANARY}%'")
    with db.transaction():
        add(db, "attempt", id="A1", number=900, source="log", session=id, root="", project=project, agent="claude-code",
            task=f"build the {CANARY}", approach="", phase="", outcome="failure", evidence="", exit_code=None, diff="",
            test_results="", failure_analysis="", reflection="", retry_count=0, retry_of="", git_commit="", tokens=None,
            started_at=1, duration=None, seal="")  # fmt: skip
        add(db, "attempt_file", attempt="A1", path=f"src/{CANARY}.py", role="modified")
        add(db, "interaction", id="I1", session=id, project=project, client="", prompt=f"where is {CANARY}?",
            response="", response_summary="", context="", lessons_used=f'["{lesson}"]', chunks_used="[]",
            created_at=1, seal="")  # fmt: skip
        add(db, "reinforcement", interaction="I1", lesson=lesson, matcher="stems", overlap=1.0, before=0.9, after=0.92,
            at=1)  # fmt: skip
        add(db, "document", id="D1", path="docs/a.md", project=project, hash="", title="A", type="", tags="[]",
            ingested_at=1, updated_at=1)  # fmt: skip
        for position, content in enumerate((f"The {CANARY} sings.", "The tide turns.")):
            add(db, "chunk", id=f"C{position}", document="D1", position=position, heading_path="", content=content,
                hash="", metadata="{}", created_at=1)  # fmt: skip
        fulltext.complete(db)
        add(db, "bootstrap", id="B1", session=id, project=project, agent="claude-code", task=f"the {CANARY}", budget=1,
            tokens=1, arm="", propensity=1.0, dealer="", text_hash="", created_at=1)  # fmt: skip
        add(db, "exposure", bootstrap="B1", item=lesson, event="start", rank=0, parts="{}", tokens=1, shown=1,
            chance=0.8, used=None)  # fmt: skip
        add(db, "standing", project=project, agent="", rank=0, section="", item=lesson, text=f"Use {CANARY}.")
        add(db, "hook_run", id="H1", at=1, event="start", agent="", microseconds=1, error=f"no {CANARY}")
        add(db, "metric_snapshot", at=1, scope=project, name="hits", value=1.0, numerator=1.0, denominator=1.0)
        db.put_vectors("model", [Vector(lesson, [1.0, 0.0]), Vector("A1", [0.0, 1.0])])
        lifecycle.edit(db, lesson, {"tags": [CANARY]}, actor="tester", why=f"about {CANARY}")
        other = lifecycle.create(db, made_by_hand("A heron is no bird of night.", project), [], actor="tester")
        lifecycle.link(db, other, "contradicts", lesson, actor="tester")
        lifecycle.open_conflict(db, [other, lesson], actor="tester")
        for table in ("attempt", "interaction"):
            integrity.reseal(db, table, ["A1", "I1"])
    assert sound(db) == []
    return canary


def add(db: Database, table: str, **row: Any) -> None:
    db.execute(insert(table, list(row)), list(row.values()))


def by(db: Database, table: str, column: str, value: str, more: str = "") -> str:
    return str(db.query(f"SELECT id FROM {table} WHERE {column} = ? {more}", (value,))[0][0])


def made_by_hand(text: str, project: str | None = None) -> LessonRow:
    return LessonRow(
        id="", kind="fact", text=text, scope="project" if project else "global", project=project, agent="",
        base_confidence=0.9, confidence=0.9, status="active", trust="human", rule="", failure="", first_seen=1,
        last_confirmed=1, source_count=0, harvester_version=0,
    )  # fmt: skip


def test_a_text_goes_from_every_table_index_and_vector_and_the_store_stays_sound(
    store: Database, tmp_path: Path
) -> None:
    filled(store, tmp_path)
    removed = forget(store, Target("text", text=CANARY))
    assert where(store, CANARY) == []
    assert sound(store) == []
    assert {"lesson", "failure", "attempt", "interaction", "chunk", "event", "call"} <= set(removed.rows)
    assert store.query("SELECT id FROM chunk") == [("C1",)]
    assert store.query("SELECT item FROM embedding") == []
    assert by(store, "session", "external_id", "s-canary"), "a session that only mentions it stays, with a mark"


def test_a_text_is_forgotten_in_longer_words_and_any_case_and_stays_so(store: Database, tmp_path: Path) -> None:
    spoken = ["Always use NightJarCorp tides.", "Never use a nightjar's nest.", "Always send letters by `raven`."]
    path = ClaudeSession("a").user("\n".join(spoken)).write(tmp_path)
    harvest(store, [path])
    forget(store, Target("text", text="NIGHTJAR"))
    again = ClaudeSession("b").user("\n".join(spoken)).write(tmp_path)
    harvest(store, [again])
    assert where(store, "nightjar") == []
    assert [text for (text,) in store.query("SELECT text FROM lesson")] == ["Always send letters by `raven`."]


def test_what_forgetting_a_text_leaves_is_what_a_harvest_without_it_gives(
    store: Database, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    paths = [session("s-canary", CANARY).write(tmp_path), plain("s-plain").write(tmp_path)]
    mixed = plain("s-mixed", day=3).run(f"make {CANARY}-nest", "Error: cannot find gauge", exit_code=2)
    paths.append(mixed.run("touch gauge", "ok").run(f"make {CANARY}-nest", "built").write(tmp_path))
    harvest(store, paths)
    forget(store, Target("text", text=CANARY))
    fresh = SqliteDatabase(tmp_path_factory.mktemp("fresh") / "hardwon.db", write=True)
    with fresh.transaction():
        for table in ("meta", "tombstone"):
            columns = fresh.columns()[table]
            fresh.bulk(insert(table, columns), store.query(f"SELECT {', '.join(columns)} FROM {table}"))
    harvest(fresh, paths)
    assert told(fresh) == told(store)
    before = told(store)
    for path in paths:
        path.touch()
    harvest(store, paths)
    assert told(store) | {"source": []} == before | {"source": []}
    fresh.close()


def test_a_session_forgotten_leaves_the_store_that_never_saw_it(
    store: Database, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = [plain("a", 2).write(tmp_path), plain("b", 3).write(tmp_path)]
    shares = plain("c", 1).run("make nest", "Error: no twigs", exit_code=1).write(tmp_path)
    harvest(store, [*kept, shares])
    assert store.query("SELECT sessions FROM failure ORDER BY sessions") == [(1,), (3,)]
    forget(store, store_forget.by_session(store, "c", str(shares)))
    never = SqliteDatabase(tmp_path_factory.mktemp("never") / "hardwon.db", write=True)
    harvest(never, kept)
    assert told(store) == told(never)
    assert sound(store) == []
    shares.touch()
    touched = harvest(store, [*kept, shares])
    assert (touched.sessions, told(store)) == (0, told(never))
    never.close()


def test_a_session_that_grows_or_has_new_subagents_stays_forgotten(store: Database, tmp_path: Path) -> None:
    first = session("s-canary", CANARY)
    harvest(store, [first.write(tmp_path), plain("a").write(tmp_path)])
    forget(store, store_forget.by_session(store, "s-canary", ""))
    grown = first.user(f"Never feed the {CANARY} at noon.").write(tmp_path)
    aside = session("s-canary", CANARY)
    for record in aside.records:
        record |= {"isSidechain": True, "agentId": "a1"}
    helper = aside.write(tmp_path / "s-canary" / "subagents")
    harvest(store, [grown, helper])
    assert where(store, CANARY) == []
    assert len(store.query("SELECT id FROM session")) == 1


def test_a_lesson_stays_forgotten_whoever_says_it_again(store: Database, tmp_path: Path) -> None:
    harvest(store, [session("a", CANARY).write(tmp_path)])
    lesson = by(store, "lesson", "kind", "preference")
    forget(store, store_forget.by_id(store, lesson[:8]))
    elsewhere = (session(name, CANARY, day=day, cwd="/srv/work/lagoon") for name, day in (("b", 4), ("c", 5)))
    harvest(store, [each.write(tmp_path) for each in elsewhere])
    assert store.query("SELECT id FROM lesson WHERE kind = 'preference'") == []
    assert store.query("SELECT id FROM lesson WHERE kind = 'pitfall'"), "other lessons of the sessions stay"
    assert sound(store) == []


def test_an_edited_lesson_does_not_come_back_in_its_first_words(store: Database, tmp_path: Path) -> None:
    harvest(store, [session("a", CANARY).write(tmp_path)])
    lesson = by(store, "lesson", "kind", "preference")
    with store.transaction():
        lifecycle.edit(store, lesson, {"text": "Always use herons."}, actor="tester")
    forget(store, store_forget.by_id(store, lesson))
    harvest(store, [session("b", CANARY, day=4).write(tmp_path)])
    assert store.query("SELECT id FROM lesson WHERE kind = 'preference'") == []


def test_a_failure_goes_with_its_fixes_and_lessons_and_stays_away(store: Database, tmp_path: Path) -> None:
    harvest(store, [session("a", CANARY).write(tmp_path), plain("b").write(tmp_path)])
    failure = by(store, "failure", "family", "python", f"AND signature LIKE '%{CANARY}%'")
    forget(store, store_forget.by_id(store, failure))
    harvest(store, [session("c", CANARY, day=5).write(tmp_path)])
    left = store.query("SELECT signature FROM failure")
    assert [CANARY in row[0] for row in left] == [False]
    assert not any(CANARY in row[0] for row in store.query("SELECT steps FROM fix"))
    assert not any(CANARY in row[0] for row in store.query("SELECT text FROM lesson WHERE kind = 'pitfall'"))
    assert sound(store) == []


def test_a_project_goes_with_everything_and_its_next_sessions_are_left_out(store: Database, tmp_path: Path) -> None:
    filled(store, tmp_path)
    harvest(store, [session("other", "heron", cwd="/srv/work/lagoon").write(tmp_path)])
    (reef,) = store.query("SELECT id FROM project WHERE name = 'reef'")[0]
    removed = forget(store, Target("project", frozenset((reef,))))
    assert len(removed.transcripts) == 2
    assert store.query("SELECT name FROM project") == [("lagoon",)]
    assert where(store, CANARY) == ["hook_run"]
    assert where(store, "asyncpg") == where(store, "reef") == []
    assert sound(store) == []
    before = everything(store)
    new = harvest(store, [plain("next", day=9).write(tmp_path)])
    after = everything(store)
    assert new.sessions == 0
    assert [table for table in after if after[table] != before[table]] == ["tombstone"]


@pytest.mark.parametrize(("kind", "id"), [("attempt", "A1"), ("interaction", "I1"), ("document", "D1")])
def test_what_people_and_agents_made_goes_by_its_id(store: Database, tmp_path: Path, kind: str, id: str) -> None:
    filled(store, tmp_path)
    removed = forget(store, store_forget.by_id(store, id))
    assert removed.rows[kind] == 1
    assert store.query(f"SELECT id FROM {kind} WHERE id = ?", (id,)) == []
    assert where(store, f"'{id.lower()}'") == []
    assert sound(store) == []


def test_the_audit_trail_keeps_its_chain_and_none_of_the_words(store: Database, tmp_path: Path) -> None:
    filled(store, tmp_path)
    lesson = by(store, "lesson", "kind", "preference", f"AND text LIKE '%{CANARY}%'")
    count = len(integrity.recent_events(store, 1000))
    forget(store, store_forget.by_id(store, lesson))
    assert integrity.broken_events(store) == []
    trail = integrity.recent_events(store, 1000)
    assert len(trail) == count + 1
    assert (trail[0].action, trail[0].item, trail[0].actor) == ("forget", "", "tester")
    assert trail[0].after["lesson"]["lesson"] == 1
    assert not any(lesson in repr(event) or "use nightjar" in repr(event).lower() for event in trail)


def test_a_lesson_of_one_forgotten_session_goes_though_a_person_kept_it(store: Database, tmp_path: Path) -> None:
    harvest(store, [session("a", CANARY).write(tmp_path)])
    lesson = by(store, "lesson", "kind", "preference")
    with store.transaction():
        lifecycle.edit(store, lesson, {"pinned": True}, actor="tester")
    forget(store, store_forget.by_session(store, "a", ""))
    assert where(store, CANARY) == []


def old_and_new(store: Database, tmp_path: Path) -> tuple[Path, int]:
    """An old session of its own, and one that says the same as a new one."""
    own = session("own", CANARY, day=1).write(tmp_path)
    harvest(store, [own, plain("old", 1).write(tmp_path), plain("new", 20).write(tmp_path)])
    (newest,) = store.query("SELECT max(started_at) FROM session")[0]
    return own, newest


def test_purging_keeps_what_a_newer_session_confirms_or_a_person_decided_on(store: Database, tmp_path: Path) -> None:
    own, newest = old_and_new(store, tmp_path)
    decided = by(store, "lesson", "kind", "preference", f"AND text LIKE '%{CANARY}%'")
    with store.transaction():
        lifecycle.edit(store, decided, {"pinned": True}, actor="tester")
    forget(store, Target("purge", before=newest, what="all"))
    assert store.query("SELECT external_id FROM session") == [("new",)]
    assert lessons.get(store, decided)
    assert not [row for row in store.query("SELECT text FROM lesson WHERE kind = 'pitfall'") if CANARY in row[0]]
    assert [(row.sessions, row.signature) for row in failures.listed(store)] == [
        (1, "ModuleNotFoundError: No module named 'asyncpg'")
    ]
    assert sound(store) == []
    assert harvest(store, [own]).sessions == 0, "a file that did not change is not read again"


def test_purging_one_project_or_kind_leaves_the_others(store: Database, tmp_path: Path) -> None:
    _, newest = old_and_new(store, tmp_path)
    before = everything(store)
    forget(store, Target("purge", before=newest, project="Pother"))
    forget(store, Target("purge", before=newest, what="interactions"))
    assert everything(store) == before


@pytest.mark.parametrize(
    "wanted",
    [
        Target("text", text="a heron nobody saw"),
        Target("lesson", frozenset(("Lnone",)), frozenset(("none",))),
        Target("session", frozenset(("Snone",))),
        Target("project", frozenset(("Pnone",))),
        Target("failure", frozenset(("Fnone",))),
        Target("purge", before=1),
    ],
)
def test_forgetting_what_is_not_there_changes_nothing(store: Database, tmp_path: Path, wanted: Target) -> None:
    filled(store, tmp_path)
    before = everything(store)
    assert not forget(store, wanted).rows
    assert everything(store) == before


def test_a_name_that_fits_nothing_or_several_is_refused(store: Database, tmp_path: Path) -> None:
    filled(store, tmp_path)
    for name in ("", "L", "Lzz", "no such session"):
        with pytest.raises(NotFound, match="nothing was forgotten"):
            store_forget.by_id(store, name)
    with pytest.raises(NotFound, match="nothing was forgotten"):
        store_forget.by_session(store, "no such session", "/nowhere")


def test_a_word_in_the_middle_of_a_store_larger_than_a_batch_is_found(store: Database) -> None:
    with store.transaction():
        failures.save(
            store, failures.Place("S1", "r", None, "a", 1), Findings([seen(at) for at in range(4500)], [], []), {}
        )
        meta.mark_stale(store, ["F1"])
    meta.recount_stale(store)
    removed = forget(store, Target("text", text=CANARY))
    assert removed.rows["occurrence"] == 1
    assert where(store, CANARY) == []
    assert failures.listed(store)[0].occurrences == 4499


def seen(at: int) -> Occurrence:
    return Occurrence(
        message_index=at, call_index=at, at=at, tool="Bash", command=f"make {CANARY if at == 3000 else at}",
        exit_code=1, fingerprint="F1", family="generic", error_type="", signature="Error: no", excerpt="",
    )  # fmt: skip


def test_the_whole_walk_works_on_either_engine(
    place: Path | str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(place, str):
        monkeypatch.setenv("HARDWON_DATABASE", place)
    path = session("s-canary", CANARY).write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path, plain("s-plain").write(tmp_path)])
        (home / "export").mkdir(parents=True)
        (home / "export" / "lessons.md").write_text(f"- {CANARY}\n- tides\n")
        plan = memory.store.forget(text=CANARY, dry_run=True)
        assert where(memory.reading(), CANARY)
        done = memory.store.forget(text=CANARY)
        assert (done.left, done.rows, done.transcripts) == ([], plan.rows, [str(path)])
        assert where(memory.reading(), CANARY) == []
        assert (home / "export" / "lessons.md").read_text() == "- tides\n"
        assert "asyncpg" in memory.bootstrap("reef").text
        old = memory.writing()
        with old.transaction():
            old.execute("UPDATE session SET ended_at = 1 WHERE external_id = 's-plain'")
            old.execute("UPDATE session SET ended_at = ? WHERE external_id = 's-canary'", (now(),))
        assert memory.store.purge(1).rows["session"] == 1


@pytest.fixture
def open_two(open_store: Open) -> tuple[Database, Database]:
    return open_store(write=True), open_store(write=True)


def test_a_harvest_under_way_does_not_bring_back_what_is_forgotten_meanwhile(
    open_two: tuple[Database, Database], tmp_path: Path
) -> None:
    harvesting, forgetting = open_two
    meta.prepare(harvesting)
    known = session("known", CANARY).write(tmp_path)
    harvest(harvesting, [known])
    late = session("late", CANARY, day=3).write(tmp_path)

    def meanwhile(what: str, done: int, _total: int) -> None:
        if what == "harvesting" and done == 0:
            forget(forgetting, Target("text", text=CANARY))

    harvest(harvesting, [late], meanwhile)
    assert where(harvesting, CANARY) == []
