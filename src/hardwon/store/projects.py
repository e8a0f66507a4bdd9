"""Projects and the folders they live in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.errors import NotFound
from hardwon.sessions.project import Project, identify, project_id
from hardwon.store import integrity, lessons, schema
from hardwon.store.database import Database, Row, batches, insert, marks
from hardwon.text.normalise import base_name

# The files that sessions touched, what each session was opened with, and the map that is drawn of them for hooks.

DRAWN = ("map_visit", "map_file", "map_command")
"""Tables that are drawn anew from the others for each project."""


class TouchRow(NamedTuple):
    source: str
    path: str
    used: str
    position: int
    times: int
    symbols: str = ""
    """Marks of words that stood in it (`map/signals.mark`)."""
    git_commit: str = ""
    """The last commit of that session that took it."""
    last: int = 0
    """The position of the last such call."""


class OpenedRow(NamedTuple):
    source: str
    words: str
    calls_before_edit: int | None
    looks_before_edit: int | None


class Visit(NamedTuple):
    """A session as the map needs it; its sub-agents have rows of their own with the same root."""

    id: str
    root: str
    subagent: str
    agent: str
    branch: str
    task: str
    outcome: str
    started_at: int
    ended_at: int
    words: str
    looks_before_edit: int | None


class RanRow(NamedTuple):
    """A command of a session, however often it ran."""

    source: str
    command: str
    text: str
    """The form in which it was last called and worked; empty if it never did, unless a part alone was checked."""
    purpose: str
    worked: int
    failed: int
    proposed: int
    """1 if an output before it named it as it was written, 2 if only the command, 3 if only what it was given."""
    broken: int = 0
    """Whether it failed when it ran last."""
    last: int = 0
    """The call by which it ran last."""


def add_visits(db: Database, touched: Iterable[TouchRow], ran: Iterable[RanRow], opened: OpenedRow | None) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    db.bulk(insert("touched", TouchRow._fields), touched)
    db.bulk(insert("ran", RanRow._fields), ran)
    if opened is not None:
        db.bulk(insert("opened", OpenedRow._fields), [opened])


_OWN = "s.owner = 'own'"
"""Where somebody else's session went leads nobody, and what it ran is told to nobody."""
_VISIT = (
    "SELECT s.id, s.root, s.subagent, s.agent, s.branch, s.task, s.outcome, s.started_at, s.ended_at, "
    "coalesce(o.words, ''), o.looks_before_edit FROM session s LEFT JOIN opened o ON o.source = s.id "
    f"WHERE s.project = ? AND {_OWN}"
)


def of_others(db: Database, project: str) -> int:
    """How many sessions of other people a project has, of which nothing is told before somebody says yes."""
    return int(
        db.query("SELECT count(*) FROM session WHERE project = ? AND owner <> 'own' AND subagent = ''", (project,))[0][
            0
        ]
    )


def without_outputs(db: Database, project: str | None) -> tuple[int, int]:
    """Of a project, or all, whose transcripts never say how a command ended: its sessions, and their commands.

    Zeros where any of them does, or none was run.
    """
    ran, known, held = db.query(
        "SELECT count(*), coalesce(sum(k.outcome <> 'unknown'), 0), count(DISTINCT s.root) FROM session s "
        "JOIN call k ON k.session = s.id WHERE k.action = 'run' AND (? = '' OR s.project = ?)",
        (project or "", project or ""),
    )[0]
    return (0, 0) if known else (int(held), int(ran))


def newest_visits(db: Database, project: str, limit: int) -> list[Visit]:
    """The newest sessions of a project, the earliest of them first."""
    rows = db.query(f"{_VISIT} ORDER BY s.started_at DESC, s.id DESC LIMIT ?", (project, limit))
    return [Visit(*row) for row in reversed(rows)]


def touches(db: Database, sessions: Sequence[str]) -> list[TouchRow]:
    return [
        TouchRow(*row)
        for part in batches(sessions)
        for row in db.query(
            f"SELECT {', '.join(TouchRow._fields)} FROM touched WHERE source IN ({marks(part)}) ORDER BY 1, 4, 2", part
        )
    ]


def runs(db: Database, sessions: Sequence[str]) -> list[RanRow]:
    return [
        RanRow(*row)
        for part in batches(sessions)
        for row in db.query(
            f"SELECT {', '.join(RanRow._fields)} FROM ran WHERE source IN ({marks(part)}) ORDER BY 1, 2", part
        )
    ]


# The map as hooks read it: lists of numbers of the sessions in which something was done, as texts.

Drawn = tuple[Sequence[Row], Sequence[Row], Sequence[Row]]
"""(visits, files, commands), each row without its project."""

_VISIT_COLUMNS = {
    "map_visit": "project number at branch title terms norm outcome told came_true".split(),
    "map_file": "project path edited looked terms path_terms symbols".split(),
    "map_command": "project command text purpose worked failed broken".split(),
}


def replace_map(db: Database, project: str, drawn: Drawn) -> None:
    """Called inside a transaction."""
    for table, rows in zip(DRAWN, drawn, strict=True):
        db.execute(f"DELETE FROM {table} WHERE project = ?", (project,))
        db.bulk(insert(table, _VISIT_COLUMNS[table]), ((project, *row) for row in rows))


# Who was at a file.


class Toucher(NamedTuple):
    session: str
    root: str
    agent: str
    external_id: str
    branch: str
    started_at: int
    task: str
    outcome: str
    words: str
    path: str
    used: str
    times: int
    git_commit: str


def visits_of_path(db: Database, project: str, path: str, limit: int) -> list[Toucher]:
    """The sessions that touched a file, or a file below a folder, the newest first; for a sub-agent, its session."""
    return [
        Toucher(*row)
        for row in db.query(
            "SELECT r.id, r.root, r.agent, r.external_id, r.branch, r.started_at, r.task, r.outcome, "
            "coalesce(o.words, ''), t.path, t.used, t.times, t.git_commit FROM touched t "
            "JOIN session s ON s.id = t.source JOIN session r ON r.id = coalesce("
            "(SELECT m.id FROM session m WHERE m.root = s.root AND m.subagent = '' AND m.owner = s.owner), s.id) "
            "LEFT JOIN opened o ON o.source = r.id "
            f"WHERE s.project = ? AND {_OWN} AND (t.path = ? OR (t.path >= ? AND t.path < ?)) "
            "ORDER BY r.started_at DESC, r.id, s.started_at DESC, s.id, t.position LIMIT ?",
            (project, path, f"{path}/", f"{path}0", limit),
        )
    ]


def with_failures(db: Database, failures: Sequence[str]) -> dict[str, list[str]]:
    """Failure → the projects that met it, those of most sessions first."""
    found: dict[str, list[str]] = {}
    for some in batches(failures):
        for failure, project in db.query(
            f"SELECT failure, project FROM failure_in_project WHERE failure IN ({marks(some)}) "
            "ORDER BY sessions DESC, project",
            some,
        ):
            found.setdefault(failure, []).append(project)
    return found


def newest_sessions(db: Database) -> dict[str, int]:
    """Project → when its newest session began."""
    rows = db.query("SELECT project, max(started_at) FROM session WHERE project IS NOT NULL GROUP BY project")
    return {str(project): int(at) for project, at in rows}


def paths_touched(db: Database, project: str) -> list[str]:
    """The files of a project that sessions touched."""
    rows = db.query(
        "SELECT DISTINCT t.path FROM touched t JOIN session s ON s.id = t.source "
        f"WHERE s.project = ? AND {_OWN} ORDER BY t.path",
        (project,),
    )
    return [path for (path,) in rows]


class Standing(NamedTuple):
    """Where a passage stands."""

    message_index: int
    owner: str
    agent: str
    external_id: str
    has_root: bool
    """Whether the session is here that was started by a person: the passage may be of one of its sub-agents."""
    path: str


def visits_of_passages(db: Database, ids: Sequence[str]) -> dict[str, Standing]:
    root = "EXISTS (SELECT 1 FROM session r WHERE r.root = s.root AND r.subagent = '')"
    columns = f"p.message_index, s.owner, s.agent, s.external_id, {root}, s.path"
    joined = "passage p JOIN session s ON s.id = p.source"
    rows = db.query(f"SELECT p.id, {columns} FROM {joined} WHERE p.id IN ({marks(ids)})", ids) if ids else []
    return {row[0]: Standing(*row[1:]) for row in rows}


def sessions_called(db: Database, id: str) -> list[tuple[str, str, str, str]]:
    """(id, agent, the agent's own id, folder) of the sessions that a person may mean: no agent here has others'.

    Who means a sub-agent means the session that started it.
    """
    return db.query(
        "SELECT s.id, s.agent, s.external_id, coalesce((SELECT min(r.path) FROM project_root r "
        "WHERE r.project = s.project), '') FROM session s "
        f"WHERE s.subagent = '' AND {_OWN} AND (s.external_id = ? OR s.root IN "
        "(SELECT named.root FROM session named WHERE substr(named.id, 1, ?) = ?)) ORDER BY s.id LIMIT 6",
        (id, len(id), id),
    )


def save(db: Database, project: Project) -> set[str]:
    """Keep a project and its folder.

    A session may be the first to name the remote of a folder that was a project of its own until
    now: that project is then part of this one. Returns the lessons and failures that moved.
    """
    db.execute(
        "INSERT INTO project (id, key, name) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET key = excluded.key, "
        "name = excluded.name WHERE project.key = project.id",  # a repaired one had lost them
        (project.id, project.key, project.name),
    )
    if not project.root:
        return set()
    moved = set()
    if project.key != project.root and db.query("SELECT 1 FROM project WHERE key = ?", (project.root,)):
        moved = _absorb(db, project_id(project.root), project.id)
    db.execute(
        "INSERT INTO project_root (path, project, claims) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET project = "
        "excluded.project, claims = '' WHERE ? <> ?",
        (project.root, project.id, project.claims, project.key, project.root),
    )
    if project.claims:
        db.execute(
            "UPDATE project_root SET claims = ? WHERE path = ? AND project = ? AND claims = ''",
            (project.claims, project.root, project.id),
        )
    return moved


def is_settled(db: Database, project: Project) -> bool:
    """Whether the project and its folder are kept as they are, so that `save` concerns no other."""
    if not db.query("SELECT 1 FROM project WHERE id = ? AND key <> id", (project.id,)):
        return False
    if not project.root:
        return True
    apart = project.key != project.root and db.query("SELECT 1 FROM project WHERE key = ?", (project.root,))
    own = db.query("SELECT 1 FROM project_root WHERE path = ? AND project = ?", (project.root, project.id))
    return bool(own) and not apart


_DECLINED = "no"
"""In the place of what a folder claims: a person has said no, and is not asked again."""


def of_folder(db: Database, folder: str, remote: str = "") -> Project | None:
    """The project of a folder; the remote that it names counts where it is new, or the folder is confirmed."""
    roots = known_roots(db)
    found = identify(folder, remote, roots)
    return found and found.settled(roots, frozenset(keys(db)))


def claims(db: Database) -> list[tuple[str, str]]:
    """(folder, remote) of folders that name the remote of another project and nobody has confirmed."""
    return db.query("SELECT path, claims FROM project_root WHERE claims NOT IN ('', ?) ORDER BY path", (_DECLINED,))


def answer(db: Database, folder: str, *, yes: bool) -> set[str]:
    """A person's word on what a folder claims; returns the lessons and failures that moved. Inside a transaction."""
    found = [claim for path, claim in claims(db) if path == folder]
    if not found:
        raise NotFound(f"{folder} names the remote of no other project")
    if yes:
        return save(db, Project(found[0], folder))
    db.execute("UPDATE project_root SET claims = ? WHERE path = ?", (_DECLINED, folder))
    return set()


def _absorb(db: Database, old: str, new: str) -> set[str]:
    for table in schema.TABLES:
        if "project" in table.names and not table.composed and table.name != "lesson":  # whose ids change with it
            db.execute(f"UPDATE {table.name} SET project = ? WHERE project = ?", (new, old))
    for name in ("standing", *DRAWN):
        db.execute(f"DELETE FROM {name} WHERE project = ?", (old,))
    moved = lessons.move(db, old, new)
    moved |= {row[0] for row in db.query("SELECT failure FROM failure_in_project WHERE project = ?", (old,))}
    db.execute("DELETE FROM project WHERE id = ?", (old,))
    return moved


def known_roots(db: Database) -> dict[str, str]:
    """Root folder, or the key of what was joined by hand → key, so that a session joins the project that has it."""
    rows = db.query("SELECT r.path, p.key FROM project_root r JOIN project p ON p.id = r.project")
    return dict(rows) | dict(db.query("SELECT a.name, p.key FROM project_alias a JOIN project p ON p.id = a.project"))


# What a person decides about projects.


def rename(db: Database, id: str, name: str) -> str:
    """Call a project otherwise; the name that it had still finds it. Returns that."""
    (old,) = db.query("SELECT name FROM project WHERE id = ?", (id,))[0]
    db.execute("UPDATE project SET name = ? WHERE id = ?", (name, id))
    call_also(db, id, old)
    return str(old)


def merge(db: Database, id: str, into: str) -> set[str]:
    """Make a project part of another, for its later sessions as well. Returns the lessons and failures that moved."""
    key, name = db.query("SELECT key, name FROM project WHERE id = ?", (id,))[0]
    moved = _absorb(db, id, into)
    for also in (key, name):
        call_also(db, into, also)
    return moved


def split(db: Database, id: str, part: str) -> int:
    """Make a folder or remote of a project one of its own again, when its sessions are read anew; returns how many."""
    db.execute("DELETE FROM project_alias WHERE project = ? AND name IN (?, ?)", (id, part, base_name(part)))
    own = Project(part, part)
    db.execute(
        "INSERT INTO project (id, key, name) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", (own.id, own.key, own.name)
    )
    db.execute("UPDATE project_root SET project = ? WHERE path = ? AND project = ?", (own.id, part, id))
    files = db.query("SELECT DISTINCT path FROM session WHERE project = ?", (id,))
    db.bulk("DELETE FROM source WHERE path = ?", files)
    ids = [row[0] for row in db.query("SELECT id FROM session WHERE project = ?", (id,))]
    db.execute("UPDATE session SET harvester_version = 0 WHERE project = ?", (id,))
    integrity.reseal(db, "session", ids)
    return len(files)


def parts(db: Database, id: str) -> tuple[list[str], list[str]]:
    """(the folders of a project, the other names that find it)."""
    roots = db.query("SELECT path FROM project_root WHERE project = ? ORDER BY path", (id,))
    aliases = db.query("SELECT name FROM project_alias WHERE project = ? ORDER BY name", (id,))
    return [row[0] for row in roots], [row[0] for row in aliases]


def call_also(db: Database, id: str, name: str) -> None:
    """Another name that finds a project; that of another project is refused by whoever asks a person."""
    db.execute(
        "INSERT INTO project_alias (name, project) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET project = "
        "excluded.project",
        (name, id),
    )


def roots(db: Database) -> list[str]:
    """The folders that projects live in, as they are on any machine that they were seen on."""
    return [row[0] for row in db.query("SELECT path FROM project_root ORDER BY path")]


def find(db: Database, name: str) -> list[tuple[str, str, str]]:
    """(id, key, name) of the projects that a person may mean: by id, key, root folder or name.

    Names and remotes are the same in any case, where none is written just so.
    """
    exact = db.query(
        "SELECT DISTINCT p.id, p.key, p.name FROM project p LEFT JOIN project_root r ON r.project = p.id "
        "LEFT JOIN project_alias a ON a.project = p.id "
        "WHERE p.id = ? OR p.key = ? OR r.path = ? OR p.name = ? OR a.name = ? ORDER BY p.key",
        (name, name, name, name, name),
    )
    if exact or not name:
        return exact
    wanted = name.casefold()
    rows = db.query(
        "SELECT p.id, p.key, p.name, coalesce(a.name, '') FROM project p LEFT JOIN project_alias a ON a.project = p.id "
        "ORDER BY p.key"
    )
    return list(dict.fromkeys(row[:3] for row in rows if wanted in map(str.casefold, row[1:])))


def told(found: Sequence[tuple[str, str, str]]) -> str:
    """Projects of one name, each with the id that tells it from the others, and how to make them one."""
    return f"{', '.join(f'{id} ({key})' for id, key, _ in found)}; to make them one: `hardwon projects merge`"


def called(db: Database) -> dict[str, str]:
    """Id → what `find` knows it alone by: its name, or its key where another has the same name."""
    rows = db.query("SELECT id, name, key FROM project")
    often = Counter(name.casefold() for _, name, _ in rows)
    return {id: name if often[name.casefold()] == 1 else key for id, name, key in rows}


def by_activity(db: Database) -> list[tuple[str, str, int]]:
    """(id, name, sessions), the busiest first; somebody else's sessions make none busier than one's own do."""
    return db.query(
        "SELECT p.id, p.name, count(*) FROM project p JOIN session s ON s.project = p.id "
        "WHERE s.subagent = '' GROUP BY p.id, p.name "
        "ORDER BY count(*) FILTER (WHERE s.owner = 'own') DESC, count(*) DESC, max(s.started_at) DESC, p.id"
    )


def agents(db: Database, project: str) -> list[str]:
    return [row[0] for row in db.query("SELECT DISTINCT agent FROM session WHERE project = ? ORDER BY 1", (project,))]


def names(db: Database) -> dict[str, str]:
    """Id → name."""
    return dict(db.query("SELECT id, name FROM project"))


def keys(db: Database) -> list[str]:
    return [row[0] for row in db.query("SELECT key FROM project ORDER BY key")]
