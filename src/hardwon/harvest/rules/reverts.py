"""Edits that were taken back, with the reason: the user's words, or the check that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.failures.ledger import Findings
from hardwon.failures.shell import commands
from hardwon.failures.turns import Turn
from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.rule import Rule
from hardwon.harvest.rules.typed import Statement
from hardwon.harvest.rules.wording import plain, specific
from hardwon.model.lesson import Draft, Source

RULES = (
    Rule("user-revert", 1, ("pitfall",), "a change that the user had undone, and why"),
    Rule("reverted-edit", 1, ("pitfall",), "an edit that was taken back after a check had failed"),
)
_REVERT = lazily.pattern(
    r"\b(?:undo|revert|roll(?:ing)? ?back|back (?:it|that|this) out|put (?:it|that|them) back)\b", re.IGNORECASE
)
_BECAUSE = lazily.pattern(
    r"\b(?:because|since|it breaks?|that breaks?|it broke|just (?:use|import)|use the|instead|rather)\b",
    re.IGNORECASE,
)
_ABOUT_IT = lazily.pattern(r"^(?:just |then )?\w+ (?:it|them)\b", re.IGNORECASE)
_FEWEST_WORDS = 7


def drafts(said: Sequence[Statement], calls: Sequence[Turn], findings: Findings) -> list[Draft]:
    return [*_by_user(said, calls), *_by_command(calls, findings)]


def _by_user(said: Sequence[Statement], calls: Sequence[Turn]) -> list[Draft]:
    found = []
    for at, statement in enumerate(said):
        if statement.first or not _REVERT.search(statement.text):
            continue
        following = [other for other in said[at + 1 : at + 2] if other.message == statement.message]
        told = [one for one in [statement, *following] if _BECAUSE.search(one.text) and not _ABOUT_IT.search(one.text)]
        reason = told[0] if told else None
        file = _edited_before(calls, statement.message)
        if reason is None or not file or reason.text.count(" ") + 1 < _FEWEST_WORDS or not specific(reason.text):
            continue
        why = plain(reason.text)
        found.append(
            Draft(
                kind="pitfall",
                text=f"A change to `{file}` was undone on the user's word: {why[0].lower()}{why[1:]}",
                confidence=0.7,
                rule="user-revert",
                source=Source(message_index=reason.message, quote=reason.text, origin="user"),
            )
        )
    return found


def _edited_before(calls: Sequence[Turn], index: int) -> str:
    edited = [turn.call.target for turn in calls if turn.message_index < index and _edits(turn)]
    return edited[-1].rpartition("/")[2] if edited else ""


def _edits(turn: Turn) -> bool:
    return turn.call.action == "edit" and turn.succeeded and bool(turn.call.target)


def _by_command(calls: Sequence[Turn], findings: Findings) -> list[Draft]:
    """`git checkout -- file` after an edit of it and a failure since: the edit was a mistake."""
    found = []
    for turn in calls:
        for file in _taken_back(turn):
            edit = _last_edit(calls[: turn.position], file)
            if edit is None:
                continue
            between = [one for one in findings.occurrences if edit.position < one.call_index < turn.position]
            failure = next((one for one in reversed(between) if one.family != "agent"), None)
            if failure is None or not edit.call.detail:
                continue
            head = " ".join(edit.call.detail.split())[:80]
            found.append(
                Draft(
                    kind="pitfall",
                    text=f"In `{file}`, `{head}` was tried and taken back: {failure.signature}.",
                    confidence=0.6,
                    rule="reverted-edit",
                    failure=failure.fingerprint,
                    measured=True,
                    source=Source(message_index=turn.message_index, quote=turn.call.command[:280], origin="agent"),
                )
            )
    return found


def _taken_back(turn: Turn) -> list[str]:
    if not turn.succeeded or "git" not in turn.call.command:
        return []
    named = []
    for command in commands(turn.call.command):
        undoes = command.program == "git" and command.subcommand in ("checkout", "restore")
        if undoes and (command.subcommand == "restore" or " -- " in command.text) and "--staged" not in command.options:
            named += [target.rpartition("/")[2] for target in sorted(command.targets) if "." in target]
    return named


def _last_edit(before: Sequence[Turn], file: str) -> Turn | None:
    return next((turn for turn in reversed(before) if _edits(turn) and turn.call.target.endswith(file)), None)
