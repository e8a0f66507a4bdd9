"""Every rule, and what they find together."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.failures.ledger import Findings
from hardwon.failures.turns import Turn
from hardwon.harvest.rules import (
    companions,
    decisions,
    environment,
    patterns,
    pitfalls,
    questions,
    refusals,
    reverts,
    user,
)
from hardwon.harvest.rules.found import Found
from hardwon.harvest.rules.rule import Rule
from hardwon.harvest.rules.typed import statements
from hardwon.model.lesson import Draft
from hardwon.model.session import Session
from hardwon.store.database import Database

RULES: tuple[Rule, ...] = (
    *user.RULES,
    *decisions.RULES,
    *pitfalls.RULES,
    *reverts.RULES,
    *patterns.RULES,
    *companions.RULES,
    *refusals.RULES,
    *environment.RULES,
    *questions.RULES,
)
OVER_STORE = frozenset(rule.name for rule in RULES if rule.over == "store")
_OF_RULES_THAT_ARE_GONE = 5
VERSION = _OF_RULES_THAT_ARE_GONE + sum(rule.version for rule in RULES)
"""Rises whenever a rule's version does or a rule is added, and never falls."""


def of_session(session: Session, calls: Sequence[Turn], findings: Findings) -> list[Draft]:
    """What one session says by itself."""
    said = list(statements(session))
    found = [
        *user.drafts(said),
        *decisions.drafts(session, said),
        *environment.drafts(calls),
        *reverts.drafts(calls, findings),
        *questions.drafts(session, said),
    ]
    found += user.standing(said, {(draft.source.message_index, draft.source.quote) for draft in found})
    once: dict[tuple[int, str], Draft] = {}
    for draft in found:
        place = (draft.source.message_index, draft.source.quote if not draft.measured else draft.text)
        if place not in once or once[place].dropped:
            once[place] = draft  # one rule speaks for a sentence
    return list(once.values())


def of_project(db: Database, project: str) -> list[Found]:
    """What the sessions of a project say together."""
    return [
        *pitfalls.found(db, project),
        *patterns.found(db, project),
        *companions.found(db, project),
        *refusals.found(db, project),
    ]
