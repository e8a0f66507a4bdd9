"""A session's attempts as the journal keeps them."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.model.harvested import HarvestedAttempt
from hardwon.store.attempts import AttemptRow, FileRow, id_in_session
from hardwon.store.sessions import SessionRow

_ROLES = {"created": "created", "edited": "modified", "deleted": "deleted"}


def attempt_rows(session: SessionRow, attempts: Iterable[HarvestedAttempt]) -> list[AttemptRow]:
    """Of those at which something was done; a question and its answer is no attempt."""
    return [_row(session, attempt) for attempt in attempts if _did_something(attempt)]


def _did_something(attempt: HarvestedAttempt) -> bool:
    return bool(attempt.files or attempt.diff or attempt.commits or attempt.errors) or attempt.tests != "none"


def _row(session: SessionRow, attempt: HarvestedAttempt) -> AttemptRow:
    started = attempt.started_at or session.started_at
    tested = f"{attempt.tests}: {attempt.test_command}" if attempt.tests != "none" else ""
    return AttemptRow(
        id=id_in_session(session.id, attempt.message_index),
        source="session",
        session=session.id,
        root=session.root,
        project=session.project,
        agent=session.agent,
        task=attempt.task,
        approach=attempt.approach,
        phase="",
        outcome=attempt.outcome,
        evidence=attempt.evidence,
        exit_code=None,
        diff="\n".join(attempt.diff),
        test_results=tested,
        failure_analysis="",
        reflection="",
        retry_count=0,
        retry_of="",
        git_commit=attempt.commits[-1] if attempt.commits else "",
        tokens=None,
        started_at=started,
        duration=attempt.ended_at - started if attempt.ended_at and attempt.ended_at >= started else None,
        files=tuple(FileRow(file.path, _ROLES[file.role]) for file in attempt.files),
    )
