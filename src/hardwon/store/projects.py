"""Projects and the folders they live in."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.errors import NotFound
from hardwon.sessions.project import Project, identify, project_id
from hardwon.store import lessons, schema, visits
from hardwon.store.database import Database
from hardwon.text.normalise import base_name


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
    for name in ("standing", *visits.DRAWN):
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


def describe(db: Database, id: str, text: str) -> None:
    db.execute("UPDATE project SET description = ? WHERE id = ?", (text, id))


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
    db.execute("UPDATE session SET harvester_version = 0 WHERE project = ?", (id,))
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
    """Projects of one name, each with the id that tells it from the others."""
    return ", ".join(f"{id} ({key})" for id, key, _ in found)


def archive(db: Database, id: str, *, archived: bool) -> None:
    db.execute("UPDATE project SET status = ? WHERE id = ?", ("archived" if archived else "active", id))


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
