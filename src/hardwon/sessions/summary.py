"""Counts of a session: from the whole of it, or by a format's own way of counting without building it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.model.session import Session, SessionOutcome, Summary
from hardwon.sessions import (
    claude_code,
    claude_code_counts,
    codex,
    codex_counts,
    failed_tests,
    hermes,
    hermes_counts,
)
from hardwon.sessions.compressed import is_compressed
from hardwon.sessions.counter import Counting, CountingFormat
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.project import project_key
from hardwon.sessions.reader import recognised
from hardwon.sessions.source import Source

# Formats of which a machine may hold thousands; the others are read whole.
_COUNTERS: dict[str, CountingFormat] = {
    claude_code.NAME: claude_code_counts,
    codex.NAME: codex_counts,
    hermes.NAME: hermes_counts,
}
_encode = msgspec.msgpack.Encoder().encode
_decoders = {name: msgspec.msgpack.Decoder(format.Counting) for name, format in _COUNTERS.items()}


class Reached(Struct, array_like=True, gc=False):
    """How far a file has been counted, and the counts up to there: all that is needed to go on."""

    format: str
    offset: int
    mark: bytes
    counts: bytes


class Counted(NamedTuple):
    sessions: list[Summary]
    reached: Reached | None
    """None for a file that must be read whole when it grows."""


def summaries(path: Path) -> list[Summary]:
    """The counts of every session in a file. Raises NotFound, or NotASession with the reason."""
    return count(path).sessions


def count(path: Path | str, before: Reached | None = None) -> Counted:
    """Count what is in a file; of one that only grew since `before`, no more than what is new is read."""
    if before is not None and (more := _count_on(path, before)) is not None:
        return more
    source = Source(path)
    format = recognised(source)
    if counter := _COUNTERS.get(format.NAME):
        counted = _counted(source, format.NAME, counter.Counting(stem=source.stem))
        if counted is not None:
            return counted
    return Counted([summary(failed_tests.judge(session)) for session in format.read(source)], None)


def _count_on(path: Path | str, before: Reached) -> Counted | None:
    """None when the file is not what was counted, with more behind it."""
    source = Source(path, start=before.offset)
    try:
        if source.mark(before.offset) != before.mark:
            return None
        return _counted(source, before.format, _decoders[before.format].decode(before.counts))
    except (OSError, KeyError, msgspec.DecodeError):
        return None


def _counted(source: Source, format: str, counting: Counting) -> Counted | None:
    line = _COUNTERS[format].Line
    for batch in source.finished(line):
        counting.add(batch)
    offset = source.offset
    reached = None
    if offset and not is_compressed(source.name):
        reached = Reached(format, offset, source.mark(offset), _encode(counting))
    if rest := source.unfinished(line):
        counting.add(rest)
    found = counting.summaries()
    return Counted(found, reached) if found is not None else None


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
