"""Every rule, and what they find together."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.failures.turns import Turn
from hardwon.harvest.rules import Found, Rule, observed, pitfalls, said
from hardwon.harvest.rules.sentences import Statement
from hardwon.model.lesson import Draft
from hardwon.model.session import Session
from hardwon.store.database import Database

RULES: tuple[Rule, ...] = (
    *said.RULES,
    *said.CLAIM_RULES,
    *pitfalls.PITFALL_RULES,
    *pitfalls.REFUSAL_RULES,
    *observed.COMPANION_RULES,
    *observed.FACT_RULES,
)
OVER_STORE = frozenset(rule.name for rule in RULES if rule.over == "store")
_OF_RULES_THAT_ARE_GONE = 45
VERSION = _OF_RULES_THAT_ARE_GONE + sum(rule.version for rule in RULES)
"""Rises whenever a rule's version does or a rule is added, and never falls."""


def of_session(session: Session, typed: Sequence[Statement], calls: Sequence[Turn]) -> list[Draft]:
    """What one session says by itself."""
    once: dict[tuple[int, str], Draft] = {}
    for draft in (*said.drafts(typed), *said.claims(session), *observed.drafts(calls)):
        place = (draft.source.message_index, draft.source.quote if not draft.measured else draft.text)
        if place not in once or once[place].dropped:
            once[place] = draft  # one rule speaks for a sentence
    return list(once.values())


def of_project(db: Database, project: str) -> list[Found]:
    """What the sessions of a project say together."""
    return [
        *said.said_again(db, project),
        *pitfalls.pitfalls_of_project(db, project),
        *observed.companions_of_project(db, project),
        *pitfalls.refusals_of_project(db, project),
    ]
