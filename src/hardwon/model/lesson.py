"""Lesson: one durable sentence with a kind, scope, confidence, status and sources."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from hardwon.errors import NotAllowed
from hardwon.model.session import Origin

Kind = Literal["fact", "pitfall", "pattern", "tool-quirk", "question", "preference", "decision", "identity"]
Status = Literal["candidate", "active", "superseded", "invalid", "archived"]
Trust = Literal["measured", "human", "corroborated", "claimed", "untrusted"]
Scope = Literal["global", "project", "agent"]
Relation = Literal["supports", "contradicts", "supersedes", "derived_from", "related"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
TRUSTS: tuple[Trust, ...] = get_args(Trust)
SCOPES: tuple[Scope, ...] = get_args(Scope)


def need_known(what: str, name: str | None, known: tuple[str, ...]) -> None:
    """Raises `NotAllowed` for a name that is none of those; none at all is no name."""
    if name is not None and name not in known:
        raise NotAllowed(f"unknown {what} '{name}'; known: {', '.join(known)}")


def status_called(name: str | None) -> str | None:
    """A status by its name; `rejected` is what people read where programs read `invalid`."""
    meant = "invalid" if name == "rejected" else name
    need_known("status", meant, STATUSES)
    return meant


def need_share(what: str, value: float) -> None:
    """Raises `NotAllowed` for what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise NotAllowed(f"a {what} must be a number from 0 to 1, not {value!r}")


def need_fitting_holder(scope: str, project: str | None, agent: str) -> None:
    """Raises `NotAllowed` where the scope is another than that of the project and agent that a lesson has."""
    need_known("scope", scope, SCOPES)
    if (scope == "project") != bool(project):
        raise NotAllowed(
            "a lesson with scope 'project' needs a project, and no other does: name one, or use another scope"
        )
    if scope == "agent" and not agent.strip():
        raise NotAllowed("a lesson with scope 'agent' needs an agent: name the one that is to be told")


class Source(Struct, frozen=True, kw_only=True):
    """Where a lesson comes from: a message and the words in it that say so."""

    message_index: int
    quote: str
    origin: Origin


DISTILLED = "distilled"
"""Rule of a lesson that a model read out of sessions."""
FOR_ONE_PART = "one-part"
"""Tag of a lesson that only work on one part of the project needs."""


class Draft(Struct, frozen=True, kw_only=True):
    """A lesson as a rule proposes it, before `harvest/trust.py` gives it a status."""

    kind: Kind
    text: str
    confidence: float
    source: Source
    rule: str
    scope: Scope = "project"
    failure: str = ""
    """The fingerprint of the failure it was drawn from, if any."""
    measured: bool = False
    """It tells what a command did, not what somebody said."""
    untrusted: str = ""
    """Why a person must look first."""
    dropped: str = ""
    """Why it is not worth keeping; it is counted and not stored."""
    tags: tuple[str, ...] = ()


class LessonFields(Struct, frozen=True, kw_only=True):
    """What the store and the API tell of a lesson alike; times, which they do not, stand in their own classes."""

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
    source_count: int
    failure: str = ""
    tags: tuple[str, ...] = ()
    superseded_by: str = ""
    reference_count: int = 0
    pinned: bool = False
    kept: bool = False
    """A person decided on it, or it was not harvested: harvesting leaves its words and status alone."""


class StoredLesson(LessonFields, frozen=True, kw_only=True):
    """A lesson as the store has it: times in microseconds."""

    first_seen: int
    last_confirmed: int
    valid_from: int | None = None
    valid_until: int | None = None
    last_referenced: int | None = None
