"""What a session taught, as it goes from a machine to a team's service.

What is sent is declared column by column (`sent` in `store/schema.py`). Nothing of it is believed on the other side:
ids are made anew from what they are ids of, trust and status come from the rules, texts are cleaned and scrubbed again.
"""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from hardwon.clock import now
from hardwon.errors import NotAllowed
from hardwon.failures.ledger import Findings
from hardwon.failures.provenance import danger_of_step
from hardwon.harvest import walk
from hardwon.harvest.learn import VERSION, Learned, remembered, without_copy
from hardwon.harvest.rules import catalogue
from hardwon.map.commands_ran import Ran
from hardwon.map.touched import Touch
from hardwon.model.failure import Fix, Occurrence, Step, Tried
from hardwon.model.lesson import DISTILLED, Draft, Source
from hardwon.model.session import Origin
from hardwon.sessions.project import Project
from hardwon.store import failures, integrity, lessons, meta, projects, schema, sessions
from hardwon.store.database import Column, Database, Row, Table, insert
from hardwon.store.deletion import Removal, changed_text
from hardwon.store.projects import OpenedRow
from hardwon.store.sessions import CHARACTERS_PER_DIGEST, CallRow, Said, SessionRow, Trail, root_of
from hardwon.text.normalise import derived, digest
from hardwon.text.shown import clean

Rows = dict[str, list[list[Any]]]
"""Table → rows, each with the columns that are sent, in their order."""

SENT = tuple(table for table in schema.TABLES if table.sent)
_RULES = frozenset(rule.name for rule in catalogue.RULES) - catalogue.OVER_STORE | {DISTILLED}
_SAID_IN_SESSIONS = ("user", "agent", "tool", "web", "file", "unsure")
_CHARACTERS_PER_TEXT = 10_000
_CHARACTERS_PER_TRAIL = 64 * 1024
_ROWS_PER_TABLE = 200_000
_MAX_INTEGER = 1 << 60
_BYTES_SENT_PLAIN = 128 * 1024
_MAX_BYTES = 32 * 1024 * 1024
_FINGERPRINT = re.compile(r"F[0-9a-f]{16}")
EMPTY: list[list[Any]] = []


class SessionRows(Struct, frozen=True, kw_only=True):
    """What one session taught."""

    session: str
    """The id that the service gives it; it makes its own, whatever stands here."""
    project: str
    """As the team calls it: a git remote, or a name."""
    rows: Rows = {}
    packed: str = ""
    """The rows, where they are many: their JSON, compressed by zlib, in base64."""

    def small(self) -> SessionRows:
        """As it is sent: a request may not be long."""
        plain = msgspec.json.encode(self.rows)
        if len(plain) <= _BYTES_SENT_PLAIN:
            return self
        return msgspec.structs.replace(self, rows={}, packed=base64.b64encode(zlib.compress(plain, 6)).decode())

    def whole(self) -> SessionRows:
        """With its rows. Raises `NotAllowed` for what is none, or more than a session may have."""
        if not self.packed:
            return self
        try:
            opened = zlib.decompressobj()
            plain = opened.decompress(base64.b64decode(self.packed, validate=True), _MAX_BYTES)
            if not opened.eof:
                raise NotAllowed(f"a session may have at most {_MAX_BYTES:,} bytes of rows")
            return msgspec.structs.replace(self, rows=msgspec.json.decode(plain, type=Rows), packed="")
        except (ValueError, zlib.error, msgspec.DecodeError, RecursionError) as error:
            raise NotAllowed(f"the packed rows cannot be read: {error}") from None

    @property
    def hash(self) -> str:
        return digest(str(VERSION), self.project, msgspec.json.encode(self.rows).decode(), size=16)


def columns_sent() -> dict[str, tuple[str, ...]]:
    """Table → the columns that leave a machine."""
    return {table.name: table.sent for table in SENT}


# What arrives: checked row by row, then written by what writes the sessions of one machine.


class Taken(Struct, frozen=True):
    """What became of a session that was pushed."""

    session: str
    """As the pusher called it."""
    became: str
    """`stored`; `known`: it was here already; `forgotten`: this team does not want to know of it; `held`: somebody else
    pushed it first; `refused`: it cannot be."""
    why: str = ""
    """It was refused."""


def take(db: Database, sent: SessionRows, *, author: str, called: str) -> Taken:
    """Put what a session taught into this store, as a harvest of it would have; a second time changes nothing.

    `author` is who pushed it, as what is on record of it says, and `called` how people are told. Counts and the rules
    over the project are behind until `settle`. Raises `NotAllowed` for rows that cannot be.
    """
    sent = sent.whole()
    project = Project(_project_key(db, sent.project), "")
    learned, told = _learned(_checked(sent.rows, meta.scrubber(db).scrub), project, called)
    id, hash = learned.row.id, sent.hash
    with db.transaction(_lane(db, learned)):
        known = meta.pushed_by(db, id)
        if known.get(author) == hash:
            return Taken(sent.session, "known")
        forgotten = meta.load_tombstones(db)
        left = remembered(learned, forgotten)
        if left is None or known.get(author, "").startswith(meta.FORGOTTEN_HERE):
            return Taken(sent.session, "forgotten")
        held = sessions.held(db, id)
        if held is not None and (author not in known or walk.is_better(held, left.row, left.trail.copied)):
            return Taken(sent.session, "held" if author not in known else "known")
        before = lessons.of_source(db, id)
        _replace(db, left, told)
        meta.note_pushed(db, [(id, hash)], author, now())
        unsaid = before - lessons.of_source(db, id)
    _erase(db, unsaid)
    return Taken(sent.session, "stored")


def _erase(db: Database, ids: Collection[str]) -> None:
    """Lessons that a session no longer says, and nobody else: it may be that somebody forgot them."""
    said = "SELECT 1 FROM lesson_source WHERE lesson = l.id"
    alone = f"SELECT id FROM lesson l WHERE id = ? AND kept = 0 AND NOT EXISTS ({said})"
    gone = [id for id in sorted(ids) if db.query(alone, (id,))]
    if gone:
        with db.transaction():
            removal = Removal(db)
            removal.lessons(gone)
            removal.finish()


def _lane(db: Database, learned: Learned) -> str | None:
    """The project that is written to; None for the whole store, where a copy of the session is in another project."""
    elsewhere = db.query(
        "SELECT 1 FROM trail t JOIN session s ON s.id = t.session WHERE t.opening = ? AND s.project <> ? LIMIT 1",
        (learned.trail.opening or "-", learned.row.project),
    )
    held = db.query("SELECT 1 FROM session WHERE id = ? AND project <> ?", (learned.row.id, learned.row.project))
    return None if elsewhere or held else learned.row.project


def _project_key(db: Database, name: str) -> str:
    """What was joined to another project here is part of that."""
    return projects.known_roots(db).get(name, name)


def _replace(db: Database, learned: Learned, told: list[tuple[Row, list[Row]]]) -> None:
    id, found = learned.row.id, learned.findings
    before = failures.of_source(db, id) | lessons.of_source(db, id)
    copies = [
        row[0] for row in db.query("SELECT session FROM trail WHERE opening = ?", (learned.trail.opening or "-",))
    ]
    met = {one.fingerprint for one in found.occurrences} | {one.fingerprint for one in found.tried}
    met |= {fix.occurrence.fingerprint for fix in found.fixes}
    db.share_failures({*met, *before, *(failure for copy in copies for failure in failures.of_source(db, copy))})
    if sessions.held(db, id):
        sessions.remove(db, id)
        meta.mark_stale(db, sorted(before))
    walk.write(db, _counted_once(db, learned), {})
    _expose(db, learned.row, told)


def _counted_once(db: Database, learned: Learned) -> Learned:
    """Each message counts for the earliest session that has it, in whatever order the team's machines push them."""
    row, trail = learned.row, learned.trail
    if not trail.opening:
        return learned
    others = db.query(
        "SELECT s.id, s.started_at, s.external_id, t.digests, t.copied FROM trail t JOIN session s ON s.id = t.session "
        "WHERE t.opening = ? AND t.session <> ? ORDER BY s.started_at, s.external_id",
        (trail.opening, row.id),
    )
    mine = (row.started_at, row.external_id)
    shared = {id: sessions.in_common(trail.digests, digests) for id, _, _, digests, _ in others}
    before = max((shared[id] for id, *when, _, _ in others if tuple(when) < mine), default=0)
    for id, *when, _, copied in others:
        if tuple(when) > mine and shared[id] > copied:
            _shorten(db, id, shared[id])
    if before <= trail.copied:
        return learned
    speakers = _speakers(trail.digests, 0, trail.copied)
    whole = row._replace(messages=row.messages + trail.copied, user_messages=row.user_messages + speakers)
    return without_copy(learned._replace(row=whole), before)


def _speakers(digests: str, first: int, last: int) -> int:
    """How many of some messages a person sent."""
    each = CHARACTERS_PER_DIGEST
    return digests[first * each : last * each : each].count("u")


def _shorten(db: Database, id: str, copied: int) -> None:
    """What `without_copy` leaves out of what a session taught, taken out of its rows."""
    digests, before = db.query("SELECT digests, copied FROM trail WHERE session = ?", (id,))[0]
    meta.mark_stale(db, failures.of_source(db, id) | lessons.of_source(db, id))
    for table, of in (("call", "session"), ("lesson_source", "source"), ("statement", "source")):
        db.execute(f"DELETE FROM {table} WHERE {of} = ? AND message_index < ?", (id, copied))
    db.execute("DELETE FROM fix_evidence WHERE source = ? AND passing_message < ?", (id, copied))
    calls, errors, first = db.query(
        "SELECT count(*), count(*) FILTER (WHERE outcome = 'error'), min(position) FROM call WHERE session = ?", (id,)
    )[0]
    for table, at in (("occurrence", "position"), ("tried", "position"), ("touched", "last"), ("ran", "last")):
        db.execute(f"DELETE FROM {table} WHERE source = ? AND {at} < ?", (id, _MAX_INTEGER if first is None else first))
    db.execute("UPDATE opened SET calls_before_edit = NULL, looks_before_edit = NULL WHERE source = ?", (id,))
    db.execute(
        "UPDATE session SET messages = messages - ?, user_messages = user_messages - ?, tool_calls = ?, errors = ? "
        "WHERE id = ?",
        (copied - before, _speakers(digests, before, copied), calls, errors, id),
    )
    db.execute("UPDATE trail SET copied = ? WHERE session = ?", (copied, id))
    integrity.reseal(db, "session", [id])


def _expose(db: Database, row: SessionRow, told: list[tuple[Row, list[Row]]]) -> None:
    """What the session was shown: it proves nothing that it was told."""
    db.execute("DELETE FROM bootstrap WHERE session = ?", (row.root,))
    for bootstrap, lines in told:
        id = derived("B", row.id, bootstrap[0])
        columns = ("session", "project", "task", *schema.TABLES.named["bootstrap"].sent)
        db.execute(
            insert("bootstrap", columns, "ON CONFLICT (id) DO NOTHING"), (row.root, row.project, "", id, *bootstrap[1:])
        )
        columns = schema.TABLES.named["exposure"].sent
        db.bulk(insert("exposure", columns, "ON CONFLICT DO NOTHING"), ((id, *line[1:]) for line in lines))


class _Checked:
    """The rows of a session, each of the types that its columns have, with clean texts."""

    def __init__(self, rows: Rows, scrub: Callable[[str], str]) -> None:
        self._rows = rows
        self._scrub = scrub
        self._cleaned: dict[str, str] = {}

    def of(self, name: str) -> list[dict[str, Any]]:
        table = schema.TABLES.named[name]
        columns = [table.column(column) for column in table.sent]
        rows = self._rows.get(name, EMPTY)
        if len(rows) > _ROWS_PER_TABLE:
            raise NotAllowed(f"too many rows of {name}: at most {_ROWS_PER_TABLE:,} of one session")
        return [self._row(table, columns, row) for row in rows]

    def _row(self, table: Table, columns: Sequence[Column], row: Sequence[Any]) -> dict[str, Any]:
        if len(row) != len(columns):
            raise NotAllowed(f"a row of {table.name} has {len(row)} values, not {len(columns)}: is Hardwon up to date?")
        return {column.name: self._value(table, column, value) for column, value in zip(columns, row, strict=True)}

    def _value(self, table: Table, column: Column, value: Any) -> Any:
        what = f"{table.name}.{column.name}"
        if value is None:
            if not column.null:
                raise NotAllowed(f"{what} is missing")
            return None
        if column.type == "INTEGER":
            if type(value) is not int or abs(value) > _MAX_INTEGER:
                raise NotAllowed(f"{what} is not a number that can be")
            return value
        if column.type == "REAL":
            if type(value) not in (int, float) or not math.isfinite(value):
                raise NotAllowed(f"{what} is not a number that can be")
            return float(value)
        longest = _CHARACTERS_PER_TRAIL if what == "trail.digests" else _CHARACTERS_PER_TEXT
        if not isinstance(value, str) or len(value) > longest or "\0" in value:
            raise NotAllowed(f"{what} is not a text of at most {longest:,} characters")
        if column.one_of and value not in column.one_of:
            raise NotAllowed(f"{what} is none of {', '.join(column.one_of)}")
        if not column.forget:
            if not value.isprintable() or clean(value) != value:
                raise NotAllowed(f"{what} has characters that it cannot have")
            return value
        try:
            return changed_text(table, column.name, value, self._clean)
        except (msgspec.DecodeError, RecursionError):
            raise NotAllowed(f"{what} is not JSON") from None

    def _clean(self, text: str) -> str:
        """As a reader and a scrubber would have left it; the same words are looked at once."""
        if text not in self._cleaned:
            plain = clean(text)
            self._cleaned[text] = self._scrub(plain)
        return self._cleaned[text]


def _checked(rows: Rows, scrub: Callable[[str], str]) -> _Checked:
    if unknown := sorted(set(rows) - {table.name for table in SENT}):
        raise NotAllowed(f"unknown rows: {', '.join(unknown)[:200]}")
    return _Checked(rows, scrub)


def _learned(rows: _Checked, project: Project, called: str) -> tuple[Learned, list[tuple[Row, list[Row]]]]:
    """What the session taught, as the worker of a harvest answers it, and what it was shown."""
    found = rows.of("session")
    if len(found) != 1:
        raise NotAllowed("name one session at a time")
    given = found[0]
    id = derived("S", given["agent"], given["external_id"], given["subagent"])
    row = SessionRow(
        **given,
        id=id,
        root=root_of(given["agent"], given["external_id"]),
        project=project.id,
        path=called,
        task="",
        harvester_version=VERSION,
    )
    if row.started_at < 0 or row.ended_at < 0 or not row.external_id:
        raise NotAllowed("a session needs a name, and times that can be")
    calls = [CallRow(session=id, **call) for call in rows.of("call")]
    opened = [OpenedRow(source=id, words="", **one) for one in rows.of("opened")]
    trails = [Trail(**trail) for trail in rows.of("trail")]
    learned = Learned(
        row=row._replace(tool_calls=len(calls), errors=sum(call.outcome == "error" for call in calls)),
        project=project,
        calls=calls,
        findings=_findings(rows),
        drafts=_drafts(rows),
        attempts=[],
        touched=[Touch(use=one.pop("used"), **one) for one in rows.of("touched")],
        ran=[Ran(**one) for one in rows.of("ran")],
        opened=opened[0] if opened else None,
        said=[Said(**one) for one in rows.of("statement")],
        passages=[],
        trail=trails[0] if trails else Trail("", ""),
    )
    _check_keys(learned)
    lines: defaultdict[str, list[Row]] = defaultdict(list)
    for line in rows.of("exposure"):
        lines[line["bootstrap"]].append(tuple(line.values()))
    return learned, [(tuple(one.values()), lines[one["id"]]) for one in rows.of("bootstrap")]


def _check_keys(learned: Learned) -> None:
    """What a store could not hold twice is refused here, in words."""
    found = learned.findings
    for what, keys in (
        ("call", [call.position for call in learned.calls]),
        ("occurrence", [one.call_index for one in found.occurrences]),
        ("touched", [(one.path, one.use) for one in learned.touched]),
        ("ran", [one.command for one in learned.ran]),
        ("statement", [(one.message_index, one.nth) for one in learned.said]),
        ("tried", [(one.fingerprint, one.steps, one.tried_as) for one in found.tried]),
    ):
        if len(set(keys)) < len(keys):
            raise NotAllowed(f"two rows of {what} have the same key")


def _findings(rows: _Checked) -> Findings:
    known = {one["id"]: one for one in rows.of("failure") if _FINGERPRINT.fullmatch(one["id"])}

    def met(failure: str, position: int, **more: Any) -> Occurrence:
        if failure not in known:
            raise NotAllowed("a row names a failure that did not come with it")
        told = known[failure]
        given = {"message_index": 0, "at": None, "command": "", "exit_code": None, "excerpt": "", **more}
        kind, error_type, signature = told["family"], told["error_type"], told["signature"]
        return Occurrence(
            **given, call_index=position, tool="", fingerprint=failure, family=kind, error_type=error_type,
            signature=signature,
        )  # fmt: skip

    occurrences = [met(**one) for one in rows.of("occurrence")]
    where = {one.call_index: one for one in occurrences}
    fixes = {one["id"]: one for one in rows.of("fix")}
    proven: list[Fix] = []
    for one in rows.of("fix_evidence"):
        fix = fixes.get(one["fix"])
        if fix is None:
            raise NotAllowed("a row names a fix that did not come with it")
        failed = where.get(one["position"])
        if failed is None or failed.fingerprint != fix["failure"]:
            failed = met(fix["failure"], one["position"], at=one["at"])
        steps = _steps(fix["steps"])
        doubts = filter(None, (danger_of_step(step.what) for step in steps if step.action == "run"))
        proven.append(
            Fix(
                occurrence=msgspec.structs.replace(failed, at=one["at"]),
                steps=steps,
                succeeded_as=fix["succeeded_as"],
                succeeded_at=one["position"],
                passing=one["passing"],
                passing_message=one["passing_message"],
                cause=one["cause"],
                avoid=_steps(one["avoid"]),
                untrusted=one["untrusted"] or next(doubts, ""),
                failed_again=max(0, one["failed_again"]),
            )
        )
    tried = [
        Tried(
            fingerprint=one["failure"], steps=_steps(one["steps"]), tried_as=one["tried_as"], call_index=one["position"]
        )
        for one in rows.of("tried")
        if one["failure"] in known
    ]
    return Findings(occurrences, proven, tried)


def _steps(text: str) -> tuple[Step, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[Step, ...])
    except msgspec.DecodeError:
        raise NotAllowed("the steps of a fix are not a list of steps") from None


def _drafts(rows: _Checked) -> list[Draft]:
    """What is said in a session, by whom: the trust that the machine gave it can only lower what the rules give."""
    taught = {one["id"]: one for one in rows.of("lesson")}
    drafts = []
    for one in rows.of("lesson_source"):
        lesson = taught.get(one["lesson"])
        if lesson is None or lesson["rule"] not in _RULES or one["origin"] not in _SAID_IN_SESSIONS:
            continue
        origin = "agent" if lesson["trust"] == "claimed" and one["origin"] == "user" else one["origin"]
        untrusted = "untrusted where it was harvested" if lesson["trust"] == "untrusted" else ""
        drafts.append(
            Draft(
                kind=lesson["kind"],
                text=lesson["text"],
                confidence=min(max(lesson["base_confidence"], 0.0), lessons.HIGHEST_CONFIDENCE),
                source=Source(message_index=one["message_index"], quote=one["quote"], origin=cast(Origin, origin)),
                rule=lesson["rule"],
                failure=lesson["failure"],
                measured=lesson["trust"] == "measured",
                untrusted=untrusted if origin in ("user", "agent") else "",
                tags=_tags(lesson["tags"]),
            )
        )
    return drafts


def _tags(text: str) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except msgspec.DecodeError:
        raise NotAllowed("lesson.tags is not a list") from None


def withdraw(db: Database, id: str, author: str) -> bool:
    """Forget a session that this author pushed, and what only it taught; whether there was one."""
    if author not in meta.pushed_by(db, id):
        return False
    with db.transaction():
        removal = Removal(db)
        if sessions.held(db, id):
            removal.sessions([id])
        removal.finish()
        meta.note_pushed(db, [(id, meta.FORGOTTEN_HERE)], author, now())
    return True


def settle(db: Database, only: str = "") -> None:
    """Apply the rules over projects that have new sessions, or over one of them, and count what is behind."""
    meta.recount_stale(db)
    walk.look_over(db, only)
    meta.recount_stale(db)
