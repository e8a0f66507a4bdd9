"""Sessions and their calls; the files they were read from; what a model has read of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.model.session import Session
from hardwon.store import fulltext, integrity, schema
from hardwon.store.database import Database, batches, insert, marks
from hardwon.text.normalise import derived

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


def held(db: Database, id: str) -> Held | None:
    rows = db.query(
        "SELECT s.messages + coalesce(t.copied, 0), s.content_hash, s.harvester_version, s.owner, s.path, s.format "
        "FROM session s LEFT JOIN trail t ON t.session = s.id WHERE s.id = ?",
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


def of_file(db: Database, path: str) -> list[str]:
    return [row[0] for row in db.query("SELECT id FROM session WHERE path = ?", (path,))]


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
    for table in schema.evidence():
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
    names = ("sessions", "messages", "tool_calls", "errors", "redactions")
    row = db.query(
        "SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(tool_calls), 0), coalesce(sum(errors), 0), "
        "coalesce(sum(redactions), 0) FROM session"
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


class HeldClaims(NamedTuple):
    claims: str
    """JSON."""
    checked: bool
    """Whether the model was asked a second time, by quote and claim alone."""


def mark_distilled(db: Database, session: str, state: str) -> None:
    """Called inside a transaction."""
    db.execute(_DONE, (session, state))


def distilled_window(db: Database, session: str, hash: str) -> HeldClaims | None:
    """What was drawn from a question about a session, while not all of it is read."""
    rows = db.query(
        "SELECT claims, checked FROM distilled_window WHERE session = ? AND window_hash = ?", (session, hash)
    )
    return HeldClaims(rows[0][0], bool(rows[0][1])) if rows else None


def drop_windows(db: Database, ids: Iterable[str]) -> None:
    """Called inside a transaction, when what was drawn is written."""
    db.bulk("DELETE FROM distilled_window WHERE session = ?", ((id,) for id in ids))


def keep_window(db: Database, session: str, hash: str, held: HeldClaims) -> None:
    """Called inside a transaction."""
    db.execute(_WINDOW, (session, hash, held.claims, int(held.checked)))
