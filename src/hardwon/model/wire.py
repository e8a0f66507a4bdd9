"""The nouns as they go over the wire: what the HTTP service answers and its client reads; times are ISO-8601."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from hardwon.model.lesson import Kind, Scope, Status, Trust
from hardwon.model.outcome import Outcome

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def moment(stamp: int) -> datetime:
    return _EPOCH + stamp * _MICROSECOND


def microseconds(when: datetime) -> int:
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


class Page(Struct, Generic[T], frozen=True):
    """Some of the rows, and what to ask for to get more."""

    items: list[T]
    next: str = ""
    """The cursor of the next page; empty on the last."""


class Source(Struct, frozen=True, kw_only=True):
    """Where a lesson comes from."""

    source: str
    path: str
    agent: str
    at: datetime
    message_index: int
    quote: str
    origin: str


class LessonLine(Struct, frozen=True, kw_only=True):
    """A lesson; see the design's words for what the fields mean."""

    id: str
    kind: Kind
    text: str
    scope: Scope
    project: str
    agent: str
    confidence: float
    status: Status
    trust: Trust
    rule: str
    first_seen: datetime
    last_confirmed: datetime
    source_count: int
    failure: str = ""
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded_by: str = ""
    last_referenced: datetime | None = None
    reference_count: int = 0
    pinned: bool = False
    kept: bool = False


class LessonPage(Struct, frozen=True, kw_only=True):
    """A lesson with its sources."""

    lesson: LessonLine
    sources: list[Source]


class Failure(Struct, frozen=True, kw_only=True):
    """A failure as it stands in one project, or everywhere."""

    id: str
    family: str
    signature: str
    occurrences: int
    sessions: int
    first_seen: datetime
    last_seen: datetime
    command: str = ""
    agents: list[str] = field(default_factory=list)


class Fix(Struct, frozen=True, kw_only=True):
    id: str
    steps: list[str]
    worked_as: str
    avoid: list[str]
    status: str
    confirmed: int
    failed_again: int
    last_seen: datetime


class Occurred(Struct, frozen=True, kw_only=True):
    session: str
    path: str
    agent: str
    project: str
    message_index: int
    at: datetime
    command: str
    exit_code: int | None
    excerpt: str


class FailurePage(Struct, frozen=True, kw_only=True):
    """A failure, what fixed it, and where it was met."""

    failure: Failure
    fixes: list[Fix]
    occurrences: list[Occurred]


class Tried(Struct, frozen=True, kw_only=True):
    """An attempt of the journal."""

    id: int
    key: str
    task_description: str
    approach: str
    files_modified: list[str]
    files_read: list[str]
    diff: str
    test_results: str
    outcome: Outcome
    evidence: str
    failure_analysis: str
    reflection: str
    retry_count: int
    retry_of: int | None
    timestamp: datetime
    project: str
    agent: str
    session: str
    run: str
    phase: str
    exit_code: int | None
    git_commit: str
    tokens: int | None
    duration: float | None
    source: str


class Alike(Struct, frozen=True, kw_only=True):
    attempt: Tried
    score: float
    matched: tuple[str, ...]


class Session(Struct, frozen=True, kw_only=True):
    id: str
    agent: str
    external_id: str
    subagent: str
    root: str
    project: str
    format: str
    path: str
    branch: str
    task: str
    started_at: datetime
    ended_at: datetime
    messages: int
    user_messages: int
    tool_calls: int
    errors: int
    outcome: str


class Call(Struct, frozen=True, kw_only=True):
    position: int
    at: datetime | None
    tool: str
    action: str
    subject: str
    outcome: str
    exit_code: int | None
    tokens: int


class SessionPage(Struct, frozen=True, kw_only=True):
    session: Session
    calls: list[Call]


class Document(Struct, frozen=True, kw_only=True):
    id: str
    path: str
    project: str
    title: str
    type: str
    updated_at: datetime


class Chunk(Struct, frozen=True, kw_only=True):
    id: str
    heading_path: str
    content: str


class DocumentPage(Struct, frozen=True, kw_only=True):
    document: Document
    chunks: list[Chunk]


class Project(Struct, frozen=True, kw_only=True):
    id: str
    key: str
    name: str
    description: str
    status: str
    sessions: int


class Event(Struct, frozen=True, kw_only=True):
    """An entry of the audit trail."""

    number: int
    at: datetime
    action: str
    actor: str
    item: str
    before: dict[str, Any]
    after: dict[str, Any]
    why: str
    undoes: int | None


class Found(Struct, frozen=True, kw_only=True):
    """A hit of a search."""

    id: str
    type: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    """What the score is made of."""
    project: str
    status: str
    at: datetime


class Results(Struct, frozen=True):
    hits: list[Found]
    notice: str = ""
    """Why it was a search by words alone, if it was."""


def given(shape: type[T], fields: dict[str, Any], times: Iterable[str]) -> T:
    """A shape from a row's fields, those of them that it has, with the stamps among them as times."""
    wanted = {name: value for name, value in fields.items() if name in shape.__struct_fields__}  # type: ignore[attr-defined]
    for name in times:
        if isinstance(wanted.get(name), int):
            wanted[name] = moment(wanted[name])
    return shape(**wanted)
