"""The trust gate: where a claim came from decides what it may become. docs/trust.md has the same table in words."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from hardwon.failures.tools import danger
from hardwon.model.lesson import Draft, Status, Trust
from hardwon.model.session import Origin

Basis = Literal["stated", "measured", "doubtful"]
"""Said by somebody · shown by a command that ran · either of them, but proposed by output, or dangerous."""


class Admission(NamedTuple):
    status: Status
    trust: Trust


_WAITS = Admission("candidate", "untrusted")
TABLE: dict[tuple[Origin, Basis], Admission | None] = {
    ("user", "stated"): Admission("active", "human"),
    ("user", "measured"): Admission("active", "measured"),
    ("user", "doubtful"): _WAITS,
    ("agent", "stated"): Admission("candidate", "claimed"),
    ("agent", "measured"): Admission("active", "measured"),
    ("agent", "doubtful"): _WAITS,
    ("tool", "stated"): _WAITS,
    ("tool", "measured"): Admission("active", "measured"),
    ("tool", "doubtful"): _WAITS,
    ("web", "stated"): _WAITS,
    ("web", "measured"): _WAITS,
    ("web", "doubtful"): _WAITS,
    ("file", "stated"): _WAITS,
    ("file", "measured"): _WAITS,
    ("file", "doubtful"): _WAITS,
    ("import", "stated"): _WAITS,
    ("import", "measured"): _WAITS,
    ("import", "doubtful"): _WAITS,
    ("reviewer", "stated"): Admission("active", "human"),
    ("reviewer", "measured"): Admission("active", "human"),
    ("reviewer", "doubtful"): Admission("active", "human"),
    ("injected", "stated"): None,
    ("injected", "measured"): None,
    ("injected", "doubtful"): None,
}
"""None: it is not kept at all."""


_CODE = re.compile(r"`[^`]*`|--[\w-]+")
_WARNS = re.compile(r"\b(?:never|don't|do not|not|no|avoid|without|stop|must not|mustn't)\b", re.IGNORECASE)


def basis(draft: Draft) -> Basis:
    # A warning of a dangerous command is not a recommendation of it.
    if draft.untrusted or (danger(draft.text) and not _WARNS.search(_CODE.sub("", draft.text))):
        return "doubtful"
    return "measured" if draft.measured else "stated"


def admit(draft: Draft) -> Admission | None:
    """What a draft may become by itself; None when it is our own text."""
    return TABLE[(draft.source.origin, basis(draft))]
