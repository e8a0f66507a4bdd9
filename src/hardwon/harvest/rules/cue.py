"""What a cue is: a phrase by which a person lays something down, and what it is worth."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.model.lesson import Kind


class Cue(NamedTuple):
    rule: str
    kind: Kind
    confidence: float
    pattern: str
    standing: bool = True
    """It holds where it is said in the first request too; another is part of that task."""
    names: bool = True
    """It must name a file, a flag, a command, a tool or a practice."""
    has: tuple[str, ...] = ()
    """For a pattern that may begin anywhere: one of these stands in every sentence that it finds."""


def cue(
    rule: str,
    kind: Kind,
    confidence: float,
    pattern: str,
    *,
    standing: bool = True,
    names: bool = True,
    has: tuple[str, ...] = (),
) -> Cue:
    return Cue(f"user-{rule}", kind, confidence, pattern, standing, names, has)
