"""What a rule over a project's sessions found: the lesson, and every session that supports it."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.model.lesson import Draft
from hardwon.store.lessons import Cited


class Found(NamedTuple):
    draft: Draft
    cited: list[Cited]
    """Without the lesson's id, which follows from the draft."""
