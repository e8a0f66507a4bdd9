"""What a store knows of itself: its keys, tokens and answered requests, what must be recounted, what was forgotten."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, json

from hardwon.errors import NotAllowed
from hardwon.store import failures, lessons
from hardwon.store.database import Database, insert, marks
from hardwon.store.spool import dealer
from hardwon.text.normalise import FORGOTTEN, blank, digest, lazy_pattern, normalised

if TYPE_CHECKING:
    from hardwon.scrub.scrubber import Scrubber


_KEYS = ("fence_key", "forget_key", "scrub_key")
ANSWERS_KEPT_MICROSECONDS = 24 * 3600 * 1_000_000
_ANSWERED_COLUMNS = ("caller", "key", "request", "item", "at")
_SNAPSHOTS_COLUMNS = ("at", "scope", "name", "value", "numerator", "denominator")


def prepare(db: Database) -> None:
    """Give a new store its own keys; an old one keeps those it has."""
    known = {row[0] for row in db.query("SELECT key FROM meta")}
    if missing := [name for name in _KEYS if name not in known]:
        keys = [(name, os.urandom(16).hex()) for name in missing]
        with db.transaction():
            db.bulk(insert("meta", ("key", "value"), "ON CONFLICT (key) DO NOTHING"), keys)


def fence_key(db: Database) -> bytes:
    return _key(db, "fence_key")


def forget_key(db: Database) -> bytes:
    """What tombstones are hashed with, so that nobody can guess at what they stand for."""
    return _key(db, "forget_key")


def store_id(db: Database) -> str:
    """What tells this store from others: the same wherever it is moved to, and no way back to its keys."""
    return dealer(fence_key(db))


def exports(db: Database) -> list[str]:
    """The folders and files outside the home folder that something was exported to."""
    rows = db.query("SELECT value FROM meta WHERE key = 'exports'")
    return sorted(rows[0][0].split("\n")) if rows and rows[0][0] else []


def remember_export(db: Database, path: str) -> None:
    """So that `forget` reaches it; called inside a transaction."""
    known = "\n".join(sorted({*exports(db), path}))
    replace = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    db.execute(insert("meta", ("key", "value"), replace), ("exports", known))


def scrub_key(db: Database) -> bytes | None:
    """What the marks of secrets are hashed with; a store that was never written by this version has none."""
    return _key(db, "scrub_key") if db.query("SELECT 1 FROM meta WHERE key = 'scrub_key'") else None


def rules_version(db: Database) -> int:
    """Of the rules that were last applied to all sessions."""
    return int(note(db, "rules") or 0)


def remember_rules(db: Database, version: int) -> None:
    """Called inside a transaction."""
    set_note(db, "rules", str(version))


def note(db: Database, name: str) -> str:
    rows = db.query("SELECT value FROM meta WHERE key = ?", (name,))
    return str(rows[0][0]) if rows else ""


def set_note(db: Database, name: str, value: str) -> None:
    """Called inside a transaction."""
    replace = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    db.execute(insert("meta", ("key", "value"), replace), (name, value))


def _key(db: Database, name: str) -> bytes:
    return bytes.fromhex(db.query("SELECT value FROM meta WHERE key = ?", (name,))[0][0])


def ids_like(db: Database, beginning: str, *, sessions: bool = False) -> list[str]:
    """Lessons, failures, fixes and attempts whose id begins so; at most two, which is enough to see ambiguity."""
    end = beginning + "\uffff"
    tables = ("lesson", "failure", "fix", "attempt", *(["session"] if sessions else []))
    each = " UNION ALL ".join(f"SELECT id FROM {table} WHERE id >= ? AND id < ?" for table in tables)
    rows = db.query(f"{each} ORDER BY 1 LIMIT 2", (beginning, end) * len(tables))
    return [row[0] for row in rows]


def sessions_of_agents(db: Database, named: str) -> list[str]:
    """The sessions that an agent calls so, a sub-agent's with its own name behind a slash; at most two."""
    rows = db.query(
        "SELECT id FROM session WHERE external_id = ? AND subagent = '' UNION "
        "SELECT id FROM session WHERE external_id = ? AND subagent = ? ORDER BY 1 LIMIT 2",
        (named, *(named.rpartition("/")[::2] if "/" in named else (named, ""))),
    )
    return [row[0] for row in rows]


def words_of_ids(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """Id → what a lesson, a failure, an attempt or a session says, where it says anything; of a fix what failed."""
    parts = (
        ("lesson", "text"),
        ("failure", "coalesce(nullif(words, ''), signature)"),
        ("attempt", "task"),
        ("session", "task"),
    )
    each = " UNION ALL ".join(f"SELECT id, {text} FROM {table} WHERE id IN ({marks(ids)})" for table, text in parts)
    error = "coalesce(nullif(f.words, ''), f.signature)"
    each += (
        f" UNION ALL SELECT x.id, {error} FROM fix x JOIN failure f ON f.id = x.failure WHERE x.id IN ({marks(ids)})"
    )
    return dict(db.query(each, [*ids] * (len(parts) + 1)))


def ids_of(db: Database, table: str, beginning: str, most: int) -> list[str]:
    """The rows of a table whose id begins so."""
    found = db.query(
        f"SELECT id FROM {table} WHERE id >= ? AND id < ? ORDER BY 1 LIMIT ?", (beginning, beginning + "\uffff", most)
    )
    return [row[0] for row in found]


def attempt_numbered(db: Database, number: int) -> list[str]:
    """The id of the attempt that the journal gave this number, if there is one."""
    return [row[0] for row in db.query("SELECT id FROM attempt WHERE number = ?", (min(number, 2**53),))]


_SHORT_ID = 9


def short_id(db: Database, id: str) -> str:
    """The beginning of an id that no other has: a letter and eight digits, or as many as that takes."""
    lengths = range(_SHORT_ID, len(id))
    return next((id[:to] for to in lengths if len(ids_like(db, id[:to], sessions=True)) < 2), id)


# A Scrubber for what goes into one store.


def scrubber(db: Database) -> Scrubber:
    """It gives a secret the same mark as everything else in this store."""
    from hardwon.scrub.scrubber import Scrubber  # noqa: PLC0415 - its tables take longer than most of what reads

    return Scrubber(key=scrub_key(db))


# Who may use the service: tokens, of which only a hash is kept.


class TokenRow(NamedTuple):
    id: str
    name: str
    hash: str
    scopes: str
    """Separated by spaces, as are the projects' ids; no project means all."""
    projects: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None


_COLUMNS = ", ".join(TokenRow._fields)


def add_token(db: Database, row: TokenRow) -> None:
    db.execute(insert("token", TokenRow._fields), row)


def get_token(db: Database, id: str) -> TokenRow | None:
    rows = db.query(f"SELECT {_COLUMNS} FROM token WHERE id = ?", (id,))
    return TokenRow(*rows[0]) if rows else None


def list_tokens(db: Database) -> list[TokenRow]:
    return [TokenRow(*row) for row in db.query(f"SELECT {_COLUMNS} FROM token ORDER BY created_at, id")]


def revoke_token(db: Database, id: str, at: int) -> bool:
    return db.changed("UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, id)) > 0


def replace_token(db: Database, row: TokenRow, hash: str) -> bool:
    """Another in the place of the one with this hash, if that is still there."""
    values = (row.hash, row.scopes, row.created_at, row.expires_at, row.id, hash)
    changed = "UPDATE token SET hash = ?, scopes = ?, created_at = ?, expires_at = ? WHERE id = ? AND hash = ?"
    return db.changed(changed, values) > 0


def drop_tokens(db: Database, beginning: str, *, before: int) -> None:
    """Those that have ended whose scopes begin so."""
    db.execute(
        "DELETE FROM token WHERE substr(scopes, 1, ?) = ? AND expires_at < ?", (len(beginning), beginning, before)
    )


# How much a store may hold, and for how long: what its owner allows a workspace.


class Limits(Struct, frozen=True):
    sessions: int = 0
    """Most that are kept; 0 for any number, as below."""
    bytes: int = 0
    retain_days: int = 0
    """What is older is dropped by the worker; in the place of the setting."""


def limits(db: Database) -> Limits:
    return decoded_limits(note(db, "limits"))


def decoded_limits(text: str) -> Limits:
    return json.decode(text, type=Limits) if text else Limits()


def set_limits(db: Database, wanted: Limits) -> None:
    """Called inside a transaction."""
    set_note(db, "limits", json.encode(wanted).decode())


def need_room(db: Database, sessions: Sequence[str] = ()) -> None:
    """For these sessions, or for anything that is kept. Raises `NotAllowed` where the limits leave none."""
    allowed = limits(db)
    drop = "`hardwon purge` drops what is old, `hardwon workspace limit` shows and sets the limit"
    if allowed.sessions and sessions:
        held = int(db.query("SELECT count(*) FROM session")[0][0])
        known = db.query(f"SELECT count(*) FROM session WHERE id IN ({marks(sessions)})", sessions)[0][0]
        if held + len(set(sessions)) - known > allowed.sessions:
            raise NotAllowed(f"this workspace is full: {held:,} of {allowed.sessions:,} sessions; {drop}")
    if allowed.bytes and (size := size_of(db)) > allowed.bytes:
        raise NotAllowed(f"this workspace is full: {size:,} of {allowed.bytes:,} bytes; {drop}")


_SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "postgresql": "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
    "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
}


def size_of(db: Database) -> int:
    """How many bytes the store takes, indexes included."""
    return int(db.query(_SIZES[db.engine])[0][0])


# Jobs of the worker that were given up, as procrastinate keeps them, with what we noted of the last try.


def failed_jobs(db: Database) -> list[tuple[int, str, str, int, str]]:
    """(id, task, what it was about, tries, error) of each, the newest first; none where no worker ever ran."""
    known = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'procrastinate_jobs'"
    if db.engine != "postgresql" or not db.query(known):
        return []
    rows = db.query(
        "SELECT j.id, j.task_name, coalesce(j.args ->> 'place', ''), j.attempts, coalesce(m.value, '') "
        "FROM procrastinate_jobs j LEFT JOIN meta m ON m.key = 'job ' || j.id "
        "WHERE j.status = 'failed' ORDER BY j.id DESC LIMIT 100"
    )
    return [(int(id), str(task), str(about), int(tries), str(error)) for id, task, about, tries, error in rows]


def note_job(db: Database, id: int, error: str) -> None:
    """How the last try of a job went. Of those given up for the same thing before, only the newest is worth keeping."""
    same = "(SELECT task_name, coalesce(args ->> 'place', '') FROM procrastinate_jobs WHERE id = ?)"
    older = "SELECT id FROM procrastinate_jobs WHERE status = 'failed' AND id < ? AND "
    older += f"(task_name, coalesce(args ->> 'place', '')) = {same}"
    with db.transaction():
        gone = [row[0] for row in db.query(older, (id, id))]
        db.bulk("DELETE FROM procrastinate_jobs WHERE id = ?", ((one,) for one in gone))
        db.bulk("DELETE FROM meta WHERE key = ?", ((f"job {one}",) for one in (*gone, id)))
        if error:
            set_note(db, f"job {id}", error)


# Requests that were answered, so that one that is sent again is not done again.


class Answered(NamedTuple):
    request: str
    """A hash of what was asked."""
    item: str
    """What came of it."""


def answered(db: Database, caller: str, key: str, at: int) -> Answered | None:
    """What came of the request that had this key within a day. Inside the transaction that does what is asked."""
    # Older versions noted what was under way, without an item.
    db.execute("DELETE FROM answered WHERE at < ? OR item = ''", (at - ANSWERS_KEPT_MICROSECONDS,))
    rows = db.query("SELECT request, item FROM answered WHERE caller = ? AND key = ?", (caller, key))
    return Answered(*rows[0]) if rows else None


def remember_answer(db: Database, caller: str, key: str, answer: Answered, at: int) -> None:
    """Inside the transaction that did what was asked."""
    db.execute(insert("answered", _ANSWERED_COLUMNS), (caller, key, *answer, at))


# What was pushed to a team's service, or to this one.

FORGOTTEN_HERE = "forgotten"
"""Before a hash: it is to be withdrawn, or is not taken again."""
_PUSHED = insert(
    "pushed", ("item", "author", "hash", "at"), "ON CONFLICT (item, author) DO UPDATE SET hash = excluded.hash, "
    "at = excluded.at"
)  # fmt: skip


def pushed(db: Database, author: str) -> dict[str, str]:
    """Item → hash of what was sent of it."""
    return {f"S{item}": hash for item, hash in db.query("SELECT item, hash FROM pushed WHERE author = ?", (author,))}


def pushed_by(db: Database, session: str) -> dict[str, str]:
    """Author → hash of what was sent of a session."""
    return dict(db.query("SELECT author, hash FROM pushed WHERE item = ?", (session[1:],)))


def note_pushed(db: Database, hashes: Iterable[tuple[str, str]], author: str, at: int) -> None:
    """Inside a transaction; (session, hash) of each."""
    db.bulk(_PUSHED, ((session[1:], author, hash, at) for session, hash in hashes))


def drop_pushed(db: Database, sessions: Iterable[str], author: str) -> None:
    """Inside a transaction."""
    db.bulk("DELETE FROM pushed WHERE item = ? AND author = ?", ((session[1:], author) for session in sessions))


def mark_pushed_forgotten(db: Database, items: Iterable[str]) -> None:
    """Inside the transaction that forgets them."""
    gone = [(f"{FORGOTTEN_HERE} ", id[1:]) for id in sorted(items) if id.startswith("S")]
    db.bulk("UPDATE pushed SET hash = ? || hash WHERE item = ?", gone)


# Metrics as they were at some moment, to see where they go.


def save_snapshot(db: Database, at: int, scope: str, values: Iterable[tuple[str, float | None, int]]) -> None:
    """(name, value, n) of each, for a project or, with an empty scope, for all. Called inside a transaction."""
    replace = "ON CONFLICT (at, scope, name) DO UPDATE SET value = excluded.value, denominator = excluded.denominator"
    rows = [(at, scope, name, value, None, float(n)) for name, value, n in values]
    db.bulk(insert("metric_snapshot", _SNAPSHOTS_COLUMNS, replace), rows)


def latest_snapshot(db: Database, scope: str) -> int:
    """When the last one was taken; 0 if none was."""
    return int(db.query("SELECT coalesce(max(at), 0) FROM metric_snapshot WHERE scope = ?", (scope,))[0][0])


def snapshot_before(db: Database, at: int, scope: str) -> dict[str, float]:
    """Name → value in the newest snapshot that is not younger than this."""
    rows = db.query(
        "SELECT name, value FROM metric_snapshot WHERE scope = ? AND value IS NOT NULL AND at = "
        "(SELECT max(at) FROM metric_snapshot WHERE scope = ? AND at <= ?)",
        (scope, scope, at),
    )
    return dict(rows)


# What must be recounted: marked with the change, recounted once when the change is done.
#
# Recounting at every session would cost as much as there is, not as much as is new. A harvest that was killed leaves
# its marks, and the next one starts with them. A marked project has standing lines that are behind.

_ITEMS_PER_TRANSACTION = 500
_RULES = "R"
"""Before a project's id: the rules over its sessions must be applied again."""
_MARK_STALE = insert("stale", ("item",), "ON CONFLICT (item) DO NOTHING")


def mark_stale(db: Database, items: Iterable[str]) -> None:
    db.bulk(_MARK_STALE, ((item,) for item in items))


def clear_stale(db: Database, items: Iterable[str]) -> None:
    db.bulk("DELETE FROM stale WHERE item = ?", ((item,) for item in items))


def recount_stale(db: Database) -> set[str]:
    """Bring every marked count up to date; returns the projects concerned, which are marked in turn."""
    projects: set[str] = set()
    marked = "SELECT item FROM stale WHERE item < 'P' ORDER BY item LIMIT ?"
    while items := [row[0] for row in db.query(marked, (_ITEMS_PER_TRANSACTION,))]:
        counted = [_recount(db, lane, some) for lane, some in _lanes(db, items)]
        projects.update(*filter(None, counted))
        if not any(one is not None for one in counted):  # somebody else has counted them meanwhile
            break
    return projects


def _recount(db: Database, lane: str | None, items: Sequence[str]) -> set[str] | None:
    """Returns the projects concerned; None where there was nothing left to do."""
    with db.transaction(lane):
        claimed = [
            row[0] for row in db.claim(f"SELECT item FROM stale WHERE item IN ({marks(items)}) ORDER BY item", items)
        ]
        taught = lessons.projects_of(db, claimed) if claimed else set()
        if not claimed or (lane and taught - {lane}):  # one was just moved: it is marked again, for another lane
            return set() if claimed else None
        concerned = failures.projects_of(db, claimed) | taught
        failures.refresh(db, (item for item in claimed if item.startswith("F")))
        lessons.refresh(db, (item for item in claimed if item.startswith("L")))
        clear_stale(db, claimed)
        mark_stale(db, sorted(concerned))
        return concerned


def _lanes(db: Database, items: Sequence[str]) -> list[tuple[str | None, list[str]]]:
    """What can be counted while others write: a project's lessons in its lane, failures in one of their own.

    Failures are asked for before any project is marked, here as everywhere, so that nobody waits in a circle.
    """
    if db.engine == "sqlite":
        return [(None, list(items))]
    held: dict[str, str | None] = dict(db.query(f"SELECT id, project FROM lesson WHERE id IN ({marks(items)})", items))
    found: dict[str | None, list[str]] = {}
    for item in items:
        found.setdefault(held.get(item, "failures"), []).append(item)
    return list(found.items())


def stale_projects(db: Database) -> list[str]:
    """The projects whose standing lines are behind."""
    return [row[0] for row in db.query("SELECT item FROM stale WHERE item >= 'P' AND item < 'Q' ORDER BY item")]


def mark_for_rules(db: Database, projects: Iterable[str]) -> None:
    """Sessions of these projects are new: the rules that count over all of them are behind."""
    mark_stale(db, (_RULES + project for project in projects))


def stale_for_rules(db: Database) -> list[str]:
    rows = db.query("SELECT item FROM stale WHERE item >= 'R' AND item < 'S' ORDER BY item")
    return [row[0][len(_RULES) :] for row in rows]


def rules_done(db: Database, project: str) -> None:
    clear_stale(db, [_RULES + project])


def mark_projects_of_lesson(db: Database, lesson: str) -> None:
    """A lesson changed: the lines of its project are behind; those of every project, if it belongs to none."""
    mark_projects_stale(db, {row[0] for row in db.query("SELECT project FROM lesson WHERE id = ?", (lesson,))})


def mark_projects_stale(db: Database, holders: Collection[str | None]) -> None:
    """Lessons of these projects changed; `None` stands for one that belongs to none and may be told in all."""
    everywhere = any(holder is None for holder in holders)
    mark_stale(db, (row[0] for row in db.query("SELECT id FROM project")) if everywhere else filter(None, holders))


# What was forgotten on purpose, known again when it comes by, from keyed hashes alone.
#
# A text is forgotten as a sequence of words: case, spaces and punctuation do not matter, so the same words are found
# again wherever they are quoted. Nothing here holds the words themselves.

# Scripts without spaces: each character counts as a word, so that a part of a sentence is found in it.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# A mark counts as a word, too: what stands before and after it is no sequence.
_WORD = lazy_pattern(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+|\u2039+")
_MAX_WORDS_CACHED = 200_000


class Stone(NamedTuple):
    """A tombstone. `hint` says how many words a text has, and two bytes about its first word."""

    kind: str
    hash: str
    hint: int = 0


def words(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [word.casefold() for word in _WORD.findall(blank(text))]


def covering(text: str, start: int, end: int) -> list[str]:
    """The whole words that a stretch of a text touches."""
    return [found[0].casefold() for found in _WORD.finditer(text) if found.end() > start and found.start() < end]


def stone(key: bytes, kind: str, *parts: str) -> Stone:
    """What is kept of something forgotten: a keyed hash of it."""
    return Stone(kind, digest(kind, *parts, size=16, key=key))


def text_stone(key: bytes, sequence: Sequence[str]) -> Stone:
    """The same for words in a row; its hint tells how many they are, and a little of the first."""
    return stone(key, "text", *sequence)._replace(hint=len(sequence) | _first_bits(key, sequence[0]) << 16)


def _first_bits(key: bytes, word: str) -> int:
    return int(digest("first word", word, size=2, key=key), 16)


class Forgotten:
    """Answers whether something is forgotten. Empty, and false, where nothing is."""

    def __init__(self, key: bytes = b"", stones: Iterable[Stone] = ()) -> None:
        self._key = key
        self._hashes: set[tuple[str, str]] = set()
        self._lengths: dict[int, set[int]] = {}
        self._begins: dict[str, tuple[int, ...]] = {}
        for kind, hash, hint in stones:
            self._hashes.add((kind, hash))
            if kind == "text":
                self._lengths.setdefault(hint >> 16, set()).add(hint & 0xFFFF)

    def __len__(self) -> int:
        return len(self._hashes)

    def holds(self, kind: str, *parts: str) -> bool:
        """Whether the thing with this natural key is forgotten."""
        return bool(self._hashes) and stone(self._key, kind, *parts)[:2] in self._hashes

    def says(self, text: str) -> bool:
        """Whether a text has forgotten words in it."""
        return bool(self._lengths) and next(self._found(words(text)), None) is not None

    def masked(self, text: str) -> str:
        """The text with a mark in place of forgotten words."""
        pieces: list[str] = []
        done = 0
        for start, end in self.stretches(text):
            pieces += (text[done:start], FORGOTTEN)
            done = end
        return "".join(pieces) + text[done:]

    def stretches(self, text: str) -> list[tuple[int, int]]:
        """Where the forgotten words stand: (start, end), in order and apart."""
        if not self.says(text):
            return []
        places = list(_WORD.finditer(blank(text)))
        stretches: list[tuple[int, int]] = []
        for first, count in self._found([place[0].casefold() for place in places]):
            start, end = places[first].start(), places[first + count - 1].end()
            if stretches and start < stretches[-1][1]:
                start, end = stretches[-1][0], max(end, stretches.pop()[1])
            stretches.append((start, end))
        return stretches

    def _found(self, sequence: Sequence[str]) -> Iterator[tuple[int, int]]:
        """(where it begins, how many words), in order."""
        for first, word in enumerate(sequence):
            for count in self._may_begin(word):
                if first + count <= len(sequence) and self.holds("text", *sequence[first : first + count]):
                    yield first, count

    def _may_begin(self, word: str) -> tuple[int, ...]:
        """How long the forgotten texts are that may begin with a word; mostly none."""
        known = self._begins.get(word)
        if known is None:
            if len(self._begins) >= _MAX_WORDS_CACHED:
                self._begins.clear()
            known = tuple(sorted(self._lengths.get(_first_bits(self._key, word), ())))
            self._begins[word] = known
        return known


# What stays of a thing that was forgotten: a keyed hash, so that the next harvest does not bring it back.


_UNPROVEN = "forgetting "


def unproven(db: Database) -> dict[str, str]:
    """Keyed hash of what was asked → what was still found of it, sealed: all rows are gone, not yet every byte."""
    rows = db.query(f"SELECT key, value FROM meta WHERE key LIKE '{_UNPROVEN}%'")
    return {key.removeprefix(_UNPROVEN): value for key, value in rows}


def set_unproven(db: Database, asked: str, found: str | None) -> None:
    """Called inside a transaction; None once it is proven."""
    if found is None:
        db.execute("DELETE FROM meta WHERE key = ?", (_UNPROVEN + asked,))
    else:
        set_note(db, _UNPROVEN + asked, found)


def load_tombstones(db: Database) -> Forgotten:
    stones = [Stone(*row) for row in db.query("SELECT kind, hash, hint FROM tombstone")]
    return Forgotten(forget_key(db), stones) if stones else Forgotten()


def current_tombstones(db: Database, known: Forgotten) -> Forgotten:
    """What is forgotten by now; asked inside the transaction that is going to write."""
    return known if db.query("SELECT count(*) FROM tombstone")[0][0] == len(known) else load_tombstones(db)


def add_tombstones(db: Database, stones: Iterable[Stone], at: int) -> None:
    rows = [(*stone, at) for stone in stones]
    db.bulk(insert("tombstone", ("kind", "hash", "hint", "at"), "ON CONFLICT (kind, hash) DO NOTHING"), rows)


def lesson_stone(key: bytes, text: str) -> Stone:
    """By its words alone: they must not come back under another project, agent or kind."""
    return stone(key, "lesson", normalised(text))


def session_stone(key: bytes, id: str) -> Stone:
    return stone(key, "session", id)


def root_stone(key: bytes, agent: str, external_id: str) -> Stone:
    """A session with all the sub-agents that it has and will have."""
    return stone(key, "session", agent, external_id)


def file_stone(key: bytes, path: str, size: int, modified: int) -> Stone:
    """A file that holds nothing but what is forgotten, for as long as it does not change."""
    return stone(key, "file", path, str(size), str(modified))
