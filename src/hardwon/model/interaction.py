"""Interaction: one prompt to a model and what it answered."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct, field


class Interaction(Struct, kw_only=True):
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
    created_at: datetime | None = None
    """Now, unless it is said. Without a zone it is taken for UTC; what comes out has one."""
    id: str = ""
    """Given by the store."""


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
    created_at: datetime


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
