"""Forgetting words wherever they stand: what is made of them goes, what only mentions them is masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from hardwon.scrub.forgotten import Forgotten, covering, words
from hardwon.scrub.marks import blank
from hardwon.store import schema, seal
from hardwon.store.database import Database, Row, marks
from hardwon.store.ddl import Effect, Table
from hardwon.store.forget import Removal, batches
from hardwon.store.free_text import changed, holders, texts

Sequences = set[tuple[str, ...]]


def pattern_of(text: str) -> re.Pattern[str]:
    """Any case, any white space."""
    return re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)


def sequences(db: Database, text: str) -> Sequences:
    """The words to forget: those of the text, and every longer word that it is a part of here."""
    pattern = pattern_of(text)
    found: Sequences = {tuple(words(text))}
    for table in holders():
        for _, row in table.walk(db, list(table.free_text)):
            for column, value in zip(table.free_text, row, strict=True):
                for said in texts(table, column, value):
                    if pattern.search(said):
                        plain = blank(said)
                        found.update(tuple(covering(plain, *match.span())) for match in pattern.finditer(plain))
    return {sequence for sequence in found if sequence}


def mentions(db: Database, forgotten: Forgotten) -> bool:
    """Whether any row has forgotten words in it."""
    return next(_rows_with(db, forgotten), None) is not None


def forget(db: Database, forgotten: Forgotten, removal: Removal) -> None:
    """Apply tombstones of words to every row, as a harvest would have; called inside a transaction."""
    hits = _Hits(removal)
    for table, effect, key, column, value in _rows_with(db, forgotten):
        hits.take(table, effect, key, column, value)
        for said in texts(table, column, value):
            removal.words.update(said[start:end] for start, end in forgotten.stretches(said))
    hits.apply(db, forgotten)


def _rows_with(db: Database, forgotten: Forgotten) -> Iterator[tuple[Table, Effect, Row, str, str]]:
    """(table, effect, key, column, value) wherever there are forgotten words."""
    for table in holders():
        for key, row in table.walk(db, list(table.free_text)):
            for (column, effect), value in zip(table.free_text.items(), row, strict=True):
                if any(forgotten.says(said) for said in texts(table, column, value)):
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
            where = _where(schema.named()[table])
            for key in sorted(keys):
                if table in ("occurrence", "tried"):
                    found = db.query(f"SELECT source, failure FROM {table} WHERE {where}", key)
                    lost.update(found if table == "occurrence" else ())
                    self._removal.touch(row[1] for row in found)
                elif table == "lesson_source":
                    self._removal.touch([key[0]])
                elif table == "standing":
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
            if db.execute("UPDATE fix_evidence SET avoid = ? WHERE fix = ? AND source = ?", (encoded, *key)):
                self._removal.rows["fix_evidence"] += 1
                self._removal.touch(row[0] for row in db.query("SELECT failure FROM fix WHERE id = ?", key[:1]))

    def _mask(self, db: Database, forgotten: Forgotten) -> None:
        sealed_by = {name: name for name in schema.sealed()}
        sealed_by |= {table.sealed_with: table.name for table in schema.TABLES if table.sealed_with}
        again: dict[str, set[str]] = {}
        for table, key, column, value in self._masks:
            masked = changed(table, column, value, forgotten.masked)
            if db.execute(f"UPDATE {table.name} SET {column} = ? WHERE {_where(table)}", (masked, *key)):
                self._removal.rows[table.name] += 1
                if table.name in sealed_by:
                    again.setdefault(sealed_by[table.name], set()).add(key[0])
        for name, ids in again.items():
            seal.renew(db, name, sorted(ids))

    def _name_transcripts(self, db: Database) -> None:
        for part in batches(sorted(self._sources)):
            rows = db.query(f"SELECT path FROM session WHERE id IN ({marks(part)})", part)
            self._removal.transcripts.update(row[0] for row in rows)


def _where(table: Table) -> str:
    return " AND ".join(f"{name} = ?" for name in table.key)
