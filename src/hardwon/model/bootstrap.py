"""Bootstrap: the token-budgeted context given to a session."""

from __future__ import annotations

from msgspec import Struct


class Line(Struct, frozen=True, kw_only=True):
    """One line and the answer to why it is there."""

    id: str
    kind: str
    text: str
    score: float
    why: str
    source: str


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
