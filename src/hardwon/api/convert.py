"""Rows of the store as the nouns of the API: the one place where its microseconds become times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from hardwon.clock import moment
from hardwon.model import lesson as inner
from hardwon.model.failure import Step as InnerStep
from hardwon.model.nouns import (
    Call,
    Document,
    Event,
    Failure,
    FailureCost,
    Fix,
    FixEvidence,
    Lesson,
    Occurrence,
    SessionRecord,
    Source,
    Step,
)
from hardwon.store import documents, failures, integrity
from hardwon.store.lessons import SourceRow
from hardwon.store.sessions import CallRow, SessionRow
from hardwon.text.shown import remedy

Noun = TypeVar("Noun", bound=Struct)

_LESSON_TIMES = ("first_seen", "last_confirmed", "valid_from", "valid_until", "last_referenced")


def lesson(found: inner.StoredLesson) -> Lesson:
    return _noun(Lesson, _fields(found), _LESSON_TIMES)


def source(row: SourceRow) -> Source:
    return _noun(Source, row._asdict(), ("at",))


def failure(
    row: failures.FailureRow, fixes: Sequence[failures.FixRow], evidence: Mapping[str, Sequence[failures.EvidenceRow]]
) -> Failure:
    agents = [agent for agent in row.agents.split(",") if agent]
    fields = {**row._asdict(), "agents": agents, "fixes": _fixes(fixes, evidence)}
    return _noun(Failure, fields, ("first_seen", "last_seen"))


def occurrence(row: failures.OccurrenceRow) -> Occurrence:
    return _noun(Occurrence, row._asdict(), ("at",))


def cost(found: failures.Cost) -> FailureCost:
    return FailureCost(times=[moment(at) for at in found.times], tokens=found.tokens)


def session(row: SessionRow, commits: dict[str, tuple[str, ...]]) -> SessionRecord:
    made = commits.get(row.external_id, ())
    known = {"commits": made, "outcome": outcome(row.outcome, made), "project": row.project or ""}
    return _noun(SessionRecord, {**row._asdict(), **known}, ("started_at", "ended_at"))


def outcome(ended: str, commits: Sequence[str]) -> str:
    """That a session led to a commit is the best that can be known of what came of it."""
    return "committed" if commits else ended


def call(row: CallRow) -> Call:
    return _noun(Call, row._asdict(), ("at",))


def document(row: documents.DocumentRow) -> Document:
    fields = {**row._asdict(), "project": row.project or "", "tags": msgspec.json.decode(row.tags, type=list[str])}
    return _noun(Document, fields, ("ingested_at", "updated_at"))


def event(row: integrity.EventRow) -> Event:
    return _noun(Event, row._asdict(), ("at",))


def _fixes(rows: Sequence[failures.FixRow], evidence: Mapping[str, Sequence[failures.EvidenceRow]]) -> list[Fix]:
    return [
        Fix(
            id=fix.id,
            text=remedy(fix.steps, fix.succeeded_as),
            steps=_steps(fix.steps),
            succeeded_as=fix.succeeded_as,
            avoid=_steps(fix.avoid),
            status=fix.status,
            untrusted=fix.untrusted,
            confirmed=fix.confirmed,
            failed_again=fix.failed_again,
            last_seen=moment(fix.last_seen),
            evidence=[FixEvidence(**row._asdict()) for row in evidence.get(fix.id, ())],
        )
        for fix in rows
    ]


def _steps(steps: Sequence[InnerStep]) -> list[Step]:
    return [Step(action=step.action, what=step.what) for step in steps]


def _fields(found: Struct) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


def _noun(shape: type[Noun], fields: dict[str, Any], times: Iterable[str]) -> Noun:
    """Those of the fields that the noun has, the stamps among them as times."""
    wanted = {name: fields[name] for name in shape.__struct_fields__ if name in fields}
    for name in times:
        if isinstance(wanted.get(name), int):
            wanted[name] = moment(wanted[name])
    return shape(**wanted)
