"""One module per kind of evidence; each turns a scrubbed session into drafts of lessons. Here: what a rule is, and what
it finds."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec.structs import replace

from hardwon.model.lesson import Draft, Kind
from hardwon.store.lessons import Cited

OWN = "NOT IN (SELECT id FROM session WHERE owner = 'foreign')"
"""What counts over all sessions counts one's own: of somebody else's, nothing is believed together, either."""


class Rule(NamedTuple):
    """A name and a version that every lesson of it carries.

    A rule whose version rises is applied again, and what its older version proposed is replaced.
    """

    name: str
    version: int
    kinds: tuple[Kind, ...]
    finds: str
    over: Literal["session", "store"] = "session"
    """Whether one session is enough, or it counts over all sessions of a project."""


def dropped(draft: Draft, why: str) -> Draft:
    """A draft that is counted, told by `harvest --explain`, and not stored."""
    return replace(draft, dropped=why)


class Found(NamedTuple):
    """What a rule over a project's sessions found: the lesson, and every session that supports it."""

    draft: Draft
    cited: list[Cited]
    """Without the lesson's id, which follows from the draft."""
