"""What may happen to a lesson, and that all of it is on record and can be taken back. On both engines."""

from __future__ import annotations

import pytest

from hardwon import NotAllowed, NotFound
from hardwon.store import fulltext, integrity, lessons, lifecycle
from hardwon.store.database import Database
from hardwon.store.lessons import Cited, LessonRow


def row(text: str, status: str = "candidate", **more: object) -> LessonRow:
    fields = {
        "id": "",
        "kind": "fact",
        "text": text,
        "scope": "global",
        "project": None,
        "agent": "",
        "base_confidence": 0.8,
        "confidence": 0.8,
        "status": status,
        "trust": "human",
        "rule": "",
        "failure": "",
        "first_seen": 5,
        "last_confirmed": 5,
        "source_count": 0,
        "harvester_version": 0,
    }
    return LessonRow(**{**fields, **more})  # type: ignore[arg-type]


def make(db: Database, text: str, status: str = "candidate", **more: object) -> str:
    with db.transaction():
        return lifecycle.create(db, row(text, status, **more), [], actor="ada")


def status(db: Database, id: str) -> str:
    return lifecycle.known(db, id).status


def test_the_same_words_stand_once_in_each_status(db: Database) -> None:
    first = make(db, "Port 8080 is taken.")
    assert make(db, "port  8080 is TAKEN.") == first
    assert make(db, "Port 8080 is taken.", "active") != first
    assert make(db, "Port 8080 is taken.", kind="pitfall") != first
    assert lessons.count(db) == 3


def test_a_second_telling_adds_its_source(db: Database) -> None:
    for message in (1, 2):
        with db.transaction():
            source = Cited("", "I1", message, "manual:1", 7, "port 8080 is taken", "user")
            id = lifecycle.create(db, row("Port 8080 is taken."), [source], actor="ada")
    assert [source.message_index for source in lessons.sources(db, id)] == [1, 2]


def test_many_at_once_are_as_many_one_by_one(db: Database) -> None:
    known = make(db, "Port 8080 is taken.")
    said = ["Use uv.", "port 8080  is taken.", "Use tabs.", "use UV.", "日本語 stays"]
    with db.transaction():
        ids = lifecycle.create_many(
            db,
            [(row(text), [Cited("", f"I{n}", n, "manual:1", 7, text, "user")]) for n, text in enumerate(said)],
            actor="ada",
        )
    assert (ids[1], ids[3]) == (known, ids[0])
    assert lessons.count(db) == len(set(ids)) == 4
    assert [source.message_index for source in lessons.sources(db, ids[0])] == [0, 3]
    assert [event.item for event in reversed(integrity.recent_events(db, 9))] == [known, ids[0], ids[2], ids[4]]
    assert [hit[0] for hit in db.matches(["tab"], 5)] == [ids[2]]
    assert (integrity.broken_events(db), integrity.broken_seals(db, "lesson"), fulltext.disagreements(db)) == (
        [],
        [],
        0,
    )
    with db.transaction():
        assert lifecycle.create_many(db, [], actor="ada") == []


def test_each_step_of_a_life_is_on_record_with_who_and_why(db: Database) -> None:
    id = make(db, "Use uv.")
    with db.transaction():
        lifecycle.promote(db, id, actor="ada", why="checked")
        lifecycle.archive(db, id, actor="bob", why="old")
        lifecycle.restore(db, id, actor="bob")
        lifecycle.invalidate(db, id, actor="ada", why="wrong")
    story = [
        (event.action, event.actor, event.why, event.after.get("status")) for event in integrity.events_of_item(db, id)
    ]
    assert story == [
        ("create", "ada", "", "candidate"),
        ("promote", "ada", "checked", "active"),
        ("archive", "bob", "old", "archived"),
        ("restore", "bob", "", "active"),
        ("invalidate", "ada", "wrong", "invalid"),
    ]
    assert integrity.broken_events(db) == []
    assert integrity.broken_seals(db, "lesson") == []


@pytest.mark.parametrize(
    ("start", "step"),
    [("active", "promote"), ("invalid", "archive"), ("candidate", "restore"), ("active", "restore")],
)
def test_what_cannot_be_is_refused_in_a_line(db: Database, start: str, step: str) -> None:
    id = make(db, "Use uv.", start)
    with pytest.raises(NotAllowed, match=id), db.transaction():
        getattr(lifecycle, step)(db, id, actor="ada")
    assert status(db, id) == start


def test_a_lesson_that_is_not_there_is_said(db: Database) -> None:
    with pytest.raises(NotFound, match="no lesson Lx"), db.transaction():
        lifecycle.promote(db, "Lx", actor="ada")


def test_an_edit_changes_what_is_found_and_keeps_the_id(db: Database) -> None:
    id = make(db, "The tide gauge listens on port 7070.", "active")
    with db.transaction():
        lifecycle.edit(db, id, {"text": "The buoy listens on port 7171.", "tags": ["ports"]}, actor="ada")
    assert lifecycle.known(db, id).tags == ("ports",)
    assert [hit[0] for hit in db.matches(["buoi", "buoy"], 5)] == [id]
    assert db.matches(["gaug", "gauge"], 5) == []
    assert fulltext.disagreements(db) == 0
    with pytest.raises(NotAllowed, match="empty"), db.transaction():
        lifecycle.edit(db, id, {"text": "  "}, actor="ada")
    with pytest.raises(NotAllowed, match="status"), db.transaction():
        lifecycle.edit(db, id, {"status": "active"}, actor="ada")


def test_a_newer_lesson_takes_the_place_of_an_older_which_stays_as_history(db: Database) -> None:
    old, new = make(db, "Python 3.11 is used.", "active"), make(db, "Python 3.13 is used.", "active")
    with db.transaction():
        lifecycle.supersede(db, old, new, actor="ada")
    lesson = lifecycle.known(db, old)
    assert (lesson.status, lesson.superseded_by) == ("superseded", new)
    assert lesson.valid_until is not None
    assert db.query("SELECT lesson, relation, other FROM lesson_link") == [(new, "supersedes", old)]
    with db.transaction():
        lifecycle.restore(db, old, actor="ada")
    assert (status(db, old), lifecycle.known(db, old).superseded_by) == ("active", "")


def test_any_step_can_be_taken_back_and_that_is_on_record_too(db: Database) -> None:
    id = make(db, "Use uv.", "active")
    with db.transaction():
        edited = lifecycle.edit(db, id, {"text": "Use pip."}, actor="ada")
        archived = lifecycle.archive(db, id, actor="ada")
    with db.transaction():
        lifecycle.undo(db, edited, actor="bob")
    assert (lifecycle.known(db, id).text, status(db, id)) == ("Use uv.", "archived")
    with db.transaction():
        lifecycle.undo(db, archived, actor="bob")
    assert status(db, id) == "active"
    assert [event.undoes for event in integrity.events_of_item(db, id)] == [None, None, None, edited, archived]
    with pytest.raises(NotAllowed, match="undone already"), db.transaction():
        lifecycle.undo(db, archived, actor="bob")


def test_what_was_built_upon_is_not_undone_by_surprise(db: Database) -> None:
    id = make(db, "Use uv.")
    with db.transaction():
        promoted = lifecycle.promote(db, id, actor="ada")
        archived = lifecycle.archive(db, id, actor="ada")
    with pytest.raises(NotAllowed, match=f"event {archived}"), db.transaction():
        lifecycle.undo(db, promoted, actor="ada")
    with db.transaction():
        lifecycle.undo(db, archived, actor="ada")
        lifecycle.undo(db, promoted, actor="ada")
    assert status(db, id) == "candidate"


@pytest.mark.parametrize("action", ["merge", "helped", "import"])
def test_what_left_nothing_to_put_back_cannot_be_undone(db: Database, action: str) -> None:
    """A merge of the harvest, somebody's word on a lesson, an import: they say what happened, not what was before."""
    told = integrity.Happened(action, make(db, "Use uv."), {}, {"from": "L1"} if action == "merge" else {})
    with db.transaction():
        (number,) = integrity.record_events(db, "harvest", 1, [told])
    with pytest.raises(NotAllowed, match="nothing that could be put back"), db.transaction():
        lifecycle.undo(db, number, actor="ada")


def test_links_are_made_and_undone(db: Database) -> None:
    one, two = make(db, "One."), make(db, "Two.")
    with db.transaction():
        made = lifecycle.link(db, one, "supports", two, actor="ada")
        assert db.query("SELECT count(*) FROM lesson_link") == [(1,)]
        lifecycle.undo(db, made, actor="ada")
    assert db.query("SELECT count(*) FROM lesson_link") == [(0,)]


def test_a_conflict_is_settled_by_a_person(db: Database) -> None:
    tabs, spaces = make(db, "Use tabs.", "active"), make(db, "Use spaces.", "active")
    with db.transaction():
        conflict = lifecycle.open_conflict(db, [tabs, spaces], actor="harvest")
        assert lifecycle.open_conflict(db, [spaces, tabs], actor="harvest") == conflict
    assert db.query("SELECT status FROM conflict") == [("open",)]
    with db.transaction():
        lifecycle.resolve_conflict(db, conflict, spaces, actor="ada")
    assert (status(db, tabs), status(db, spaces)) == ("superseded", "active")
    assert db.query("SELECT status FROM conflict") == [("resolved",)]
    with pytest.raises(NotAllowed, match="two lessons"), db.transaction():
        lifecycle.open_conflict(db, [tabs], actor="ada")


def test_the_trail_shows_where_it_was_tampered_with(db: Database) -> None:
    id = make(db, "Use uv.")
    with db.transaction():
        lifecycle.promote(db, id, actor="ada")
        lifecycle.archive(db, id, actor="ada")
    with db.transaction():
        db.execute("UPDATE event SET actor = 'mallory' WHERE number = 2")
    assert integrity.broken_events(db) == [2]
    with db.transaction():
        db.execute("UPDATE event SET actor = 'ada' WHERE number = 2")
        db.execute("DELETE FROM event WHERE number = 2")
    assert integrity.broken_events(db) == [3]


def test_a_forgotten_payload_leaves_the_chain_whole(db: Database) -> None:
    id = make(db, "The vault code is swordfish.")  # no digits: a hash holds any four by chance
    other = make(db, "Use uv.")
    with db.transaction():
        assert integrity.erase_events(db, [event.number for event in integrity.events_of_item(db, id)]) == 1
    assert integrity.broken_events(db) == []
    assert "swordfish" not in repr(db.query("SELECT * FROM event"))
    assert integrity.events_of_item(db, other)


def test_a_row_that_was_changed_behind_our_back_is_found(db: Database) -> None:
    id = make(db, "Use uv.", "active")
    with db.transaction():
        db.execute("UPDATE lesson SET text = 'Use pip.' WHERE id = ?", (id,))
    assert integrity.broken_seals(db, "lesson") == [id]


def test_what_came_into_the_store_out_of_use_can_be_restored(db: Database) -> None:
    id = make(db, "Port 8080 is taken.", "archived")
    with db.transaction():
        lifecycle.restore(db, id, actor="ada")
    assert status(db, id) == "candidate"


def test_a_lesson_is_never_of_another_scope_than_that_of_whom_it_belongs_to(db: Database) -> None:
    with db.transaction():
        for id in ("P1", "P2"):
            db.execute("INSERT INTO project (id, key, name) VALUES (?, ?, ?)", (id, id, id))
    id = make(db, "Use tabs.", "active", scope="project", project="P1")

    def changed(**fields: object) -> tuple[str, str, str]:
        with db.transaction():
            lifecycle.edit(db, id, fields, actor="ada")
        found = lifecycle.known(db, id)
        return found.scope, found.project, found.agent

    assert changed(scope="global") == ("global", "", "")
    with pytest.raises(NotAllowed, match="needs a project"):
        changed(scope="project")
    with pytest.raises(NotAllowed, match="needs an agent"):
        changed(scope="agent")
    assert changed(scope="agent", agent="codex") == ("agent", "", "codex")
    assert changed(project="P2") == ("project", "P2", "codex")
    assert changed(scope="project") == ("project", "P2", "codex")
    with pytest.raises(NotAllowed, match="no other does"):
        changed(scope="global", project="P1")
    with pytest.raises(NotAllowed, match="unknown scope 'team'"):
        changed(scope="team")
    with pytest.raises(NotAllowed, match="nothing to change"):
        changed()
    moved = [event.number for event in integrity.events_of_item(db, id) if event.action == "edit"]
    for number in reversed(moved):
        with db.transaction():
            lifecycle.undo(db, number, actor="ada")
    assert lifecycle.known(db, id).project == "P1"


def test_a_scope_that_an_older_version_changed_alone_is_told_as_the_lesson_is_told(db: Database) -> None:
    with db.transaction():
        db.execute("INSERT INTO project (id, key, name) VALUES ('P1', 'P1', 'P1')")
    one = make(db, "Use tabs.", scope="global", project="P1")
    other = make(db, "Use spaces.", scope="project", project=None)
    assert [lifecycle.known(db, id).scope for id in (one, other)] == ["project", "global"]
