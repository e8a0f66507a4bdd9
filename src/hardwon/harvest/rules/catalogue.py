"""Every rule, and what they find together."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.failures.ledger import Findings
from hardwon.failures.turns import Turn
from hardwon.harvest.rules import decisions, pitfalls, routine, user_statements
from hardwon.harvest.rules.lesson_rule import Found, Rule
from hardwon.harvest.rules.sentences import statements
from hardwon.model.lesson import Draft
from hardwon.model.session import Session
from hardwon.store.database import Database

RULES: tuple[Rule, ...] = (
    *user_statements.RULES,
    *decisions.DECISION_RULES,
    *pitfalls.PITFALL_RULES,
    *pitfalls.REVERT_RULES,
    *routine.ROUTINE_RULES,
    *routine.COMPANION_RULES,
    *pitfalls.REFUSAL_RULES,
    *routine.RULES,
    *decisions.QUESTION_RULES,
)
OVER_STORE = frozenset(rule.name for rule in RULES if rule.over == "store")
_OF_RULES_THAT_ARE_GONE = 5
VERSION = _OF_RULES_THAT_ARE_GONE + sum(rule.version for rule in RULES)
"""Rises whenever a rule's version does or a rule is added, and never falls."""


def of_session(session: Session, calls: Sequence[Turn], findings: Findings) -> list[Draft]:
    """What one session says by itself."""
    said = list(statements(session))
    found = [
        *user_statements.drafts(said),
        *decisions.decided(session, said),
        *routine.drafts(calls),
        *pitfalls.reverted_edits(calls, findings),
        *decisions.open_questions(session, said),
    ]
    found += user_statements.standing(said, {(draft.source.message_index, draft.source.quote) for draft in found})
    once: dict[tuple[int, str], Draft] = {}
    for draft in found:
        place = (draft.source.message_index, draft.source.quote if not draft.measured else draft.text)
        if place not in once or once[place].dropped:
            once[place] = draft  # one rule speaks for a sentence
    return list(once.values())


def of_project(db: Database, project: str) -> list[Found]:
    """What the sessions of a project say together."""
    return [
        *pitfalls.pitfalls_of_project(db, project),
        *routine.routines_of_project(db, project),
        *routine.companions_of_project(db, project),
        *pitfalls.refusals_of_project(db, project),
    ]
