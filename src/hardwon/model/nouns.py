"""What the API takes and returns of the store, in Python and over HTTP; every time is a datetime in UTC."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from hardwon.model.attempt import TakesFormerNames, formerly
from hardwon.model.lesson import LessonFields

T = TypeVar("T")


def each_name(given: str | Iterable[str]) -> list[str]:
    """One name or several; a text is one, and not its letters."""
    return [given] if isinstance(given, str) else [*given]


class Me(Struct, frozen=True):
    """Whose token it is, and what it may do."""

    name: str
    scopes: tuple[str, ...]
    projects: tuple[str, ...]
    """Ids; none means all."""


class Noted(Struct, frozen=True):
    """What was said to have helped, or to be wrong."""

    id: str


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


class Lesson(LessonFields, frozen=True, kw_only=True):
    """One durable sentence that sessions taught."""

    first_seen: datetime
    last_confirmed: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    last_referenced: datetime | None = None


class LessonDetails(Struct, frozen=True, kw_only=True):
    """A lesson with its sources."""

    lesson: Lesson
    sources: list[Source]


class Step(Struct, frozen=True, kw_only=True):
    """One thing done between a failure and the success: `run` a command, `edit`, `read` or `find` a file."""

    action: str
    what: str


class FixEvidence(Struct, frozen=True, kw_only=True):
    """One session in which a fix worked, by both ends: the call that failed and the call that passed."""

    session: str
    path: str
    failing: str
    failing_message: int
    passing: str
    passing_message: int
    cause: str
    """What the steps have to do with the error; empty where that is not known."""
    untrusted: str


class Fix(Struct, frozen=True, kw_only=True):
    """What made a failure go away."""

    id: str
    text: str
    """The steps in one sentence."""
    steps: list[Step]
    succeeded_as: str
    """The call that succeeded, when it differs from the one that failed."""
    avoid: list[Step]
    """What was tried and did not help."""
    status: str
    untrusted: str
    """Why a person must look first; empty if there is no reason."""
    confirmed: int
    failed_again: int
    last_seen: datetime
    evidence: list[FixEvidence] = field(default_factory=list)
    """The newest sessions in which it worked."""


class Failure(Struct, frozen=True, kw_only=True):
    """A failure as it stands in one project, or everywhere, with what fixed it."""

    id: str
    family: str
    error: str
    """The error in its own words, in a line."""
    occurrences: int
    sessions: int
    first_seen: datetime
    last_seen: datetime
    command: str = ""
    agents: list[str] = field(default_factory=list)
    fixes: list[Fix] = field(default_factory=list)


class Occurrence(Struct, frozen=True, kw_only=True):
    """One place where a failure was met."""

    session: str
    path: str
    agent: str
    project: str
    message_index: int
    at: datetime
    command: str
    exit_code: int | None
    excerpt: str


class FailureDetails(Struct, frozen=True, kw_only=True):
    """A failure, what fixed it, and where it was met."""

    failure: Failure
    occurrences: list[Occurrence]


class FailureCost(Struct, frozen=True, kw_only=True):
    """What a failure cost: when it happened, and the tokens of those calls."""

    times: list[datetime]
    tokens: int


class KnownFix(Struct, frozen=True, kw_only=True):
    id: str
    steps: list[str]
    """Each as it would be told; the last is the call that then worked, if it was another one."""
    confirmed: int
    failed_again: int


class KnownFailure(Struct, frozen=True, kw_only=True):
    """What is known of an error. Without a `fingerprint`, its text says nothing to go by."""

    known: bool
    said: str = ""
    """In a sentence; empty if it is not known."""
    fingerprint: str = ""
    family: str = ""
    text: str = ""
    occurrences: int = 0
    sessions: int = 0
    last_seen: datetime | None = None
    fixes: list[KnownFix] = field(default_factory=list)
    avoid: list[str] = field(default_factory=list)


class SessionRecord(Struct, frozen=True, kw_only=True):
    """A session that was harvested."""

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
    """`committed` where a checkpoint in git says so; else `completed`, `failure` or `unknown`."""
    owner: str = "own"
    """`foreign` when it lay in a repository or an archive: somebody else's."""
    commits: tuple[str, ...] = ()
    """The commits that it made, the latest last."""


class Call(Struct, frozen=True, kw_only=True):
    """One call of a tool in a session."""

    position: int
    at: datetime | None
    tool: str
    action: str
    subject: str
    outcome: str
    exit_code: int | None
    tokens: int


class SessionDetails(Struct, frozen=True, kw_only=True):
    """A session and the calls that it made."""

    session: SessionRecord
    calls: list[Call]


class Document(Struct, frozen=True, kw_only=True):
    """A text that was taken in for reference."""

    id: str
    path: str
    project: str
    title: str
    type: str
    hash: str
    """Of its content."""
    tags: list[str]
    ingested_at: datetime
    updated_at: datetime


class Chunk(Struct, frozen=True, kw_only=True):
    """A part of a document, under its headings."""

    id: str
    heading_path: str
    content: str


class DocumentDetails(Struct, frozen=True, kw_only=True):
    """A document with its parts."""

    document: Document
    chunks: list[Chunk]


class Project(Struct, frozen=True, kw_only=True):
    """What sessions, lessons and attempts belong to: a repository or a folder."""

    id: str
    key: str
    name: str
    description: str
    status: str
    sessions: int


class ProjectParts(Struct, frozen=True):
    """What belongs to a project: its folders, and the other names and remotes that find it."""

    folders: list[str]
    aliases: list[str]


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


class Hit(Struct, frozen=True, kw_only=True):
    """A hit of a search."""

    id: str
    type: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    """What the score is made of: `lexical`, `vector`, `context`, `trust`, `recency`, each 0 to 1; `weight` is how
    much `vector` counts against `lexical`."""
    project: str
    status: str
    at: datetime
    session: str = ""
    """The session that a passage stands in, and at which of its messages."""
    message: int | None = None
    owner: str = ""
    """Of a passage: `own`, or `foreign` for somebody else's session."""
    open: str = ""
    """The command that goes on with the session of a passage, or its transcript."""


class SearchResults(Struct, frozen=True):
    """What fits a question, the best first."""

    hits: list[Hit]
    notice: str = ""
    """Why it was a search by words alone, if it was."""
    passages: list[Hit] = []
    """Where it was said or done in sessions, the best of each session; for a person, who asked for them."""


# Interaction: one prompt to a model and what it answered.


class Interaction(Struct, kw_only=True, metaclass=TakesFormerNames):
    """What is recorded, and what comes out again. Only the prompt is needed."""

    prompt: str
    response: str = ""
    response_summary: str = ""
    project: str = ""
    """A name, git remote or folder going in; the project's id coming out."""
    session: str = ""
    client: str = ""
    """Who asked: `claude-code`, `manual`, …"""
    context: dict[str, Any] = field(default_factory=dict)
    """What the prompt was sent with."""
    lessons_used: list[str] = field(default_factory=list)
    chunks_used: list[str] = field(default_factory=list)
    at: datetime | None = None
    """Now, unless it is said. Without a zone it is taken for UTC; what comes out has one."""
    id: str = ""
    """Given by the store."""

    created_at = formerly("at")


class InteractionSummary(Struct, frozen=True, kw_only=True):
    """An interaction without its bodies, for lists."""

    id: str
    prompt: str
    """Its first line, cut."""
    response_summary: str
    project: str
    session: str
    client: str
    response_chars: int
    at: datetime

    created_at = formerly("at")


class InteractionPage(Struct, frozen=True):
    """Some interactions, and where the next page goes on."""

    interactions: list[InteractionSummary]
    cursor: str = ""
    """Where the next page goes on; empty at the end."""


class Reinforced(Struct, frozen=True, kw_only=True):
    """A lesson that an answer made use of."""

    lesson: str
    text: str
    overlap: float
    """The share of the lesson's words that the answer has in one place."""
    before: float
    after: float
    """Its confidence."""


# Bootstrap: the token-budgeted context given to a session.


class Line(Struct, frozen=True, kw_only=True):
    """One line and the answer to why it is there."""

    id: str
    kind: str
    text: str
    score: float
    why: str
    source: str
    error: str = ""
    """Of a failure: its words, as they stand in the line."""
    fix: str | bool = False
    """Of a failure: what the line says that worked."""
    noted: bool = False
    """Of a lesson: what one session noted, told as that; it still waits for a second or a person."""


class LeftOut(Struct, frozen=True, kw_only=True):
    id: str
    reason: str


class Bootstrap(Struct, frozen=True, kw_only=True):
    text: str
    tokens: int
    budget: int
    lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]
    task_type: str = ""
    lanes: dict[str, int] = {}
    """How many lines each lane gave: a kind of lesson, or `failure`."""
    places: tuple[str, ...] = ()
    """Where earlier sessions went for this task; without one, how the project is built, checked and run."""
    least: int = 0
    """The budget that the shortest line needs, where there is something to tell and none of it fits."""


# Where to look: the map of a project.


class Place(Struct, frozen=True, kw_only=True):
    """A file that a task may need."""

    path: str
    """Relative to the project's root."""
    score: float
    why: str
    last: datetime
    """When the newest session began that touched it."""


class Habit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that worked in earlier sessions."""

    command: str
    score: float
    why: str
    last: datetime | None = None
    """When the newest session began in which it passed."""
    passed: tuple[str, ...] = ()
    """Sessions that saw it pass, the newest first; told by `how`, not by a map."""
    failed: tuple[str, ...] = ()
    """Sessions that saw it fail."""


class Map(Struct, frozen=True, kw_only=True):
    files: tuple[Place, ...]
    commands: tuple[Habit, ...]
    tokens: int
    """What the files and commands cost to tell."""


class Visitor(Struct, frozen=True, kw_only=True):
    """A session that touched a file."""

    session: str
    agent: str
    at: datetime
    branch: str
    task: str
    uses: dict[str, int]
    """edit, read, run, delete: how often."""
    outcome: str
    """Of the session, as everywhere."""
    commit: str
    """The last one by which the session took the file; empty where none is known to have."""


class Resumption(Struct, frozen=True, kw_only=True):
    """The command by which an agent goes on with a session."""

    session: str
    agent: str
    command: str
    folder: str
    """Where it ran, with the home folder as `~`; empty if nothing is known of it."""

    @property
    def line(self) -> str:
        """What a shell is given: the command, in the folder in which the agent finds the session."""
        home, rest = ("~/", self.folder[2:]) if self.folder.startswith("~/") else ("", self.folder)
        return f"cd {home}{shlex.quote(rest)} && {self.command}" if home or rest.startswith("/") else self.command
