"""Failures, their occurrences and fixes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hardwon import home
from hardwon.failures.fingerprint import VERSION
from hardwon.model.failure import (
    FETCHES,
    FOREIGN,
    GOT_PAST,
    HINTED,
    OFFERED,
    PROPOSED,
    UNNOTICED,
    Fix,
    Occurrence,
    Step,
)
from hardwon.store import fulltext
from hardwon.store.database import Database, Row, batches, insert, marks
from hardwon.store.read import FAMILIES_BY_KIND, FIXES_OF_KIND, SHOWN_BY_KIND, FixOfKind, for_any_file
from hardwon.store.spool import told_in
from hardwon.text.normalise import derived, lazy_pattern

if TYPE_CHECKING:
    from hardwon.failures.ledger import Findings

MAX_AVOIDED = 3
SESSIONS_THAT_PROVE = 2
COINCIDENCE = "seen once, and the error does not name it"
PROVED_BY_ANOTHER = (HINTED, COINCIDENCE)
"""Doubts that end when a second session comes to the same fix."""
_OFFERED = (OFFERED, OFFERED.replace("Hardwon", home.FORMER_NAME.title()))
"""As it stands in stores of any age."""
MAX_VISITS = 20
_MAX_EXAMPLES = 64
"""Newest occurrences whose words an error is told with."""
_MAX_OCCURRENCES_TOLD = 20
_SHORTEST_QUOTED, _LONGEST_QUOTED = 12, 300
_RARE = lazy_pattern(r"\w{3,}")
_MAX_EVIDENCE_TOLD = 5
FAILURE_COLUMNS = "id version family error_type signature first_seen last_seen occurrences sessions".split()
_SAY_AGAIN = "ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in FAILURE_COLUMNS[1:5]
)
_SAY_AGAIN += " WHERE failure.version = 0"  # one that a repair could not vouch for
FIX_COLUMNS = "id failure steps succeeded_as avoid status untrusted confirmed failed_again last_seen projects".split()
FIX_EVIDENCE_COLUMNS = "fix source root at avoid untrusted failed_again position passing_message passing cause".split()
OCCURRENCE_COLUMNS = (
    *"source position failure project root agent message_index at".split(),
    *"command exit_code phase friction tokens excerpt words beginning".split(),
)
IN_PROJECT_COLUMNS = (
    "project failure occurrences sessions first_seen last_seen command agents place visits words".split()
)
_OWN_WORDS = "coalesce(nullif(f.words, ''), f.signature)"
_WORDS_HERE = "coalesce(nullif(p.words, ''), f.signature)"
_COUNTS = f"f.id, f.family, f.signature, {_OWN_WORDS}, count(*), count(DISTINCT o.root), min(o.at), max(o.at)"


class FailureRow(NamedTuple):
    """A failure as it stands in one project, or everywhere."""

    id: str
    family: str
    signature: str
    error: str
    """In its own words where it may be quoted, else the signature."""
    occurrences: int
    sessions: int
    first_seen: int
    last_seen: int
    command: str
    agents: str
    """The agents that met it, comma-separated."""


class Likely(NamedTuple):
    """A failure of a project, with what tells how likely it is to come back."""

    row: FailureRow
    place: str
    """Where it was met last."""
    visits: tuple[int, ...]
    """When the newest sessions that met and noticed it did so, the latest first."""


class FixRow(NamedTuple):
    id: str
    failure: str
    steps: tuple[Step, ...]
    succeeded_as: str
    avoid: tuple[Step, ...]
    status: str
    untrusted: str
    confirmed: int
    failed_again: int
    last_seen: int
    projects: str
    """Those whose sessions it worked in, with commas."""


class OccurrenceRow(NamedTuple):
    session: str
    path: str
    agent: str
    project: str
    message_index: int
    at: int
    command: str
    exit_code: int | None
    excerpt: str


class Place(NamedTuple):
    """Where failures happened: a session or an attempt, and what counts as one session."""

    source: str
    root: str
    project: str | None
    agent: str
    at: int
    """For what has no time of its own."""
    phase: str = ""
    friction: str = ""


def of_source(db: Database, source: str) -> set[str]:
    """The failures that a session or attempt has left something about."""
    rows = db.query(
        "SELECT failure FROM occurrence WHERE source = ? UNION SELECT failure FROM tried WHERE source = ? UNION "
        "SELECT f.failure FROM fix_evidence e JOIN fix f ON f.id = e.fix WHERE e.source = ?",
        (source, source, source),
    )
    return {row[0] for row in rows}


def save(
    db: Database,
    place: Place,
    findings: Findings,
    tokens: dict[int, int],
) -> set[str]:
    """Add the failures of a place; returns their ids. Counts are brought up to date by `refresh`.

    `tokens` has what each failed call cost, by its position.
    """
    occurrences = findings.occurrences
    mended = (fix.occurrence for fix in findings.fixes)  # where a copy of it failed, the original has the occurrence
    made = {found.fingerprint: found for found in (*mended, *occurrences)}
    db.share_failures(made)
    db.bulk(
        insert("failure", FAILURE_COLUMNS, _SAY_AGAIN),
        (
            (id, VERSION, found.family, found.error_type, found.signature, place.at, place.at, 0, 0)
            for id, found in made.items()
        ),
    )
    db.bulk(insert("occurrence", OCCURRENCE_COLUMNS), (_row(place, found, tokens) for found in occurrences))
    for fix in findings.fixes:
        _save_fix(db, place, fix)
    db.bulk(
        insert("tried", "source failure position steps tried_as root".split()),
        (
            (place.source, one.fingerprint, one.call_index, _encode(one.steps), one.tried_as, place.root)
            for one in findings.tried
        ),
    )
    return set(made)


def _row(place: Place, found: Occurrence, tokens: dict[int, int]) -> tuple[object, ...]:
    return (
        place.source,
        found.call_index,
        found.fingerprint,
        place.project,
        place.root,
        place.agent,
        found.message_index,
        found.at or place.at,
        found.command,
        found.exit_code,
        place.phase,
        place.friction,
        tokens.get(found.call_index, 0),
        found.excerpt,
        found.words,
        found.beginning,
    )


def fix_id(failure: str, steps: str, succeeded_as: str) -> str:
    return derived("X", failure, steps, succeeded_as)


def _save_fix(db: Database, place: Place, fix: Fix) -> None:
    steps = _encode(fix.steps)
    id = fix_id(fix.occurrence.fingerprint, steps, fix.succeeded_as)
    at = fix.occurrence.at or place.at
    db.execute(
        insert("fix", FIX_COLUMNS, "ON CONFLICT (id) DO NOTHING"),
        (id, fix.occurrence.fingerprint, steps, fix.succeeded_as, "[]", "candidate", "", 0, 0, at, ""),
    )
    db.execute(
        insert("fix_evidence", FIX_EVIDENCE_COLUMNS, "ON CONFLICT (fix, source) DO NOTHING"),
        (
            *(id, place.source, place.root, at, _encode(fix.avoid), fix.untrusted, fix.failed_again),
            *(fix.occurrence.call_index, fix.passing_message, fix.passing, fix.cause),
        ),
    )


def vouch(db: Database, source: str) -> None:
    """Whoever brought what helped there says that it is their own."""
    foreign = (source, FOREIGN)
    if db.changed("UPDATE fix_evidence SET untrusted = '' WHERE source = ? AND untrusted = ?", foreign):
        refresh(db, of_source(db, source))


def failure_of_fix(db: Database, fix: str) -> str:
    return next((str(row[0]) for row in db.query("SELECT failure FROM fix WHERE id = ?", (fix,))), "")


def fix_ids(db: Database, failure: str) -> list[str]:
    """Of all its fixes, also those that are not told."""
    return [row[0] for row in db.query("SELECT id FROM fix WHERE failure = ?", (failure,))]


def refresh(db: Database, ids: Iterable[str]) -> None:
    """Recount failures; what has no occurrence left is gone."""
    known = sorted(ids)
    db.share_failures(known)
    for id in known:
        for fix in fix_ids(db, id):
            _refresh_fix(db, fix)
        count, sessions, first, last = db.query(
            "SELECT count(*), count(DISTINCT root), min(at), max(at) FROM occurrence WHERE failure = ?", (id,)
        )[0]
        if count == 0:
            for table in ("fix", "tried"):
                db.execute(f"DELETE FROM {table} WHERE failure = ?", (id,))
            db.execute("DELETE FROM failure WHERE id = ?", (id,))
            fulltext.remove(db, id)
            continue
        db.execute(
            "UPDATE failure SET occurrences = ?, sessions = ?, first_seen = ?, last_seen = ?, words = ? WHERE id = ?",
            (count, sessions, first, last, _refresh_projects(db, id), id),
        )
        fulltext.keep(db, id, "failure", fulltext.indexed_texts(db, "failure", [id])[id])


def _refresh_fix(db: Database, id: str) -> None:
    """A fix is what its own sessions say together; somebody else's neither prove it nor speak against it."""
    rows = db.query(
        "SELECT e.at, e.avoid, e.untrusted, e.root, e.failed_again, e.cause, coalesce(s.project, a.project) "
        "FROM fix_evidence e LEFT JOIN session s ON s.id = e.source LEFT JOIN attempt a ON a.id = e.source "
        "WHERE e.fix = ? ORDER BY e.at, e.source",
        (id,),
    )
    if not rows:
        db.execute("DELETE FROM fix WHERE id = ? AND reviewed = 0", (id,))
        return
    avoid = dict.fromkeys(step for row in rows for step in _decode(row[1]))
    own = [row for row in rows if row[2] != FOREIGN]
    untrusted = _doubt({(row[3], row[2], row[5]) for row in own}) if own else FOREIGN
    in_vain = db.query(
        "SELECT count(DISTINCT t.root) FROM tried t JOIN fix f ON f.failure = t.failure AND f.steps = t.steps "
        "AND f.succeeded_as = t.tried_as WHERE f.id = ?",
        (id,),
    )[0][0]
    db.execute(
        "UPDATE fix SET avoid = ?, untrusted = ?, confirmed = ?, failed_again = ?, last_seen = ?, projects = ?, "
        "status = CASE WHEN reviewed = 1 THEN status ELSE ? END WHERE id = ?",
        (
            _encode(tuple(avoid)[:MAX_AVOIDED]),
            untrusted,
            len({row[3] for row in own}),
            in_vain + sum(row[4] for row in rows),
            rows[-1][0],
            ",".join(sorted({row[6] for row in own if row[6]})),
            "candidate" if untrusted else "active",
            id,
        ),
    )


def _doubt(evidence: set[tuple[str, str, str]]) -> str:
    """Why a fix is not told, from (root, what speaks against its word, what the steps have to do with the error).

    Two sessions that came to it by themselves are enough, or one where the steps and the error share something. The
    failing program's own hint needs two. Who had it from us neither proves it nor speaks against it, nor does who
    fetched what no manifest named there. What destroys or names a host is never told by itself, however often it was
    done.
    """
    told = {(root, why, cause) for root, why, cause in evidence if why not in _OFFERED}
    if not told:
        return OFFERED
    never = sorted(why for _, why, _ in told if why not in ("", HINTED, PROPOSED, FETCHES))
    if never:
        return never[0]
    told = {entry for entry in told if entry[1] != FETCHES}
    if not told:
        return FETCHES
    by_themselves = {root for root, why, _ in told if not why}
    if len(by_themselves) >= SESSIONS_THAT_PROVE:
        return ""
    if any(why == PROPOSED for _, why, _ in told):
        return PROPOSED
    if len({root for root, _, _ in told}) >= SESSIONS_THAT_PROVE:
        return ""
    if any(not why and cause not in ("", GOT_PAST) for _, why, cause in told):
        return ""
    return HINTED if any(why == HINTED for _, why, _ in told) else COINCIDENCE


def _refresh_projects(db: Database, id: str) -> str:
    """How a failure stands in each project that met it; returns what all of them say in common."""
    # By project, too, which leads to a row; without it every row is looked at, of every failure there is.
    db.execute("DELETE FROM failure_in_project WHERE failure = ? AND project IN (SELECT p.id FROM project p)", (id,))
    met: dict[str | None, list[Row]] = {}
    for row in db.query(
        "SELECT o.project, o.root, o.at, o.command, o.agent, coalesce(s.path, ''), o.message_index, o.words, "
        "o.exit_code FROM occurrence o LEFT JOIN session s ON s.id = o.source WHERE o.failure = ? "
        "ORDER BY o.at, o.source, o.position",
        (id,),
    ):
        met.setdefault(row[0], []).append(row[1:])
    family = next((family for (family,) in db.query("SELECT family FROM failure WHERE id = ?", (id,))), "")
    everywhere = _words([row for rows in met.values() for row in rows], family)
    met.pop(None, None)
    said = {project: _words(rows, family) for project, rows in met.items()}
    db.bulk(
        insert("failure_in_project", IN_PROJECT_COLUMNS),
        (
            (
                project,
                id,
                len(rows),
                len({row[0] for row in rows}),
                rows[0][1],
                rows[-1][1],
                next((row[2] for row in reversed(rows) if row[6] == said[project]), rows[-1][2]),
                ",".join(sorted({row[3] for row in rows})),
                f"{rows[-1][4]} message {rows[-1][5]}",
                _visits(rows),
                said[project],
            )
            for project, rows in met.items()
        ),
    )
    return everywhere


def _words(rows: list[Row], family: str) -> str:
    """What an error says, in the words of its newest occurrences."""
    from hardwon.failures.told import example, retold  # noqa: PLC0415 - as long to load as the store: who reads needs none

    newest = sorted((row for row in reversed(rows) if row[6]), key=lambda row: -row[1])[:_MAX_EXAMPLES]
    return example([retold(row[6], row[2], family) for row in newest], family)


def _visits(rows: list[Row]) -> str:
    """The last time in each of the newest sessions that noticed it; `rows` are in the order of time."""
    last = {row[0]: row[1] for row in rows if row[7] != UNNOTICED}
    return ",".join(map(str, sorted(last.values(), reverse=True)[:MAX_VISITS]))


def listed(
    db: Database, project: str | None = None, since: int = 0, limit: int = 1000, *, fixed: bool | None = None
) -> list[FailureRow]:
    """Failures of a project (or of all), the most widespread first; with a fix known to work or without, if asked."""
    where = "(? IS NULL OR o.project = ?) AND o.at >= ?"
    if fixed is not None:
        where += (
            f" AND {'' if fixed else 'NOT '}EXISTS (SELECT 1 FROM fix x WHERE x.failure = f.id AND x.status = 'active')"
        )
    return _listed(db, where, (project, project, since), limit)


def likely(db: Database, project: str, limit: int, among: Sequence[str] = ()) -> list[Likely]:
    """The failures that one's own sessions met in a project, the most frequent, and those named."""
    columns = (
        f"f.id, f.family, f.signature, {_WORDS_HERE}, p.occurrences, p.sessions, p.first_seen, p.last_seen, "
        "p.command, p.agents, p.place, p.visits FROM failure_in_project p JOIN failure f ON f.id = p.failure "
        "WHERE p.project = ? AND f.status = 'active' AND EXISTS (SELECT 1 FROM occurrence o "
        "LEFT JOIN session s ON s.id = o.source WHERE o.project = p.project AND o.failure = f.id "
        "AND coalesce(s.owner, 'own') = 'own')"
    )
    most = "ORDER BY p.sessions DESC, p.occurrences DESC, p.last_seen DESC, f.id LIMIT ?"
    rows = db.query(f"SELECT {columns} {most}", (project, limit))
    if among and len(rows) == limit:
        rows += db.query(f"SELECT {columns} AND f.id IN ({marks(among)})", (project, *among))
    return [
        Likely(FailureRow._make(row[:-2]), row[-2], tuple(map(int, filter(None, row[-1].split(",")))))
        for row in dict.fromkeys(rows)
    ]


def begun_like(db: Database, beginning: str, project: str | None) -> str | None:
    """The failure whose output began like this one's, the newest of them; of one project, or of any."""
    rows = db.query(
        "SELECT failure FROM occurrence WHERE beginning = ? AND (? IS NULL OR project = ?) ORDER BY at DESC LIMIT 1",
        (beginning, project, project),
    )
    return rows[0][0] if rows and beginning else None


def quoted_as(db: Database, output: str, project: str | None) -> str | None:
    """The only failure of which this very line is kept, as a person pipes it in who read it here; None if several."""
    found = with_line(db, output, project)
    return found.pop() if len(found) == 1 else None


def with_line(db: Database, output: str, project: str | None) -> set[str]:
    """The failures of which this very line is kept."""
    line = " ".join(output.split())
    names = _RARE.findall(line) if _SHORTEST_QUOTED <= len(line) <= _LONGEST_QUOTED else []
    if not names:
        return set()
    held = f"%{max(names, key=len)}%"
    rows = db.query(
        "SELECT DISTINCT failure, excerpt, words FROM occurrence WHERE (excerpt LIKE ? OR words LIKE ?) "
        "AND (? IS NULL OR project = ?)",
        (held, held, project, project),
    )
    return {
        id
        for id, excerpt, words in rows
        if line in {" ".join(one.split()) for one in (excerpt, words, *excerpt.split("\n"))}
    }


class Met(NamedTuple):
    """How much fails in a project, and how much of that comes back."""

    errors: int
    """One for each session that met it."""
    different: int
    sessions: int


def kinds(db: Database, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Failure → the kind that it is shown by, of those that are."""
    where = f"id IN ({marks(ids)}) AND {SHOWN_BY_KIND}"
    rows = db.query(f"SELECT id, family, error_type FROM failure WHERE {where}", ids) if ids else []
    return {id: (family, error_type) for id, family, error_type in rows}


def met_in(db: Database, project: str) -> Met:
    """Without the errors of agents' own tools."""
    others = "NOT EXISTS (SELECT 1 FROM failure f WHERE f.id = p.failure AND f.family = 'agent')"
    if db.engine == "sqlite":  # which would look each up; a server joins them, and would list all agents' errors
        others = "p.failure NOT IN (SELECT id FROM failure WHERE family = 'agent')"
    errors, different = db.query(
        f"SELECT coalesce(sum(p.sessions), 0), count(*) FROM failure_in_project p WHERE p.project = ? AND {others}",
        (project,),
    )[0]
    (held,) = db.query("SELECT count(*) FROM session WHERE project = ? AND subagent = ''", (project,))[0]
    return Met(int(errors), int(different), int(held))


def muted(db: Database) -> set[str]:
    return {row[0] for row in db.query("SELECT id FROM failure WHERE status = 'muted'")}


def get(db: Database, id: str) -> FailureRow | None:
    rows = _listed(db, "f.id = ?", (id,), 1)
    return rows[0] if rows else None


def _listed(db: Database, where: str, values: Sequence[object], limit: int) -> list[FailureRow]:
    rows = db.query(
        f"SELECT {_COUNTS} FROM failure f JOIN occurrence o ON o.failure = f.id WHERE {where} "
        "GROUP BY f.id, f.family, f.signature, f.words "
        "ORDER BY count(DISTINCT o.root) DESC, count(*) DESC, max(o.at) DESC, f.id LIMIT ?",
        (*values, limit),
    )
    met = _met_by(db, [row[0] for row in rows])
    return [FailureRow._make((*row, *met[row[0]])) for row in rows]


def _met_by(db: Database, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Failure → (the command that met it last, the agents that met it)."""
    latest: dict[str, str] = {}
    agents: dict[str, set[str]] = {}
    for part in batches(ids):
        for id, agent, command in db.query(
            f"SELECT failure, agent, command FROM occurrence WHERE failure IN ({marks(part)}) "
            "ORDER BY at DESC, source, position",
            part,
        ):
            latest.setdefault(id, command)
            agents.setdefault(id, set()).add(agent)
    return {id: (latest[id], ",".join(sorted(agents[id]))) for id in latest}


def projects_of(db: Database, ids: Sequence[str]) -> set[str]:
    where = f"failure IN ({marks(ids)}) AND project IS NOT NULL"
    rows = db.query(f"SELECT DISTINCT project FROM occurrence WHERE {where}", ids)
    return {row[0] for row in rows}


def in_project(db: Database, id: str, project: str) -> bool:
    return bool(db.query("SELECT 1 FROM occurrence WHERE project = ? AND failure = ? LIMIT 1", (project, id)))


def fixes(
    db: Database, ids: Iterable[str], project: str | None = None, *, only_here: bool = False
) -> dict[str, list[FixRow]]:
    """The fixes of each failure: first those that worked in the project, then the best confirmed and newest.

    What one other project alone has seen is not told in a project; `only_here` leaves out whatever others have seen.
    """
    wanted = list(ids)
    found: dict[str, list[FixRow]] = {id: [] for id in wanted}
    for part in batches(wanted):
        for row in db.query(
            f"SELECT {', '.join(FixRow._fields)} FROM fix WHERE failure IN ({marks(part)}) AND status <> 'rejected' "
            "ORDER BY failure, status, confirmed - failed_again DESC, last_seen DESC, id",
            part,
        ):
            fix = FixRow(*row)._replace(steps=_decode(row[2]), avoid=_decode(row[4]))
            if project is None or told_in(project, fix.projects, only_here=only_here):
                found[fix.failure].append(fix)
    for fixes_of in found.values():
        fixes_of.sort(key=lambda fix: (fix.status, project not in fix.projects.split(",")))
    return found


def occurrences(
    db: Database, id: str, project: str | None = None, limit: int = _MAX_OCCURRENCES_TOLD
) -> list[OccurrenceRow]:
    """The newest first; of one project, or of all."""
    rows = db.query(
        "SELECT o.source, coalesce(s.path, ''), o.agent, coalesce(p.name, ''), o.message_index, o.at, o.command, "
        "o.exit_code, o.excerpt FROM occurrence o LEFT JOIN session s ON s.id = o.source "
        "LEFT JOIN project p ON p.id = o.project WHERE o.failure = ? AND (? IS NULL OR o.project = ?) "
        "ORDER BY o.at DESC, o.source LIMIT ?",
        (id, project, project, limit),
    )
    return [OccurrenceRow(*row) for row in rows]


class EvidenceRow(NamedTuple):
    """Both ends of a fix in one session."""

    session: str
    path: str
    failing: str
    failing_message: int
    passing: str
    passing_message: int
    cause: str
    untrusted: str


def evidence(
    db: Database, fixes: Sequence[str], project: str | None = None, limit: int = _MAX_EVIDENCE_TOLD
) -> dict[str, list[EvidenceRow]]:
    """Fix → the newest sessions in which it worked, of one project or of any."""
    found: dict[str, list[EvidenceRow]] = {id: [] for id in fixes}
    for part in batches(fixes):
        for id, *ends in db.query(
            "SELECT e.fix, e.source, coalesce(s.path, ''), o.command, o.message_index, e.passing, e.passing_message, "
            "e.cause, e.untrusted FROM fix_evidence e JOIN fix f ON f.id = e.fix "
            "JOIN occurrence o ON o.source = e.source AND o.failure = f.failure AND o.position = e.position "
            f"LEFT JOIN session s ON s.id = e.source WHERE e.fix IN ({marks(part)}) "
            "AND (? IS NULL OR o.project = ?) ORDER BY e.at DESC, e.source",
            (*part, project, project),
        ):
            if len(found[id]) < limit:
                found[id].append(EvidenceRow(*ends))
    return found


def sessions_mended(db: Database, fixes: Sequence[str]) -> int:
    """In how many sessions one of these worked."""
    found = db.query(f"SELECT count(DISTINCT root) FROM fix_evidence WHERE fix IN ({marks(fixes)})", list(fixes))
    return int(found[0][0])


def with_waiting_fixes(db: Database, project: str | None = None) -> list[str]:
    """The failures of which a fix waits for a person, those with the newest first; of one project, or of any."""
    rows = db.query(
        "SELECT failure FROM fix x WHERE status = 'candidate' AND untrusted <> '' AND (? IS NULL OR EXISTS "
        "(SELECT 1 FROM occurrence o WHERE o.failure = x.failure AND o.project = ?)) "
        "GROUP BY failure ORDER BY max(last_seen) DESC, failure",
        (project, project),
    )
    return [str(row[0]) for row in rows]


def fixed_commands(db: Database, id: str) -> dict[str, list[str]]:
    """Fix → the commands that had failed where it worked."""
    found: dict[str, list[str]] = {}
    for fix, command in db.query(
        "SELECT e.fix, o.command FROM fix f JOIN fix_evidence e ON e.fix = f.id "
        "JOIN occurrence o ON o.source = e.source AND o.failure = f.failure AND o.position = e.position "
        "WHERE f.failure = ? ORDER BY o.at",
        (id,),
    ):
        found.setdefault(fix, []).append(command)
    return found


class Cost(NamedTuple):
    """What a failure cost: the times it happened, and the tokens of those calls."""

    times: list[int]
    tokens: int

    def summary(self) -> dict[str, int]:
        return {"wasted_calls": len(self.times), "wasted_tokens": self.tokens}


def costs(db: Database, ids: Sequence[str], since: int = 0) -> dict[str, Cost]:
    found = {id: Cost([], 0) for id in ids}
    for part in batches(ids):
        for id, at, tokens in db.query(
            f"SELECT failure, at, tokens FROM occurrence WHERE failure IN ({marks(part)}) AND at >= ? ORDER BY at",
            (*part, since),
        ):
            found[id] = Cost([*found[id].times, at], found[id].tokens + tokens)
    return found


def outdated(db: Database) -> int:
    """How many failures were recognised by an older version of the fingerprint."""
    return int(db.query("SELECT count(*) FROM failure WHERE version <> ?", (VERSION,))[0][0])


def seen_before(db: Database) -> tuple[int, int]:
    """(errors, each once a session and without those of agents' own tools; those an earlier session had seen)."""
    row = db.query(
        "WITH one AS (SELECT o.failure, o.root, min(o.at) AS at FROM occurrence o JOIN failure f ON f.id = o.failure "
        "WHERE f.family <> 'agent' GROUP BY o.failure, o.root), "
        "ranked AS (SELECT at, min(at) OVER (PARTITION BY failure) AS earliest FROM one) "
        "SELECT count(*), count(*) FILTER (WHERE at > earliest) FROM ranked"
    )[0]
    return row[0], row[1]


def totals(db: Database) -> dict[str, int]:
    return {
        "failures": db.query("SELECT count(*) FROM failure")[0][0],
        "fixes": db.query("SELECT count(*) FROM fix")[0][0],
    }


def fixes_told(db: Database) -> int:
    """Without those that wait for a person, and those that no one shall be told."""
    return int(db.query("SELECT count(*) FROM fix WHERE status = 'active'")[0][0])


def _encode(steps: tuple[Step, ...]) -> str:
    return msgspec.json.encode(steps).decode()


def _decode(text: str) -> tuple[Step, ...]:
    return msgspec.json.decode(text, type=tuple[Step, ...])


def met_by_own(db: Database, failure: str, project: str | None = None) -> bool:
    """Whether a session of this user, or something the user recorded, met it; there, if a project is named."""
    met = (
        "SELECT 1 FROM occurrence o LEFT JOIN session s ON s.id = o.source "
        "WHERE o.failure = ? AND coalesce(s.owner, 'own') = 'own' AND (? IS NULL OR o.project = ?) LIMIT 1"
    )
    return bool(db.query(met, (failure, project, project)))


def fix_of_kind(db: Database, family: str, error_type: str, project: str) -> FixOfKind | None:
    """What mended the same in other files of a project, as a formatter or a linter tells it of each."""
    if family not in FAMILIES_BY_KIND:
        return None
    return for_any_file(
        (int(files), steps, succeeded_as, id, int(confirmed), int(failed_again))
        for files, steps, succeeded_as, id, confirmed, failed_again in db.query(
            FIXES_OF_KIND, (family, error_type, project)
        )
    )


def mostly_of_kind_in(db: Database, family: str, error_type: str) -> str:
    """The project in which most sessions met what a formatter or a linter tells of each file; empty if none did."""
    if family not in FAMILIES_BY_KIND:
        return ""
    rows = db.query(
        "SELECT p.project FROM failure_in_project p JOIN failure f ON f.id = p.failure WHERE f.family = ? "
        "AND f.error_type = ? GROUP BY p.project ORDER BY sum(p.sessions) DESC, max(p.last_seen) DESC LIMIT 1",
        (family, error_type),
    )
    return str(rows[0][0]) if rows else ""


def mostly_met_in(db: Database, id: str) -> str:
    """The project in which most sessions met a failure; empty if none did."""
    rows = db.query(
        "SELECT project FROM failure_in_project WHERE failure = ? ORDER BY sessions DESC, last_seen DESC LIMIT 1", (id,)
    )
    return str(rows[0][0]) if rows else ""
