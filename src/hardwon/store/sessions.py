"""Sessions and their calls; the files they were read from; what a model has read of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.model.session import Message, Session
from hardwon.store import fulltext, integrity, meta, schema
from hardwon.store.database import Database, batches, insert, marks
from hardwon.text.normalise import blake2b, derived

_DONE = insert("distilled", ("session", "state"), "ON CONFLICT (session) DO UPDATE SET state = excluded.state")
_WINDOW = insert(
    "distilled_window",
    ("session", "window_hash", "claims", "checked"),
    "ON CONFLICT (session, window_hash) DO UPDATE SET claims = excluded.claims, checked = excluded.checked",
)


class SessionRow(NamedTuple):
    id: str
    agent: str
    external_id: str
    subagent: str
    root: str
    project: str | None
    format: str
    version: str
    path: str
    branch: str
    task: str
    started_at: int
    ended_at: int
    messages: int
    user_messages: int
    tool_calls: int
    errors: int
    unknown_records: int
    redactions: int
    outcome: str
    content_hash: str
    harvester_version: int
    tokens_in: int | None = None
    """What the agent read and wrote, estimated from the transcript."""
    tokens_out: int | None = None
    owner: str = "own"
    """`own`, or `foreign`: what somebody else said to their agent."""


class Trail(NamedTuple):
    """What tells that a session begins with a copy of another."""

    opening: str
    """A hash of all up to the first message that no two sessions have in common by chance; empty without one."""
    digests: str
    """A short hash of every message, one after the other."""
    copied: int = 0
    """How many of the messages stand in an earlier session."""


class CallRow(NamedTuple):
    session: str
    position: int
    message_index: int
    at: int | None
    tool: str
    action: str
    subject: str
    outcome: str
    evidence: str
    exit_code: int | None
    tokens: int
    suggested: int = 0


def session_id(session: Session) -> str:
    return derived("S", session.agent, session.external_id, session.subagent)


def root_of(agent: str, external_id: str) -> str:
    """What counts as one session, however many sub-agents it had."""
    return f"{agent}:{external_id}"


class Held(NamedTuple):
    """What must be known of the copy of a session that the store holds, to tell whether another one is better."""

    messages: int
    """With those that it copied."""
    content_hash: str
    harvester_version: int
    owner: str
    path: str
    format: str
    project: str


def held(db: Database, id: str) -> Held | None:
    rows = db.query(
        "SELECT s.messages + coalesce(t.copied, 0), s.content_hash, s.harvester_version, s.owner, s.path, s.format, "
        "coalesce(s.project, '') FROM session s LEFT JOIN trail t ON t.session = s.id WHERE s.id = ?",
        (id,),
    )
    return Held(*rows[0]) if rows else None


def foreign_files(db: Database) -> set[str]:
    """Files of which a session was taken as another's."""
    return {row[0] for row in db.query("SELECT DISTINCT path FROM session WHERE owner = 'foreign'")}


def link_commits(db: Database, made: Iterable[tuple[str, str, int]]) -> int:
    """Note which commits sessions made: (the agent's own id of the session, commit, when). Inside a transaction.

    Returns how many of them are new.
    """
    columns = ("external_id", "sha", "at")
    before = db.query("SELECT count(*) FROM session_commit")[0][0]
    db.bulk(insert("session_commit", columns, "ON CONFLICT (external_id, sha) DO NOTHING"), made)
    return int(db.query("SELECT count(*) FROM session_commit")[0][0]) - int(before)


def commits_of(db: Database, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The agents' own ids of sessions → the commits that each made, the latest last."""
    found: dict[str, tuple[str, ...]] = {}
    for part in batches(sorted(set(names))):
        where = f"external_id IN ({marks(part)})"
        for name, sha in db.query(f"SELECT external_id, sha FROM session_commit WHERE {where} ORDER BY at, sha", part):
            found[name] = (*found.get(name, ()), sha)
    return found


def stopped(db: Database, ids: Iterable[str]) -> set[str]:
    """Of sessions that failed those that the user stopped: their last judged call passed, or was cut short, or none."""
    found: set[str] = set()
    for part in batches(sorted(set(ids))):
        rows = db.query(
            "SELECT id, (SELECT CASE WHEN c.evidence = 'interrupted' THEN 'ok' ELSE c.outcome END FROM call c "
            "WHERE c.session = session.id AND c.outcome <> 'unknown' ORDER BY c.position DESC LIMIT 1) "
            f"FROM session WHERE outcome = 'failure' AND id IN ({marks(part)})",
            part,
        )
        found.update(id for id, last in rows if last != "error")
    return found


def of_file(db: Database, path: str) -> list[str]:
    return [row[0] for row in db.query("SELECT id FROM session WHERE path = ?", (path,))]


def of_history(db: Database, path: str) -> list[tuple[str, int]]:
    """(session, the version that read it) of a file of SpecStory."""
    return db.query("SELECT id, harvester_version FROM session WHERE path = ? AND format = 'specstory'", (path,))


def add(db: Database, row: SessionRow, calls: Sequence[CallRow], trail: Trail | None = None) -> None:
    """Write a session; what an earlier reading of it left must have been removed."""
    sealed = integrity.seal_of_fields("session", row._asdict(), (value for call in calls for value in call))
    db.execute(insert("session", (*SessionRow._fields, "seal")), (*row, sealed))
    db.bulk(insert("call", CallRow._fields), calls)
    if trail is not None and trail.opening:
        db.execute(insert("trail", ("session", *Trail._fields)), (row.id, *trail))
    if row.task:
        fulltext.add(db, row.id, "session", row.task)


def remove(db: Database, id: str, *, but_lessons_of: str = "") -> None:
    """A session and what was found in it, but for what supports the lessons of a rule that will not look again."""
    db.unindex([row[0] for row in db.query("SELECT id FROM passage WHERE source = ?", (id,))])
    for table in schema.TABLES.evidence:
        spared = " AND lesson NOT IN (SELECT id FROM lesson WHERE rule = ?)" if table == "lesson_source" else ""
        db.execute(f"DELETE FROM {table} WHERE source = ?{spared}", (id, but_lessons_of) if spared else (id,))
    if not but_lessons_of:
        db.execute("DELETE FROM distilled WHERE session = ?", (id,))
    db.execute("DELETE FROM session WHERE id = ?", (id,))
    fulltext.remove(db, id)


def starts(db: Database, project: str, limit: int) -> list[int]:
    """When the newest sessions of a project began, the earliest of them first; sub-agents are no sessions."""
    rows = db.query(
        "SELECT started_at FROM session WHERE project = ? AND subagent = '' ORDER BY started_at DESC LIMIT ?",
        (project, limit),
    )
    return [row[0] for row in reversed(rows)]


def totals(db: Database) -> dict[str, int]:
    names = ("sessions", "subagents", "messages", "tool_calls", "errors", "redactions")
    row = db.query(
        "SELECT count(CASE WHEN subagent = '' THEN 1 END), count(CASE WHEN subagent <> '' THEN 1 END), "
        "coalesce(sum(messages), 0), "
        "coalesce(sum(tool_calls), 0), coalesce(sum(errors), 0), coalesce(sum(redactions), 0) FROM session"
    )[0]
    return {name: int(value) for name, value in zip(names, row, strict=True)}


def read_again(db: Database) -> None:
    """Let the next harvest read every transcript that is still there. Inside a transaction."""
    ids = [row[0] for row in db.query("SELECT id FROM session")]
    db.execute("UPDATE session SET harvester_version = 0")
    integrity.reseal(db, "session", ids)
    db.execute("DELETE FROM source WHERE refused = ''")


# Files that were looked at: what lets an unchanged file go unread.


def known_files(db: Database, harvester_version: int) -> dict[str, tuple[int, int]]:
    """Path → (size, modification time) of every file this harvester has dealt with."""
    rows = db.query("SELECT path, size, modified FROM source WHERE harvester_version = ?", (harvester_version,))
    return {path: (size, modified) for path, size, modified in rows}


def save_file(
    db: Database,
    path: str,
    stamp: tuple[int, int],
    *,
    refused: str = "",
    damaged: int = 0,
    harvester_version: int,
) -> None:
    db.execute(
        "INSERT INTO source (path, size, modified, harvester_version, refused, damaged) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET size = excluded.size, "
        "modified = excluded.modified, "
        "harvester_version = excluded.harvester_version, refused = excluded.refused, damaged = excluded.damaged",
        (path, *stamp, harvester_version, refused, damaged),
    )


def newest_files(db: Database, most: int, max_bytes: int) -> list[str]:
    """The files that were last changed, of those that are not too long."""
    query = "SELECT path FROM source WHERE size <= ? ORDER BY modified DESC, path LIMIT ?"
    return [str(row[0]) for row in db.query(query, (max_bytes, most))]


def file_totals(db: Database) -> tuple[int, int, int]:
    """(files, refused files, damaged stretches)."""
    row = db.query("SELECT count(*), count(*) FILTER (WHERE refused <> ''), coalesce(sum(damaged), 0) FROM source")[0]
    return int(row[0]), int(row[1]), int(row[2])


# What a model has read: sessions it is done with, and questions about those it is not, each with the claims it drew.


def mark_distilled(db: Database, session: str, state: str) -> None:
    """Called inside a transaction."""
    db.execute(_DONE, (session, state))


def distilled_window(db: Database, session: str, hash: str) -> str | None:
    """What was drawn from a question about a session, as JSON, while not all of it is read."""
    rows = db.query("SELECT claims FROM distilled_window WHERE session = ? AND window_hash = ?", (session, hash))
    return rows[0][0] if rows else None


def drop_windows(db: Database, ids: Iterable[str]) -> None:
    """Called inside a transaction, when what was drawn is written."""
    db.bulk("DELETE FROM distilled_window WHERE session = ?", ((id,) for id in ids))


def keep_window(db: Database, session: str, hash: str, claims: str) -> None:
    """Called inside a transaction."""
    db.execute(_WINDOW, (session, hash, claims, 1))


# Passages of sessions: what was said and done, some hundred characters at a time, for a person to find it by.


class Passage(NamedTuple):
    """A stretch of a session: its lines, each marked with whose it is."""

    nth: int
    message_index: int
    """Where it begins."""
    at: int | None
    text: str


_PASSAGE_COLUMNS = ("id", "source", *Passage._fields)


def add_passages(db: Database, source: str, said: Iterable[Passage], started_at: int) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    rows = [(derived("W", source, str(one.nth)), source, *one._replace(at=one.at or started_at)) for one in said]
    db.bulk(insert("passage", _PASSAGE_COLUMNS), rows)
    db.index(fulltext.entry(row[0], "passage", row[-1]) for row in rows)


def passages_are_kept(db: Database) -> bool:
    return meta.note(db, "passages") != "off"


def follow_passage_setting(db: Database, *, wanted: bool) -> None:
    """Remove all of them once they are not wanted; when they are wanted again, all transcripts are to be read anew."""
    if passages_are_kept(db) is wanted:
        return
    with db.transaction():
        if wanted:
            read_again(db)
        else:
            db.unindex([row[0] for row in db.query("SELECT id FROM passage")])
            db.execute("DELETE FROM passage")
        meta.set_note(db, "passages", "on" if wanted else "off")


# What people typed that sounds like a rule: evidence of what they say again, and what waits to be looked at.

_MOST_STATEMENTS_READ = 20_000


class Said(NamedTuple):
    """A sentence of a session, as it is kept."""

    message_index: int
    nth: int
    text: str
    """As a lesson would tell it."""
    quote: str
    worth: float


class StatementRow(NamedTuple):
    source: str
    root: str
    at: int
    message_index: int
    nth: int
    text: str
    quote: str
    worth: float


_ADD_STATEMENT = insert("statement", ("source", *Said._fields))
_STATEMENT_COLUMNS = "t.source, s.root, s.started_at, t.message_index, t.nth, t.text, t.quote, t.worth"


def add_statements(db: Database, source: str, said: Iterable[Said]) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    db.bulk(_ADD_STATEMENT, ((source, *one) for one in said))


def statements_of_project(db: Database, project: str) -> list[StatementRow]:
    """Of one's own sessions, the earliest first."""
    rows = db.query(
        f"SELECT {_STATEMENT_COLUMNS} FROM statement t JOIN session s ON s.id = t.source WHERE s.project = ? "
        "AND s.owner = 'own' ORDER BY s.started_at, t.source, t.message_index, t.nth LIMIT ?",
        (project, _MOST_STATEMENTS_READ),
    )
    return [StatementRow(*row) for row in rows]


def statement(db: Database, source: str, message_index: int, nth: int) -> StatementRow | None:
    rows = db.query(
        f"SELECT {_STATEMENT_COLUMNS} FROM statement t JOIN session s ON s.id = t.source "
        "WHERE t.source = ? AND t.message_index = ? AND t.nth = ?",
        (source, message_index, nth),
    )
    return StatementRow(*rows[0]) if rows else None


_CHARACTERS_TO_FIND_IT_BY = 40
TYPED = "> "
MARKS = (TYPED, "$ ", "! ", "~ ")
"""How lines of passages begin: typed, a command, an error, a file; what the agent said has no mark."""


def statements_no_lesson_says(db: Database, project: str | None) -> list[StatementRow]:
    """The most worth first; a lesson made of one by hand and taken back says nothing."""
    where, values = ("s.project = ? AND ", [project]) if project else ("", [])
    rows = db.query(
        f"SELECT {_STATEMENT_COLUMNS} FROM statement t JOIN session s ON s.id = t.source WHERE {where}s.owner = 'own' "
        "AND NOT EXISTS (SELECT 1 FROM lesson_source o JOIN lesson l ON l.id = o.lesson WHERE o.source = t.source "
        "AND o.quote = t.quote AND NOT (l.status = 'archived' AND l.rule = '')) "
        "ORDER BY t.worth DESC, s.started_at DESC, t.source, t.message_index, t.nth",
        values,
    )
    found = [StatementRow(*row) for row in rows]
    return list({row.quote: row for row in reversed(found)}.values())[::-1]  # a forked session says it again


def words_around(db: Database, source: str, quote: str) -> tuple[str, str]:
    """(what the agent said last before a sentence was typed, the message it stands in), as far as search keeps them."""
    rows = db.query("SELECT text FROM passage WHERE source = ? ORDER BY nth", (source,))
    lines = [line for (text,) in rows for line in text.splitlines()]
    words = " ".join(quote.split())[:_CHARACTERS_TO_FIND_IT_BY]
    at = next((at for at, line in enumerate(lines) if line.startswith(TYPED) and words in line), None)
    if at is None:
        return "", ""
    before = lines[at - 1] if at and not lines[at - 1].startswith(MARKS) else ""
    return before, lines[at].removeprefix(TYPED)


# Sessions that begin with a copy of another, as a resumed or forked one does: what tells.

CHARACTERS_PER_DIGEST = 7
"""A letter for who spoke, and 24 bits: enough where every message before was the same."""
_MESSAGES_IN_A_TRAIL = 5_000
_LENGTH_OF_A_UNIQUE_ID = 10
"""Ids of calls that are drawn at random are longer; those that are counted are shorter."""
_CHARACTERS_NO_TWO_AGENTS_SAY = 200


def trail_of(session: Session) -> Trail:
    """By which a copy of the beginning of this session is known, whatever its times and the ids of its messages are."""
    digests: list[str] = []
    opening = ""
    for message in session.messages[:_MESSAGES_IN_A_TRAIL]:
        digests.append(_message_digest(message))
        if not opening and _is_unique(message):
            opening = blake2b("".join(digests).encode(), digest_size=12).hexdigest()
    return Trail(opening, "".join(digests))


def _is_unique(message: Message) -> bool:
    """Whether no other session can have said this by itself: the same prompt is given often, and answered with `ls`."""
    if any(len(call.id) >= _LENGTH_OF_A_UNIQUE_ID and not call.id.isdigit() for call in message.calls):
        return True
    return message.origin == "agent" and len(message.text) >= _CHARACTERS_NO_TWO_AGENTS_SAY


def _message_digest(message: Message) -> str:
    parts = [message.role, message.text]
    for call in message.calls:
        parts += (call.id, call.name, call.command or call.target, call.detail)
    for result in message.results:
        parts += (result.call_id, result.text)
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return ("u" if message.origin == "user" else ".") + blake2b(said, digest_size=3).hexdigest()


def copied(db: Database, row: SessionRow, trail: Trail) -> int:
    """How many messages of a session stand in another, which has their evidence.

    A stranger's log can take nothing from one's own: only own sessions count for those.
    """
    if not trail.opening:
        return 0
    found = db.query(
        "SELECT t.digests, t.copied FROM trail t JOIN session s ON s.id = t.session "
        "WHERE t.opening = ? AND t.session <> ? AND (s.owner = 'own' OR ? = 'foreign')",
        (trail.opening, row.id, row.owner),
    )
    shared = ((in_common(trail.digests, digests), theirs) for digests, theirs in found)
    return max((count for count, theirs in shared if count > theirs), default=0)


def in_common(one: str, other: str) -> int:
    """How many messages two trails begin with alike."""
    low, high = 0, min(len(one), len(other)) // CHARACTERS_PER_DIGEST
    while low < high:
        middle = (low + high + 1) // 2
        at = middle * CHARACTERS_PER_DIGEST
        low, high = (middle, high) if one[:at] == other[:at] else (low, middle - 1)
    return low
