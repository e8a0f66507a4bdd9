"""Lesson: one durable sentence with a kind, scope, confidence, status and sources."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from oldhand.model.session import Origin

Kind = Literal["fact", "pitfall", "pattern", "tool-quirk", "question", "preference", "decision", "identity"]
Status = Literal["candidate", "active", "superseded", "invalid", "archived"]
Trust = Literal["measured", "human", "corroborated", "claimed", "untrusted"]
Scope = Literal["global", "project", "agent"]


class Source(Struct, frozen=True, kw_only=True):
    """Where a lesson comes from: a message and the words in it that say so."""

    message_index: int
    quote: str
    origin: Origin


class Draft(Struct, frozen=True, kw_only=True):
    """A lesson as a rule proposes it, before the gate gives it a status."""

    kind: Kind
    text: str
    confidence: float
    source: Source
    rule: str
    scope: Scope = "project"
    failure: str = ""
    """The fingerprint of the failure it was drawn from, if any."""
    untrusted: str = ""


class Lesson(Struct, frozen=True, kw_only=True):
    """A stored lesson."""

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
    first_seen: int
    last_confirmed: int
    source_count: int
    failure: str = ""
