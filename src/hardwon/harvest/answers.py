"""Close the questions of a project that a later session answered."""

from __future__ import annotations

from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.text.words import terms

_SHARED = 0.6
"""The share of a question's words that a later task has when it is about the same."""
_MOST_TASKS = 500


def close_answered(db: Database, project: str) -> None:
    """Called inside a transaction. What a person decided on stays as it is."""
    open_ones = [
        one
        for one in lessons.listed(db, project=project, kind="question")
        if one.status in ("active", "candidate") and one.project == project and not one.kept
    ]
    if not open_ones:
        return
    tasks = db.query(
        "SELECT started_at, task FROM session WHERE project = ? AND messages > user_messages UNION ALL "
        "SELECT started_at, task FROM attempt WHERE project = ? ORDER BY 1 DESC LIMIT ?",
        (project, project, _MOST_TASKS),
    )
    later = [(at, set(terms(task))) for at, task in reversed(tasks)]
    for question in open_ones:
        wanted = set(terms(question.text))
        answered = [at for at, about in later if at > question.last_confirmed and _same(wanted, about)]
        if answered:
            lessons.settle(
                db, question.id, why="a later session took it up", status="superseded", valid_until=answered[0]
            )


def _same(wanted: set[str], about: set[str]) -> bool:
    return bool(wanted) and len(wanted & about) >= _SHARED * len(wanted)
