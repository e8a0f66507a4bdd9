"""What is to be forgotten: named by a person, found in a store, removed from it; words wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hardwon.clock import now
from hardwon.errors import NotFound
from hardwon.store import integrity, meta, schema
from hardwon.store.database import Database, Effect, Row, Table, batches, marks
from hardwon.store.deletion import Removal, changed_text, free_text_tables, texts_in
from hardwon.store.integrity import Happened
from hardwon.store.meta import Forgotten, Stone, covering, stone, text_stone, words
from hardwon.text.normalise import blank, normalised, text_hash, tilde

# Forgetting words wherever they stand: what is made of them goes, what only mentions them is masked.

Sequences = set[tuple[str, ...]]
_NAMED: tuple[Kind, ...] = ("lesson", "failure", "attempt", "session", "interaction", "document")
_BROUGHT = ("lesson", "attempt", "interaction", "chunk")
"""What an import may bring, and what goes with the words in it."""


def pattern_of(text: str) -> re.Pattern[str]:
    """Any case, any white space."""
    return re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)


def sequences(db: Database, text: str) -> Sequences:
    """The words to forget: those of the text, and every longer word that it is a part of here."""
    pattern = pattern_of(text)
    found: Sequences = {tuple(words(text))}
    for table in free_text_tables():
        for _, row in table.walk(db, list(table.free_text)):
            for column, value in zip(table.free_text, row, strict=True):
                for said in texts_in(table, column, value):
                    if pattern.search(said):
                        plain = blank(said)
                        found.update(tuple(covering(plain, *match.span())) for match in pattern.finditer(plain))
    return {sequence for sequence in found if sequence}


def mentions_words(db: Database, forgotten: Forgotten) -> bool:
    """Whether any row has forgotten words in it."""
    return next(_rows_with(db, forgotten), None) is not None


def forget_words(db: Database, forgotten: Forgotten, removal: Removal) -> None:
    """Apply tombstones of words to every row, as a harvest would have; called inside a transaction."""
    hits = _Hits(removal)
    for table, effect, key, column, value in _rows_with(db, forgotten):
        hits.take(table, effect, key, column, value)
        for said in texts_in(table, column, value):
            removal.words.update(said[start:end] for start, end in forgotten.stretches(said))
    hits.apply(db, forgotten)


def _rows_with(db: Database, forgotten: Forgotten) -> Iterator[tuple[Table, Effect, Row, str, str]]:
    """(table, effect, key, column, value) wherever there are forgotten words."""
    for table in free_text_tables():
        for key, row in table.walk(db, list(table.free_text)):
            for (column, effect), value in zip(table.free_text.items(), row, strict=True):
                if any(forgotten.says(said) for said in texts_in(table, column, value)):
                    yield table, effect, key, column, value


class _Hits:
    """Rows with forgotten words, sorted by what is to become of them."""

    def __init__(self, removal: Removal) -> None:
        self._removal = removal
        self._things: dict[str, set[str]] = {}
        self._rows: dict[str, set[Row]] = {}
        self._masks: list[tuple[Table, Row, str, str]] = []
        self._avoid: list[tuple[Row, str]] = []
        self._events: list[int] = []
        self._sources: set[str] = set()

    def take(self, table: Table, effect: Effect, key: Row, column: str, value: str) -> None:
        if effect == "mask":
            self._masks.append((table, key, column, value))
        elif effect == "row":
            self._rows.setdefault(table.name, set()).add(key)
        elif effect == "avoid":
            self._avoid += [(key, value)] if table.name == "fix_evidence" else []
        elif effect == "erase":
            self._events.append(key[0])
        else:
            self._things.setdefault(effect, set()).add(key[0])
        self._sources.update(map(str, key))  # a session among them is one whose transcript has the words

    def apply(self, db: Database, forgotten: Forgotten) -> None:
        removal = self._removal
        self._name_transcripts(db)
        lost = self._drop_rows(db)
        take: dict[str, Callable[[set[str]], None]] = {
            "project": removal.projects,
            "session": removal.sessions,
            "failure": removal.failures,
            "fix": removal.fixes,
            "lesson": removal.lessons,
            "attempt": removal.attempts,
            "interaction": removal.interactions,
            "document": removal.documents,
            "chunk": removal.chunks,
        }
        for noun, ids in self._things.items():
            take[noun](ids)
        self._drop_evidence(db, lost)
        self._shorten(db, forgotten)
        self._mask(db, forgotten)
        removal.erase_events(self._events)

    def _drop_rows(self, db: Database) -> set[tuple[str, str]]:
        """Returns (source, failure) of the occurrences that went."""
        lost: set[tuple[str, str]] = set()
        for table, keys in self._rows.items():
            where = _where(schema.TABLES.named[table])
            for key in sorted(keys):
                if table in ("occurrence", "tried"):
                    found = db.query(f"SELECT source, failure FROM {table} WHERE {where}", key)
                    lost.update(found if table == "occurrence" else ())
                    self._removal.touch(row[1] for row in found)
                elif table == "lesson_source":
                    self._removal.touch([key[0]])
                elif table == "map_visit":
                    self._removal.redraw([key[0]])
                elif table in ("standing", "map_file", "map_command"):
                    self._removal.concern([key[0]])
                self._removal.rows_of(table, where, key)
        return lost

    def _drop_evidence(self, db: Database, lost: set[tuple[str, str]]) -> None:
        """A session that has no occurrence of a failure left proves no fix of it."""
        for source, failure in sorted(lost):
            if not db.query("SELECT 1 FROM occurrence WHERE source = ? AND failure = ? LIMIT 1", (source, failure)):
                of_failure = "source = ? AND fix IN (SELECT id FROM fix WHERE failure = ?)"
                self._removal.rows_of("fix_evidence", of_failure, (source, failure))

    def _shorten(self, db: Database, forgotten: Forgotten) -> None:
        """Tries that did not help are left out one by one."""
        for key, value in self._avoid:
            steps: list[Any] = msgspec.json.decode(value)
            left = [step for step in steps if not any(map(forgotten.says, step))]
            encoded = msgspec.json.encode(left).decode()
            if db.changed("UPDATE fix_evidence SET avoid = ? WHERE fix = ? AND source = ?", (encoded, *key)):
                self._removal.rows["fix_evidence"] += 1
                self._removal.touch(row[0] for row in db.query("SELECT failure FROM fix WHERE id = ?", key[:1]))

    def _mask(self, db: Database, forgotten: Forgotten) -> None:
        sealed_by = {name: name for name in schema.TABLES.sealed}
        sealed_by |= {table.sealed_with: table.name for table in schema.TABLES if table.sealed_with}
        again: dict[str, set[str]] = {}
        for table, key, column, value in self._masks:
            masked = changed_text(table, column, value, forgotten.masked)
            if db.changed(f"UPDATE {table.name} SET {column} = ? WHERE {_where(table)}", (masked, *key)):
                self._removal.rows[table.name] += 1
                if table.name in sealed_by:
                    again.setdefault(sealed_by[table.name], set()).add(key[0])
        for name, ids in again.items():
            integrity.reseal(db, name, sorted(ids))
        opened = sorted({key[0] for table, key, _, _ in self._masks if table.name == "opened"})
        for part in batches(opened):  # whose words, one by one, stand in the map
            rows = db.query(f"SELECT DISTINCT project FROM session WHERE id IN ({marks(part)})", part)
            self._removal.redraw(row[0] for row in rows if row[0])

    def _name_transcripts(self, db: Database) -> None:
        for part in batches(sorted(self._sources)):
            rows = db.query(f"SELECT path FROM session WHERE id IN ({marks(part)})", part)
            self._removal.transcripts.update(row[0] for row in rows)


def _where(table: Table) -> str:
    return " AND ".join(f"{name} = ?" for name in table.key)


# What is to be forgotten: named by a person, found in a store, removed from it.

Kind = Literal["lesson", "failure", "session", "attempt", "interaction", "document", "project", "text", "purge"]
What = Literal["sessions", "interactions", "all"]


class Target(Struct, frozen=True):
    """Things of one kind by their ids, or a text; `hashes` are of lessons that say the same elsewhere."""

    kind: Kind
    ids: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()
    text: str = ""
    before: int = 0
    what: What = "all"
    project: str = ""


def by_id(db: Database, name: str) -> Target:
    """The lesson, failure, attempt, session, … whose id begins so."""
    end = name + "\uffff"
    found = [
        (kind, row[0])
        for kind in _NAMED
        for row in db.query(f"SELECT id FROM {kind} WHERE id >= ? AND id < ? ORDER BY id LIMIT 2", (name, end))
    ]
    if len(found) != 1 or not name:
        what = "several ids begin" if found else "nothing has an id that begins"
        raise NotFound(
            f"{what} with '{name}': nothing was forgotten; `hardwon lessons` and `hardwon failures` list ids"
        )
    ((kind, id),) = found
    if kind == "lesson":
        return _lesson(db, id)
    return Target(kind, frozenset(_with_subagents(db, id) if kind == "session" else (id,)))


def by_session(db: Database, name: str, path: str) -> Target:
    """A session by id or its beginning, the agent's own id, or its transcript; with its sub-agents."""
    rows = db.query(
        "SELECT DISTINCT root FROM session WHERE id = ? OR external_id = ? OR path IN (?, ?)",
        (name, name, tilde(path), path),
    )
    if not rows:
        end = name + "\uffff"
        rows = db.query("SELECT DISTINCT root FROM session WHERE id >= ? AND id < ? LIMIT 2", (name, end))
        if len(rows) != 1:
            what = f"several ids of sessions begin with '{name}'" if rows else f"no session '{name}' is known"
            raise NotFound(f"{what}: nothing was forgotten")
    return Target("session", frozenset(_ids_of_roots(db, [row[0] for row in rows])))


def _lesson(db: Database, id: str) -> Target:
    """With every lesson that says the same words, whoever they are for."""
    said = db.query("SELECT text FROM lesson WHERE id = ?", (id,))[0][0]
    return Target("lesson", frozenset((id,)), frozenset((text_hash(said),)))


def _with_subagents(db: Database, id: str) -> list[str]:
    return _ids_of_roots(db, [row[0] for row in db.query("SELECT root FROM session WHERE id = ?", (id,))])


def _ids_of_roots(db: Database, roots: list[str]) -> list[str]:
    return [row[0] for row in db.query(f"SELECT id FROM session WHERE root IN ({marks(roots)})", roots)]


def remove(db: Database, target: Target, sequences: Sequences, actor: str) -> Removal:
    """Take it out of a store and leave tombstones, in a transaction of the caller's.

    What is not there leaves the store as it was.
    """
    key = meta.forget_key(db)
    removal = Removal(db, keep_decided=target.kind == "purge")
    stones = list(_stones(db, key, target, sequences))
    if target.kind == "text":
        forget_words(db, forgotten(db, sequences), removal)
    elif target.kind == "purge":
        _purge(db, target, removal)
    else:
        _take(db, target, removal)
    removal.finish()
    if target.kind != "purge":  # what is merely old here is not old for a team
        meta.mark_pushed_forgotten(db, removal.items)
    if removal.rows:
        meta.add_tombstones(db, (*stones, *removal.stones), now())
        action = "purge" if target.kind == "purge" else "forget"
        integrity.record_events(
            db, actor, now(), [Happened(action, "", {}, {str(target.kind): dict(sorted(removal.rows.items()))})]
        )
    return removal


def is_in(db: Database, target: Target, sequences: Sequences) -> bool:
    """Whether a copy of the store has anything of it."""
    if target.kind == "text":
        return mentions_words(db, forgotten(db, sequences))
    return bool(_there(db, target))


def forgotten(db: Database, sequences: Sequences) -> Forgotten:
    """What knows these words again."""
    key = meta.forget_key(db)
    return Forgotten(key, (text_stone(key, sequence) for sequence in sequences))


def bury(db: Database, target: Target, sequences: Sequences) -> None:
    """Leave tombstones of a text that only copies had."""
    meta.add_tombstones(db, _stones(db, meta.forget_key(db), target, sequences), now())


def _take(db: Database, target: Target, removal: Removal) -> None:
    {
        "lesson": removal.lessons,
        "failure": removal.failures,
        "session": removal.sessions,
        "attempt": removal.attempts,
        "interaction": removal.interactions,
        "document": removal.documents,
        "project": removal.projects,
    }[target.kind](_there(db, target))


def _there(db: Database, target: Target) -> list[str]:
    """The ids of the target that this store has: a copy may be of another time."""
    found = [
        row[0]
        for part in batches(target.ids)
        for row in db.query(f"SELECT id FROM {target.kind} WHERE id IN ({marks(part)})", part)
    ]
    for said in target.hashes:
        found += [row[0] for row in db.query("SELECT id FROM lesson WHERE text_hash = ?", (said,))]
    return found


def _stones(db: Database, key: bytes, target: Target, sequences: Iterable[tuple[str, ...]]) -> Iterator[Stone]:
    """What keeps the target from coming back, made before it is gone."""
    if target.kind == "text":
        yield from (text_stone(key, sequence) for sequence in sorted(sequences))
        return
    for id in _there(db, target) if target.ids else ():
        if target.kind == "lesson":
            yield from (meta.lesson_stone(key, text) for text in _wordings(db, id))
        elif target.kind == "session":
            yield meta.session_stone(key, id)
            yield from (meta.root_stone(key, *row) for row in _rows(db, "agent, external_id", "session", "id", id))
        elif target.kind == "project":
            yield from (stone(key, "project", row[0]) for row in _rows(db, "key", "project", "id", id))
            yield from (stone(key, "project", row[0]) for row in _rows(db, "path", "project_root", "project", id))
        elif target.kind in ("failure", "attempt"):
            yield stone(key, target.kind, id)


def _wordings(db: Database, lesson: str) -> set[str]:
    """A lesson's words as they are and as they were: a session still says what a person has edited since."""
    told = {row[0] for row in _rows(db, "text", "lesson", "id", lesson)}
    for event in integrity.events_of_item(db, lesson):
        told.update(fields["text"] for fields in (event.before, event.after) if "text" in fields)
    return told


def _rows(db: Database, columns: str, table: str, by: str, id: str) -> list[tuple[str, ...]]:
    return db.query(f"SELECT {columns} FROM {table} WHERE {by} = ?", (id,))


def _purge(db: Database, target: Target, removal: Removal) -> None:
    """What is older than a moment; lessons and fixes that a person decided on stay."""

    def old(table: str, column: str) -> list[str]:
        where = f"{column} < ? AND (? = '' OR project = ?)"
        rows = db.query(f"SELECT id FROM {table} WHERE {where}", (target.before, target.project, target.project))
        return [row[0] for row in rows]

    if target.what in ("sessions", "all"):
        removal.sessions(old("session", "ended_at"))
    if target.what in ("interactions", "all"):
        removal.interactions(old("interaction", "created_at"))
    if target.what == "all":
        removal.attempts(old("attempt", "started_at"))
        removal.bootstraps(old("bootstrap", "created_at"))
        if not target.project:
            removal.rows_of("hook_run", "at < ?", (target.before,))


# What was forgotten does not come back through an import, either.


Found = dict[str, list[str]]
"""Table → ids."""


def forget_again(db: Database, before: Found) -> int:
    """Take out what was forgotten on purpose and has just been brought back; inside that transaction.

    What was there `before` although it was forgotten once, somebody has added again since: it stays.
    """
    found = once_forgotten(db)
    back = {table: [id for id in ids if id not in set(before.get(table, ()))] for table, ids in found.items()}
    if not any(back.values()):
        return 0
    removal = Removal(db)
    removal.projects(back["project"])
    removal.sessions(back["session"])
    removal.failures(back["failure"])
    removal.lessons(back["lesson"])
    removal.attempts(back["attempt"])
    removal.interactions(back["interaction"])
    removal.chunks(back["chunk"])
    removal.finish()
    return sum(map(len, back.values()))


def once_forgotten(db: Database) -> Found:
    """What is in the store although the like of it was forgotten."""
    forgotten = meta.load_tombstones(db)
    if not forgotten:
        return {}
    back: Found = {}
    for table in _BROUGHT:
        columns = [name for name, effect in schema.TABLES.named[table].free_text.items() if effect == table]
        rows = db.query(f"SELECT id, {', '.join(columns)} FROM {table}")
        back[table] = [row[0] for row in rows if forgotten.holds(table, row[0]) or any(map(forgotten.says, row[1:]))]
    said = set(back["lesson"])
    back["lesson"] += [
        id
        for id, text in db.query("SELECT id, text FROM lesson")
        if id not in said and forgotten.holds("lesson", normalised(text))
    ]
    back["failure"] = [row[0] for row in db.query("SELECT id FROM failure") if forgotten.holds("failure", row[0])]
    back["session"] = [
        id
        for id, agent, name in db.query("SELECT id, agent, external_id FROM session")
        if forgotten.holds("session", id) or forgotten.holds("session", agent, name)
    ]
    back["project"] = [id for id, key in db.query("SELECT id, key FROM project") if forgotten.holds("project", key)]
    return back
