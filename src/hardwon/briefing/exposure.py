"""A bootstrap for a session that says who it is: part of the experiment, like those that hooks hand out."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.briefing.compose import sections
from hardwon.briefing.rank import Candidates
from hardwon.briefing.standing import standing_lines
from hardwon.clock import now
from hardwon.model.bootstrap import Bootstrap
from hardwon.store import hook_records, meta
from hardwon.store.assignment import HELD_OUT, OFF, SESSIONS_HELD_OUT, TREATED, Placed, Standing, deal, dealer, held_out
from hardwon.store.database import Database
from hardwon.store.hook_records import Dealt
from hardwon.store.ids import made
from hardwon.store.sessions import root_of
from hardwon.text.briefing import render
from hardwon.text.digest import digest
from hardwon.text.tokens import estimate


class Recipient(NamedTuple):
    """The session that a bootstrap is for."""

    project: str
    agent: str
    session: str
    task: str = ""


def expose(db: Database, found: Candidates, whole: Bootstrap, to: Recipient, *, experiment: bool) -> Bootstrap:
    """What of the whole this session is shown; on record before it is returned."""
    key = meta.fence_key(db)
    root = root_of(to.agent, to.session)
    lines = standing_lines(db, found, whole)
    arm, propensity, placed = OFF, 1.0, _all(whole, lines)
    if experiment:
        out = held_out(key, root)
        arm, propensity = (HELD_OUT, SESSIONS_HELD_OUT) if out else (TREATED, 1 - SESSIONS_HELD_OUT)
        placed = deal(lines, key, root)[1]
    known = {line.id: line for line in (*whole.lines, *found.lessons, *found.failures, *found.spare)}
    told = tuple(known[item] for item, _, _, shown, _, _ in placed if shown)
    hash_ = digest(*(line.text for line in told)) if told else ""
    dealt = Dealt(made("B"), root, to.project, to.agent, "api", arm, propensity, dealer(key), hash_, now(), placed)
    with db.transaction():
        hook_records.record_exposure(db, dealt, task=to.task)
    text = render(sections(told), key)
    lanes = dict(Counter(line.kind for line in told))
    return replace(whole, text=text, tokens=estimate(text), lines=told, lanes=lanes)


def _all(whole: Bootstrap, lines: list[Standing]) -> list[Placed]:
    cost = {item: tokens for _, item, _, tokens, _, _, _ in lines}
    return [(line.id, rank, cost[line.id], 1, 1.0, line.score) for rank, line in enumerate(whole.lines)]
