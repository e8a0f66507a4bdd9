"""Edits that were taken back after a check had failed."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.failures.ledger import Findings
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.turns import Turn
from hardwon.harvest.rules.rule import Rule
from hardwon.model.lesson import Draft, Source

RULES = (Rule("reverted-edit", 1, ("pitfall",), "an edit that was taken back after a check had failed"),)


def _edits(turn: Turn) -> bool:
    return turn.call.action == "edit" and turn.succeeded and bool(turn.call.target)


def drafts(calls: Sequence[Turn], findings: Findings) -> list[Draft]:
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
    for command in taken_apart(turn.call.command):
        undoes = command.program == "git" and command.subcommand in ("checkout", "restore")
        if undoes and (command.subcommand == "restore" or " -- " in command.text) and "--staged" not in command.options:
            named += [target.rpartition("/")[2] for target in sorted(command.targets) if "." in target]
    return named


def _last_edit(before: Sequence[Turn], file: str) -> Turn | None:
    return next((turn for turn in reversed(before) if _edits(turn) and turn.call.target.endswith(file)), None)
