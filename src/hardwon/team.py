"""What this machine sends to a team's service, and what it takes from there: `hardwon push` and `hardwon pull`.

Nothing of a project leaves before its person has said yes (`push_projects`). What was sent is noted row by row of
sessions, so that a push that was killed goes on where it stopped, and one that finds nothing new sends nothing.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hardwon import config as settings
from hardwon.api.connection import PULLED
from hardwon.clock import now
from hardwon.durable import write_whole
from hardwon.errors import BadConfig, HardwonError, NotAllowed, NotFound
from hardwon.exchange.pulled import Knowledge
from hardwon.exchange.team import EMPTY, SENT, Rows, SessionRows
from hardwon.harvest.rules import catalogue
from hardwon.store import meta, schema
from hardwon.store.database import Database, batches, marks
from hardwon.store.deletion import changed_text
from hardwon.store.sessions import root_of
from hardwon.text.normalise import derived, digest

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon
    from hardwon.client import Client

TOKEN_VARIABLE = "HARDWON_TEAM_TOKEN"  # noqa: S105 - its name
TOKEN_FILE = "team-token"  # noqa: S105 - its name
_BYTES_PER_REQUEST = 128 * 1024
_SESSIONS_PER_REQUEST = 50
"""Others wait for so long until they can push."""
_LARGEST_SESSION = 900 * 1024
"""The service takes requests of a megabyte."""

_SESSIONS_AT_ONCE = 50
_OF_SESSION = {"call": "session", "trail": "session"}
"""Tables whose rows belong to a session, and the column that says so; of all others it is `source`."""

Progress = Callable[[str, int, int], None]


class Shared(Struct, frozen=True, kw_only=True):
    """A project of this machine, and whether it is pushed."""

    id: str
    name: str
    team_name: str
    """What the team calls it: its git remote, or the name that was given to a folder. Empty: it is not pushed."""
    why_not: str = ""


class Pushed(Struct, kw_only=True):
    """What a push did, or would do."""

    projects: list[str] = []
    sessions: int = 0
    """Sessions that were new to the team, or have changed."""
    unchanged: int = 0
    """Sessions that the team has as they are."""
    withdrawn: int = 0
    """Sessions that were forgotten here, and now there."""
    forgotten: int = 0
    """Sessions that the team does not want to know of."""
    held: int = 0
    """Sessions that somebody else pushed before."""
    refused: list[str] = []
    """What could not be taken, and why."""
    rows: dict[str, int] = {}
    bytes: int = 0


class Pulled(Struct, kw_only=True):
    """What a pull brought."""

    projects: list[str] = []
    lessons: int = 0
    failures: int = 0
    fixes: int = 0
    lines: int = 0
    unknown: list[str] = []
    """Projects that the team does not know."""


def projects(memory: Hardwon) -> list[Shared]:
    """Every project of this machine, and whether it is pushed."""
    if not memory.exists:
        return []
    allowed, never = _listed(memory.config.push_projects), _listed(memory.config.push_never)
    rows = memory.reading().query("SELECT id, key, name FROM project ORDER BY key")
    return [_shared(id, key, name, allowed, never) for id, key, name in rows]


def _listed(setting: str) -> dict[str, str]:
    """Pattern → what the team calls what fits it; empty: as it is called here."""
    parts = (part.strip().partition("=") for part in setting.split(",") if part.strip())
    return {pattern.strip(): name.strip() for pattern, _, name in parts}


def _shared(id: str, key: str, name: str, allowed: dict[str, str], never: Iterable[str]) -> Shared:
    def fits(pattern: str) -> bool:
        return pattern in (id, name) or fnmatchcase(key.casefold(), pattern.casefold())

    if any(map(fits, never)):
        return Shared(id=id, name=name, team_name="", why_not="push_never names it")
    chosen = [team_name for pattern, team_name in allowed.items() if fits(pattern)]
    if not chosen:
        return Shared(id=id, name=name, team_name="", why_not="nobody said that it may be pushed")
    called = next(filter(None, chosen), "") or key
    if is_folder(called):
        why = "it has no git remote: name it for the team with `hardwon push --project … --as NAME --yes`"
        return Shared(id=id, name=name, team_name="", why_not=why)
    return Shared(id=id, name=name, team_name=called)


def is_folder(key: str) -> bool:
    return key.startswith(("/", "~", ".", "\\")) or key[1:3] in (":\\", ":/")


def allow(memory: Hardwon, project: str, team_name: str = "") -> Shared:
    """A person's yes: the project may be pushed from now on. Raises `NotFound`, `NotAllowed`."""
    id = memory.project(project) or ""
    key, name = memory.reading().query("SELECT key, name FROM project WHERE id = ?", (id,))[0]
    if is_folder(team_name or key):
        raise NotAllowed(f"{name} has no git remote: give the name that the team knows it by with --as")
    if any(sign in f"{team_name}{key}" for sign in ",=\n"):
        raise NotAllowed(f"the name of {name} has a comma or an equals sign: give another one with --as")
    known = _listed(memory.config.push_projects)
    known[id if is_folder(key) else key] = team_name
    written = ", ".join(f"{pattern}={called}" if called else pattern for pattern, called in known.items())
    memory.config = settings.save(memory.home, "push_projects", written).config
    return next(one for one in projects(memory) if one.id == id)


def token(home: Path) -> str:
    """From the variable, or a file that only its owner can read. Raises `BadConfig`."""
    if given := os.environ.get(TOKEN_VARIABLE, "").strip():
        return given
    path = home / TOKEN_FILE
    try:
        if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise BadConfig(f"{path} can be read by others: `chmod 600 {path}`")
        found = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        found = ""
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror}") from error
    if not found:
        raise BadConfig(f"no token for the team's service: set {TOKEN_VARIABLE}, or write it to {path} (chmod 600)")
    return found


def service(memory: Hardwon) -> Client:
    """The team's service. Raises `BadConfig`."""
    from hardwon.client import connect  # noqa: PLC0415 - all nouns, for whoever has a team

    if not memory.config.team_url:
        raise BadConfig("no team is set: `hardwon config team_url https://memory.example.org`")
    return connect(memory.config.team_url, token(memory.home))


def is_joined(memory: Hardwon) -> bool:
    """Whether pushing and pulling by itself is wanted: there is a team, a token and a project that may be pushed."""
    if not memory.config.team_url or not any(one.team_name for one in projects(memory)):
        return False
    return bool(os.environ.get(TOKEN_VARIABLE) or (memory.home / TOKEN_FILE).exists())


def waiting(memory: Hardwon) -> Iterator[SessionRows]:
    """What a push would send: every row of every session that is new to the team or has changed."""
    for _, _, rows in _waiting(memory, memory.reading(), Pushed()):
        yield rows


def _waiting(memory: Hardwon, db: Database, report: Pushed) -> Iterator[tuple[str, str, SessionRows]]:
    """(its id here, the hash of its rows, the session)."""
    sent = meta.pushed(db, _team(memory))
    for project in projects(memory):
        if not project.team_name:
            continue
        report.projects.append(project.name)
        for id, rows in outgoing(db, project.id, project.team_name):
            hash = rows.hash
            if sent.get(id, "").partition(" ")[0] in (hash, _REFUSED):
                report.unchanged += 1
            else:
                yield id, hash, rows


_REFUSED = "refused"
"""In the place of a hash: the team does not want it, or somebody else has pushed it."""


def _team(memory: Hardwon) -> str:
    return digest("team", memory.config.team_url.rstrip("/"), size=16)


def push(memory: Hardwon, team: Client, progress: Progress | None = None) -> Pushed:
    """Send what is new, withdraw what was forgotten. Raises `HardwonError` where the service cannot be reached."""
    db = memory.writing()
    told = progress or (lambda *_: None)
    report = Pushed()
    _withdraw(memory, db, team, report)
    batch: list[tuple[str, str, SessionRows]] = []
    size = 0
    for id, hash, rows in _waiting(memory, db, report):
        small = rows.small()
        length = len(msgspec.json.encode(small))
        if length > _LARGEST_SESSION:
            report.refused.append(f"{rows.session}: {length:,} bytes are more than a request may have")
            continue
        if batch and (size + length > _BYTES_PER_REQUEST or len(batch) >= _SESSIONS_PER_REQUEST):
            _send(memory, db, team, batch, report)
            told("pushing", report.sessions, report.sessions)
            batch, size = [], 0
        batch.append((id, hash, small))
        size += length
        report.bytes += length
        _count(report, rows)
    _send(memory, db, team, batch, report)
    if report.sessions or report.withdrawn:
        team.team.settle()
    return report


def _count(report: Pushed, rows: SessionRows) -> None:
    counted = Counter(report.rows) + Counter({name: len(some) for name, some in rows.rows.items()})
    report.rows = dict(sorted(counted.items()))


def _send(
    memory: Hardwon, db: Database, team: Client, batch: Sequence[tuple[str, str, SessionRows]], report: Pushed
) -> None:
    """What the service has is noted once it says so: killed before, it is sent again and changes nothing."""
    if not batch:
        return
    answers = team.team.take([rows for _, _, rows in batch])
    if len(answers) != len(batch):
        raise HardwonError(f"the team's service answered for {len(answers)} of {len(batch)} sessions: try again")
    notes: list[tuple[str, str]] = []
    for (id, hash, rows), answer in zip(batch, answers, strict=True):
        note = hash
        match answer.became:
            case "stored":
                report.sessions += 1
            case "known":
                report.unchanged += 1
            case "forgotten":
                report.forgotten += 1
                note = _REFUSED
            case "held":
                report.held += 1
            case _:
                report.refused.append(f"{rows.session}: {answer.why}")
                continue
        notes.append((id, note if rows.session == id else f"{note} {rows.session}"))
    with db.transaction():
        meta.note_pushed(db, notes, _team(memory), now())


def _withdraw(memory: Hardwon, db: Database, team: Client, report: Pushed) -> None:
    sent = meta.pushed(db, _team(memory))
    gone = {id: note.split() for id, note in sent.items() if note.startswith(meta.FORGOTTEN_HERE)}
    for id, (_, *note) in gone.items():
        there = note[1] if len(note) > 1 else id
        report.withdrawn += len(team.team.withdraw([there]))
        with db.transaction():
            meta.drop_pushed(db, [id], _team(memory))


def pull(memory: Hardwon, team: Client) -> Pulled:
    """Fetch what the team knows of the projects that are pushed, for the hooks of this machine.

    Raises `HardwonError` where the service cannot be reached; what was pulled before stays then.
    """
    report = Pulled()
    found: dict[str, Knowledge] = {}
    for project in projects(memory):
        if not project.team_name:
            continue
        try:
            known = team.team.known(project.team_name)
        except NotFound:
            report.unknown.append(project.name)
            continue
        found[project.id] = known
        report.projects.append(project.name)
        report.lessons += len(known.lesson)
        report.failures += len(known.failure)
        report.fixes += len(known.fix)
        report.lines += len({line["item"] for line in known.standing})
    write_whole(memory.home / PULLED, msgspec.json.encode(found).decode())
    memory.mirror_for_hooks()
    return report


# The rows that leave: of this machine's own sessions, without folders that are nobody else's business.


class Folders:
    """Takes the folders of this machine out of texts: those of the project become relative, others are not named."""

    def __init__(self, own: Iterable[str], others: Iterable[str]) -> None:
        kept = [re.escape(root) for root in sorted(own, key=len, reverse=True) if len(root) > 2]
        hidden = [re.escape(root) for root in sorted(others, key=len, reverse=True) if len(root) > 2]
        rest = r"(?:[/\\](?:[^\s\"'`;|&<>()]|<[\w-]+>)*)?"  # `<id>` stands for what changes from call to call
        parts = [rf"(?P<own>{'|'.join(kept)})(?:[/\\]+|(?![\w.-]))"] if kept else []
        parts += [rf"(?:{'|'.join(hidden)})(?![\w.-]){rest}"] if hidden else []
        parts.append(r"(?<=[\"'`])~[\w.-]*[/\\][^\"'`\n]*(?=[\"'`])")  # with spaces in it
        parts.append(rf"(?<![\w~/])~[\w.-]*(?=[/\\]){rest}")
        self._pattern = re.compile("|".join(parts))

    def left_out(self, text: str) -> str:
        return self._pattern.sub(_replaced, text) if "/" in text or "\\" in text else text


def _replaced(found: re.Match[str]) -> str:
    if found.groupdict().get("own"):
        return "" if found[0][-1] in "/\\" else "."
    return "~/…"


def outgoing(db: Database, project: str, team_name: str, ids: Sequence[str] = ()) -> Iterator[tuple[str, SessionRows]]:
    """What a project's own sessions taught, the earliest first, each with its id here; of some of them, or of all."""
    roots = db.query("SELECT path, project FROM project_root")
    folders = Folders(
        [path for path, holder in roots if holder == project], [path for path, holder in roots if holder != project]
    )
    wanted = list(ids) or [
        row[0]
        for row in db.query(
            "SELECT id FROM session WHERE project = ? AND owner = 'own' ORDER BY started_at, id", (project,)
        )
    ]
    for start in range(0, len(wanted), _SESSIONS_AT_ONCE):
        part = wanted[start : start + _SESSIONS_AT_ONCE]
        found = _rows_of(db, project, part)
        for id in part:
            if rows := found.get(id):
                left = _leaving(rows, folders)
                named = (_value("session", left["session"][0], name) for name in ("agent", "external_id", "subagent"))
                yield id, SessionRows(session=derived("S", *named), project=team_name, rows=left)


def _rows_of(db: Database, project: str, part: Sequence[str]) -> dict[str, Rows]:
    """Session → its rows, as they are stored."""
    found: dict[str, Rows] = {}
    for table in SENT:
        if table.name in ("failure", "fix", "lesson", "bootstrap", "exposure"):
            continue
        of = "id" if table.name == "session" else _OF_SESSION.get(table.name, "source")
        columns = ", ".join(f"t.{name}" for name in table.sent)
        where = f"t.{of} IN ({marks(part)})"
        values: list[object] = [*part]
        joined = ""
        if table.name == "session":
            where += " AND t.project = ? AND t.owner = 'own'"
            values.append(project)
        elif table.name == "lesson_source":
            joined, more, given = _taught(project)
            where, values = f"{where} AND {more}", [*values, *given]
        order = ", ".join(f"t.{name}" for name in table.key)
        for id, *row in db.query(
            f"SELECT t.{of}, {columns} FROM {table.name} t {joined} WHERE {where} ORDER BY {order}", values
        ):
            if table.name == "session":
                found[id] = {}
            if id in found:
                found[id].setdefault(table.name, []).append(row)
    for rows in found.values():
        _add_named(db, rows)
    for id, rows in found.items():
        _add_exposures(db, id, rows)
    return found


def _taught(project: str) -> tuple[str, str, list[object]]:
    """Of lessons: those that rules drew from the session itself, without what a person here decided against."""
    rules = sorted(catalogue.OVER_STORE)
    here = "l.project = ? AND l.scope = 'project' AND (l.kept = 0 OR l.status = 'active')"
    where = f"{here} AND l.rule NOT IN ({marks(rules)})"
    return "JOIN lesson l ON l.id = t.lesson", where, [project, *rules]


def _add_named(db: Database, rows: Rows) -> None:
    """The failures, fixes and lessons that a session's rows name."""
    named = {
        "lesson": {row[0] for row in rows.get("lesson_source", EMPTY)},
        "fix": {row[0] for row in rows.get("fix_evidence", EMPTY)},
    }
    for name, ids in named.items():
        rows |= _named(db, name, ids)
    failed = {_value("occurrence", row, "failure") for row in rows.get("occurrence", EMPTY)}
    failed |= {_value("tried", row, "failure") for row in rows.get("tried", EMPTY)}
    failed |= {_value("fix", row, "failure") for row in rows.get("fix", EMPTY)}
    rows |= _named(db, "failure", failed)


def _named(db: Database, name: str, ids: Collection[object]) -> Rows:
    columns = ", ".join(schema.TABLES.named[name].sent)
    found = [
        [*row]
        for part in batches(sorted(map(str, ids)))
        for row in db.query(f"SELECT {columns} FROM {name} WHERE id IN ({marks(part)}) ORDER BY id", part)
    ]
    return {name: found} if found else {}


def _add_exposures(db: Database, id: str, rows: Rows) -> None:
    row = rows["session"][0]
    agent, external_id = (_value("session", row, name) for name in ("agent", "external_id"))
    if _value("session", row, "subagent"):
        return
    called = (id, external_id, root_of(agent, external_id))
    columns = ", ".join(schema.TABLES.named["bootstrap"].sent)
    found = db.query(f"SELECT {columns} FROM bootstrap WHERE session IN ({marks(called)}) ORDER BY id", called)
    if not found:
        return
    rows["bootstrap"] = [[*row] for row in found]
    columns = ", ".join(schema.TABLES.named["exposure"].sent)
    ids = [row[0] for row in found]
    rows["exposure"] = [
        [*row]
        for row in db.query(
            f"SELECT {columns} FROM exposure WHERE bootstrap IN ({marks(ids)}) ORDER BY bootstrap, item", ids
        )
    ]


def _value(table: str, row: Sequence[Any], column: str) -> Any:
    return row[schema.TABLES.named[table].sent.index(column)]


def _leaving(rows: Rows, folders: Folders) -> Rows:
    left: Rows = {}
    for name, some in rows.items():
        table = schema.TABLES.named[name]
        texts = [at for at, column in enumerate(table.sent) if table.column(column).type == "TEXT"]
        for row in some:
            for at in texts:
                if row[at] is not None:
                    row[at] = changed_text(table, table.sent[at], row[at], folders.left_out)
        left[name] = [row for row in some if name != "touched" or not _is_elsewhere(row[0])]
    at = schema.TABLES.named["session"].sent.index("external_id")
    for row in left["session"]:
        if "~/…" in row[at] or "/" in row[at] or "\\" in row[at]:  # some agents call a session by its file
            row[at] = digest("session", row[at], size=12)
    return left


def _is_elsewhere(path: str) -> bool:
    return path.startswith(("/", "~", "..")) or path[1:2] == ":"
