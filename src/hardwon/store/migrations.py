"""The steps by which a store of any older schema becomes one of today's. A new store is made from the declaration.

A step says what must be done beyond adding what `schema.py` declares as new since then: `Upgrade` has the verbs, which
are the same on both engines.
"""

from __future__ import annotations

from functools import cache

from hardwon.errors import StoreTooNew
from hardwon.store import schema, upgrade
from hardwon.store.database import Database
from hardwon.store.ddl import CASCADE, Index, Reference, Table, integer, ours, table
from hardwon.store.ids import text_hash
from hardwon.store.upgrade import Step, Upgrade


def _whole_data_model(to: Upgrade) -> None:
    to.execute("UPDATE session SET root = agent || ':' || external_id")
    to.fill("lesson", "text_hash", text_hash, "text")
    declared = tables_at(2)
    to.rebuild_table(
        declared["occurrence"],
        "SELECT o.session, o.position, o.failure, o.project, s.root, s.agent, o.message_index, o.at, o.command, "
        "o.exit_code, '', '', 0, o.excerpt FROM old_occurrence o JOIN session s ON s.id = o.session",
    )
    to.rebuild_table(
        declared["fix"],
        "SELECT id, failure, steps, succeeded_as, avoid, status, 0, untrusted, confirmed, 0, last_seen FROM old_fix",
    )
    to.rebuild_table(
        declared["fix_evidence"],
        "SELECT e.fix, e.session, s.root, e.at, e.avoid, e.untrusted, 0 "
        "FROM old_fix_evidence e JOIN session s ON s.id = e.session",
    )
    to.rebuild_table(
        declared["lesson_source"],
        "SELECT o.lesson, o.session, o.message_index, s.root, s.started_at, o.quote, o.origin "
        "FROM old_lesson_source o JOIN session s ON s.id = o.session",
    )
    to.rebuild_table(
        declared["standing"],
        "SELECT project, agent, rank, section, item, text, 0, 0, 0, 0.0 FROM old_standing",
    )
    for counted in ("failure", "project"):
        to.execute(f"INSERT INTO stale SELECT id FROM {counted} WHERE true ON CONFLICT (item) DO NOTHING")


STEPS = (Step(2, "the whole data model", _whole_data_model),)


def newest() -> int:
    return STEPS[-1].to


def is_behind(current: int, place: str) -> bool:
    """Whether a store at schema `current` (0: a new one) must be upgraded; StoreTooNew if this Hardwon must."""
    if current > newest():
        raise StoreTooNew(
            f"{place} was written by a newer Hardwon (schema {current}, this one knows {newest()}): upgrade Hardwon"
        )
    return current < newest()


def bring(db: Database, current: int) -> None:
    """Upgrade a store inside a transaction of the caller's; a StoreError if that fails."""
    upgrade.run(db, [step for step in STEPS if step.to > current], tables_at)


_UNTIL_1: tuple[Table, ...] = (
    table(
        "occurrence",
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("position"),
        ours("failure", refers=Reference("failure")),
        ours("project", null=True),
        integer("message_index"),
        integer("at"),
        ours("command"),
        integer("exit_code", null=True),
        ours("excerpt"),
        key="session position",
        indexes=(
            Index("occurrence_by_failure", "failure at"),
            Index("occurrence_by_project", "project failure"),
        ),
        rowid=False,
    ),
    table(
        "fix",
        ours("id"),
        ours("failure", refers=Reference("failure")),
        ours("steps"),
        ours("succeeded_as"),
        ours("avoid"),
        ours("status", one_of=("active", "candidate")),
        ours("untrusted"),
        integer("confirmed"),
        integer("last_seen"),
        indexes=(Index("fix_by_failure", "failure status"),),
    ),
    table(
        "fix_evidence",
        ours("fix", refers=Reference("fix", on_delete=CASCADE)),
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("at"),
        ours("avoid"),
        ours("untrusted"),
        key="fix session",
        indexes=(Index("fix_evidence_by_session", "session"),),
        rowid=False,
    ),
    table(
        "lesson_source",
        ours("lesson", refers=Reference("lesson", on_delete=CASCADE, on_update=CASCADE)),
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("message_index"),
        ours("quote"),
        ours("origin"),
        key="lesson session message_index",
        indexes=(Index("lesson_source_by_session", "session"),),
        rowid=False,
    ),
    table(
        "standing",
        ours("project", refers=Reference("project")),
        ours("agent"),
        integer("rank"),
        ours("section"),
        ours("item"),
        ours("text"),
        key="project agent rank",
        rowid=False,
    ),
)

_REBUILT: dict[int, tuple[Table, ...]] = {1: _UNTIL_1}
"""Tables that a later step made anew, as they were up to a schema."""


@cache
def tables_at(version: int) -> dict[str, Table]:
    """The tables of a schema, those that others refer to first."""
    found = {table.name: table.at(version) for table in schema.tables() if table.since <= version}
    for until in sorted(_REBUILT, reverse=True):
        found |= {table.name: table for table in _REBUILT[until] if until >= version}
    return found
