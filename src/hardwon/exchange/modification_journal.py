"""A ModificationJournal database: one table of attempts at changing one's own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardwon.exchange.intake import Foreign, Intake, Taken, database
from hardwon.store.attempts import AttemptRow, FileRow
from hardwon.store.database import Database
from hardwon.text.normalise import MARK, derived

USUAL_PATH = Path("data/self_coding.db")
"""Where that system keeps it, below the folder that it runs in."""
_TABLE = "modification_journal"
_DEFAULTS: dict[str, object] = {
    "id": None,
    "timestamp": None,
    "task_description": "",
    "approach": "",
    "files_modified": "[]",
    "diff": "",
    "test_results": "",
    "outcome": "unknown",
    "failure_analysis": "",
    "reflection": "",
    "retry_count": 0,
}
_OUTCOMES = ("success", "failure", "rollback", "partial")
_RUN = "import:journal"
_MAX_ENTRY_NUMBER = 2**31


def take(db: Database, path: Path, *, project: str | None = None, trusted: bool = False) -> Taken:
    """Inside a transaction. Times, outcomes and, where they are free, the numbers of the attempts are kept.

    Errors in test output are recognised, reflections proposed as lessons. `project` is an id; attempts that an earlier
    import brought without one get it.
    """
    with database(path, "a ModificationJournal", {_TABLE: frozenset(("id", "task_description", "outcome"))}) as found:
        intake = Intake(db, "journal", found.changed)
        numbers = _Numbers(db, found.largest(_TABLE, "id"))
        for row in found.rows(_TABLE, _DEFAULTS, "id"):
            _take(intake, row, numbers, project, trusted=trusted)
        _say_what_is_left_out(intake, found)
    return intake.report()


class _Numbers:
    """An attempt keeps the journal's number, or has a new one above all where the store has given it away."""

    def __init__(self, db: Database, largest: int) -> None:
        self._taken = {row[0] for row in db.query("SELECT number FROM attempt")}
        self._last = max([0, min(largest, _MAX_ENTRY_NUMBER), *self._taken])

    def next(self, wanted: object) -> int:
        if isinstance(wanted, int) and 0 < wanted <= _MAX_ENTRY_NUMBER and wanted not in self._taken:
            number = wanted
        else:
            number = self._last = self._last + 1
        self._taken.add(number)
        return number


def _say_what_is_left_out(intake: Intake, found: Foreign) -> None:
    vectors = found.count(_TABLE, "embedding IS NOT NULL") if "embedding" in found.columns(_TABLE) else 0
    if vectors:
        intake.leave_out(f"embedding: {vectors} vectors; the store makes its own from the text")
    for other in found.others({_TABLE: {*_DEFAULTS, "embedding"}}):
        intake.leave_out(f"{other}: not part of a journal")


def _take(intake: Intake, row: dict[str, Any], numbers: _Numbers, project: str | None, *, trusted: bool) -> None:
    task = intake.text(row["task_description"])
    id = derived("A", "journal", str(row["id"]), str(row["timestamp"]), MARK.sub("", task))
    if intake.known_attempt(id, project, trusted=trusted):
        return
    outcome = intake.text(row["outcome"])
    intake.attempt(
        AttemptRow(
            id=id,
            source="import",
            session="",
            root=_RUN,
            project=project,
            agent="",
            task=task,
            approach=intake.text(row["approach"]),
            phase="",
            outcome=outcome if outcome in _OUTCOMES else "unknown",
            evidence=f"entry {row['id']} of a modification journal",
            exit_code=None,
            diff=intake.text(row["diff"]),
            test_results=intake.text(row["test_results"]),
            failure_analysis=intake.text(row["failure_analysis"]),
            reflection=intake.text(row["reflection"]),
            retry_count=row["retry_count"] if isinstance(row["retry_count"], int) else 0,
            retry_of="",
            git_commit="",
            tokens=None,
            started_at=intake.time(row["timestamp"]),
            duration=None,
            files=tuple(FileRow(path) for path in dict.fromkeys(intake.names(row["files_modified"])) if path),
            number=numbers.next(row["id"]),
        ),
        trusted=trusted,
    )
