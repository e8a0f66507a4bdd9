"""What a team knows of a project, as a machine pulls it and puts it into the file that its hooks read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from hardwon.store import meta, schema
from hardwon.store.database import Column, Database, Table, batches, insert, marks
from hardwon.store.spool import told_in
from hardwon.text.normalise import normalised
from hardwon.text.shown import clean

TableRows = list[dict[str, Any]]
_LESSONS_PULLED = 2_000
_FAILURES_PULLED = 5_000
_MAX_CHARACTERS_PULLED = 4_000
_FINGERPRINT = re.compile(r"F[0-9a-f]{16}")


class Knowledge(Struct, frozen=True, kw_only=True):
    """What hooks tell in a project: rows of a store by the names of their columns."""

    project: str
    """Its id, in whichever store the rows are."""
    lesson: TableRows = []
    failure: TableRows = []
    failure_in_project: TableRows = []
    fix: TableRows = []
    conflict: TableRows = []
    conflict_member: TableRows = []
    standing: TableRows = []


def knowledge(db: Database, project: str) -> Knowledge:
    """What a session of the project may be told, and nothing that only other projects have seen."""

    def rows(name: str, where: str, values: Sequence[object], order: str) -> TableRows:
        table = schema.TABLES.named[name]
        told = f"({table.mirrored}) AND {where}" if table.mirrored else where
        found = db.query(f"SELECT {', '.join(table.names)} FROM {name} WHERE {told} ORDER BY {order}", values)
        return [dict(zip(table.names, row, strict=True)) for row in found]

    lesson = rows(
        "lesson", "(project = ? OR project IS NULL)", (project,), f"confidence DESC, id LIMIT {_LESSONS_PULLED}"
    )
    here = rows("failure_in_project", "project = ?", (project,), f"sessions DESC, failure LIMIT {_FAILURES_PULLED}")
    ids = [row["failure"] for row in here]
    failure = [row for part in batches(ids) for row in rows("failure", f"id IN ({marks(part)})", part, "id")]
    fix = [row for part in batches(ids) for row in rows("fix", f"failure IN ({marks(part)})", part, "id")]
    told = [row for row in fix if told_in(project, row["projects"])]
    members = [
        row
        for part in batches([row["id"] for row in lesson])
        for row in rows("conflict_member", f"lesson IN ({marks(part)})", part, "conflict, lesson")
    ]
    open_ = sorted({row["conflict"] for row in members})
    return Knowledge(
        project=project,
        lesson=lesson,
        failure=[row | {"words": ""} for row in failure],  # which may be another project's
        failure_in_project=here,
        fix=[row | {"projects": project if project in row["projects"].split(",") else ""} for row in told],
        conflict=[row for part in batches(open_) for row in rows("conflict", f"id IN ({marks(part)})", part, "id")],
        conflict_member=members,
        standing=rows("standing", "project = ?", (project,), "agent, rank"),
    )


def add_known(copy: Database, store: Database, known: Knowledge, project: str) -> None:
    """Put what the team knows beside what this machine does, in the file that its hooks read.

    What was forgotten or decided on here stays so.
    """
    forgotten = meta.load_tombstones(store)
    decided = {row[0] for row in store.query("SELECT id FROM lesson WHERE kept = 1")}
    decided |= {row[0] for row in store.query("SELECT id FROM fix WHERE reviewed = 1")}

    def wanted(name: str, row: dict[str, Any]) -> bool:
        texts = [value for value in row.values() if isinstance(value, str)]
        gone = forgotten and (
            any(map(forgotten.says, texts))
            or (name == "lesson" and forgotten.holds("lesson", normalised(row["text"])))
            or any(forgotten.holds("failure", text) for text in texts if _FINGERPRINT.fullmatch(text))
        )
        return not gone and row.get("id") not in decided

    kept: dict[str, set[Any]] = defaultdict(set)
    for name in ("failure", "failure_in_project", "fix", "lesson", "conflict", "conflict_member"):
        table = schema.TABLES.named[name]
        rows = [_local(table, row, known.project, project) for row in getattr(known, name)]
        rows = [row for row in rows if wanted(name, row)]
        for column, parent, _ in table.refers:
            if parent in kept or parent in ("failure", "fix", "lesson", "conflict"):
                rows = [row for row in rows if row[column] in kept[parent]]
        _put(copy, table, rows)
        kept[name] |= {row["id"] for row in rows if "id" in row}
    _put_standing(copy, known, project, [row for row in known.standing if wanted("standing", row)])


def _local(table: Table, row: dict[str, Any], theirs: str, ours: str) -> dict[str, Any]:
    """With the columns of this store, its id of the project, and texts that a terminal can show."""

    def value(column: Column) -> Any:
        found = row.get(column.name, column.default)
        if column.type == "TEXT" and isinstance(found, str):
            found = clean(found)[:_MAX_CHARACTERS_PULLED]
        return found

    made = {column.name: value(column) for column in table.columns}
    for column in ("project", "projects"):
        if made.get(column) == theirs:
            made[column] = ours
    return made


def _put(copy: Database, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    changed = ", ".join(f"{name} = excluded.{name}" for name in table.names if name not in table.key)
    action = f"DO UPDATE SET {changed}" if changed else "DO NOTHING"
    put = insert(table.name, table.names, f"ON CONFLICT ({', '.join(table.key)}) {action}")
    copy.bulk(put, [tuple(row[name] for name in table.names) for row in rows])


def _put_standing(copy: Database, known: Knowledge, project: str, theirs: Sequence[dict[str, Any]]) -> None:
    """Lines of both, best first in each section; the same is told once."""
    table = schema.TABLES.named["standing"]
    columns = ", ".join(table.names)
    ours = [dict(zip(table.names, row, strict=True)) for row in copy.query(
        f"SELECT {columns} FROM standing WHERE project = ? ORDER BY agent, rank", (project,))]  # fmt: skip
    other = [_local(table, row, known.project, project) for row in theirs]
    lines: list[dict[str, Any]] = []
    for agent in sorted({row["agent"] for row in (*ours, *other)}):
        both = [*_lines_for(agent, other), *_lines_for(agent, ours)]
        sections = list(dict.fromkeys(row["section"] for row in both))
        both.sort(key=lambda row: (sections.index(row["section"]), -row["score"]))
        once = {row["item"]: row for row in reversed(both)}
        once = {normalised(row["text"]): row for row in reversed([row for row in both if once[row["item"]] is row])}
        left = [row for row in both if once.get(normalised(row["text"])) is row]
        lines += [row | {"agent": agent, "rank": rank} for rank, row in enumerate(left)]
    copy.execute("DELETE FROM standing WHERE project = ?", (project,))
    _put(copy, table, lines)


def _lines_for(agent: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """An agent that was never seen there gets what holds for any."""
    return [row for row in rows if row["agent"] == agent] or [row for row in rows if not row["agent"]]
