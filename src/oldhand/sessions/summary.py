"""Counts of a session: from the whole of it, or by a format's own way of counting without building it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from oldhand.model.session import Session, SessionOutcome, Summary
from oldhand.sessions import (
    claude_code,
    claude_code_counts,
    codex,
    codex_counts,
    failed_tests,
    hermes,
    hermes_counts,
)
from oldhand.sessions.origin import INTERRUPTED
from oldhand.sessions.project import project_key
from oldhand.sessions.reader import recognised
from oldhand.sessions.source import Source

# Formats of which a machine may hold thousands; the others are read whole.
_COUNTERS: dict[str, Callable[[Source], list[Summary] | None]] = {
    claude_code.NAME: claude_code_counts.count,
    codex.NAME: codex_counts.count,
    hermes.NAME: hermes_counts.count,
}


def summaries(path: Path) -> list[Summary]:
    """The counts of every session in a file. Raises NotFound, or NotASession with the reason."""
    source = Source(path)
    format = recognised(source)
    counted = _COUNTERS[format.NAME](source) if format.NAME in _COUNTERS else None
    if counted is not None:
        return counted
    return [summary(failed_tests.judge(session)) for session in format.read(source)]


def outcome(session: Session) -> SessionOutcome:
    """How the last judged call ended; a session that the user stopped failed."""
    judged = [result.outcome for result in session.results() if result.outcome != "unknown"]
    stopped = bool(session.messages) and session.messages[-1].text == INTERRUPTED
    return "failure" if stopped or judged[-1:] == ["error"] else "completed" if judged else "unknown"


def summary(session: Session) -> Summary:
    return Summary(
        external_id=session.external_id,
        agent=session.agent,
        format=session.format,
        subagent=session.subagent,
        project=project_key(session.cwd, session.remote),
        started_at=session.started_at,
        ended_at=session.ended_at,
        messages=len(session.messages),
        tool_calls=session.tool_calls,
        errors=sum(result.outcome == "error" for result in session.results()),
        outcome=outcome(session),
    )
