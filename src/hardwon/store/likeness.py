"""Which lessons are to be compared: new or changed ones, each with those it has a key in common with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hardwon.store.database import Database, insert, marks

_AT_ONCE = 500
_PUT_KEY = insert("lesson_key", ("key", "lesson"), "ON CONFLICT (key, lesson) DO NOTHING")
_PUT_STATE = insert("lesson_compared", ("lesson", "state"), "ON CONFLICT (lesson) DO UPDATE SET state = excluded.state")
_STATE = "? || ' ' || l.status || ' ' || l.trust || ' ' || l.kept || ' ' || l.kind || ' ' || l.text_hash"
"""Whatever it depends on how a lesson is compared; with the project, for its keys name it."""


def changed(db: Database, project: str, version: int) -> dict[str, str]:
    """Lessons of a project that are not yet compared as they are now, each with its state."""
    mark = f"{version} {project}"
    return dict(
        db.query(
            f"SELECT l.id, {_STATE} FROM lesson l LEFT JOIN lesson_compared c ON c.lesson = l.id "
            f"WHERE l.project = ? AND (c.state IS NULL OR c.state <> {_STATE}) ORDER BY l.id",
            (mark, project, mark),
        )
    )


def compared(db: Database, states: dict[str, str], keys: Iterable[tuple[str, str]]) -> None:
    """Note lessons as compared in this state, with their keys: (key, lesson)."""
    db.bulk("DELETE FROM lesson_key WHERE lesson = ?", ((lesson,) for lesson in states))
    db.bulk(_PUT_KEY, keys)
    db.bulk(_PUT_STATE, states.items())


def groups(db: Database, keys: Iterable[str], most: int) -> Iterator[tuple[str, list[str]]]:
    """The lessons that have each key, the first of them in order of their ids."""
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), _AT_ONCE):
        found: dict[str, list[str]] = {}
        for key, lesson in _holders(db, wanted[start : start + _AT_ONCE]):
            found.setdefault(key, []).append(lesson)
        yield from ((key, lessons[:most]) for key, lessons in found.items())


def _holders(db: Database, keys: Sequence[str]) -> list[tuple[str, str]]:
    rows = db.query(f"SELECT key, lesson FROM lesson_key WHERE key IN ({marks(keys)}) ORDER BY key, lesson", keys)
    return [(row[0], row[1]) for row in rows]
