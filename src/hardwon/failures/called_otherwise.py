"""The same thing called in another way, which worked: from another folder, with the argument that was missing, spelled
as the program wants it, without what it refused.

Each needs what the error itself says: that the folder is not there, that an argument is missing, which one it does
not know, which it will not take. The same object or no fix: a number is another spelling of the same number only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.shell import Command, commands
from hardwon.failures.signature import orders
from hardwon.failures.turns import Turn
from hardwon.model.failure import Step
from hardwon.text.normalise import base_name
from hardwon.text.shown import clean

_CALLS_LOOKED_AHEAD = 6
_MAX_OUTPUT_CHARACTERS = 3_000
_MAX_CHARACTERS = 160
_MAX_NAME_CHARACTERS = 24
_NO_FOLDER = re.compile(
    r"cd:.*(?:[Nn]o such file|can't cd)|[Cc]annot find (?:the )?path|can't cd to|volume label syntax is incorrect"
)
_LACKS_ARGUMENT = re.compile(
    r"missing (?:required )?(?:argument|operand|parameter|positional)(?::? ['\"<`]?(?P<name>[A-Za-z][\w-]*)['\">`]?)?"
    r"|following (?:required )?arguments (?:are required|were not provided)|requires (?:at least|exactly) \w+ arg"
    r"|[Ss]pecify (?:a|which) (?:project|solution|file)",
)
_UNKNOWN_OBJECT = re.compile(
    r"(?:['\"](?P<quoted>[^'\"\s]{1,60})['\"]|#(?P<number>\d+)) (?:was )?not found|does not exist"
)
_WILL_NOT_TAKE = re.compile(r"ignored by one of your \.gitignore files:?\s+(?P<paths>(?:[^\s:]+\n?)+)")


_MOVES = re.compile(r"\s*(?:cd|pushd|popd|Set-Location)\b[^;&|\n]*")


class Replacement(NamedTuple):
    """What was called in place of what could not be."""

    by: Command
    success: Turn
    step: Step | None
    called: str
    """The call itself, where no step says the difference."""
    cause: str
    """What it has to do with the error; empty where a second session must show it."""


def called_otherwise(turn: Turn, later: Sequence[Turn]) -> Replacement | None:
    """The first call right after that did the same in another way and passed; None where the code had changed."""
    output = clean(turn.output)
    if len(output) > _MAX_OUTPUT_CHARACTERS:
        return None
    tried = commands(turn.call.command)
    for other in later[:_CALLS_LOOKED_AHEAD]:
        if other.call.action == "edit" or _MOVES.fullmatch(other.call.command):
            return None
        if other.succeeded and other.call.action == "run" and tried:
            found = _compared(tried, commands(other.call.command), output)
            if found is not None:
                step, called, cause, by = found
                return Replacement(by, other, step, called, cause)
    return None


_Found = tuple[Step | None, str, str, Command]


def _compared(tried: Sequence[Command], found: Sequence[Command], output: str) -> _Found | None:
    if _NO_FOLDER.search(output):
        return _elsewhere(tried, found)
    for failed in tried:
        for passed in found:
            if (failed.program, failed.subcommand) == (passed.program, passed.subcommand) and not failed.inline:
                step = _with_argument(failed, passed, output) or _respelled(failed, passed, output)
                step = step or _without(failed, passed, output)
                if step is not None:
                    return *step, passed
    return None


def _elsewhere(tried: Sequence[Command], found: Sequence[Command]) -> _Found | None:
    """The same commands, without the step into a folder that is not there, or from another."""
    if not tried[0].folder or [one.text for one in tried] != [one.text for one in found]:
        return None
    before, after = tried[0].folder, found[0].folder
    if not after:
        return Step("drop", "cd <folder>"), "", "the folder that it steps into is not there", found[0]
    if after != before and base_name(after.rstrip("/")) == base_name(before.rstrip("/")):
        return Step("replace", f"`cd {_general(before)}` with `cd {_general(after)}`"), "", "", found[0]
    return None


_Difference = tuple[Step | None, str, str]


def _with_argument(failed: Command, passed: Command, output: str) -> _Difference | None:
    """With one word more, where the error misses one."""
    lacks = _LACKS_ARGUMENT.search(output)
    added = passed.targets - failed.targets
    if not lacks or len(added) != 1 or not failed.targets <= passed.targets or failed.options != passed.options:
        return None
    name, word = lacks.group("name"), next(iter(added))
    if name and (len(name) > _MAX_NAME_CHARACTERS or orders(name)):
        name = "argument"  # what output calls it is no word of ours
    text = passed.text.replace(word, f"<{name}>", 1) if name else passed.text
    return None, tools.brief(text, _MAX_CHARACTERS), "the error misses the argument that was added"


def _respelled(failed: Command, passed: Command, output: str) -> _Difference | None:
    """The same number, as the program writes it."""
    gone, new = failed.targets - passed.targets, passed.targets - failed.targets
    if len(gone) != 1 or len(new) != 1 or failed.options != passed.options:
        return None
    old, other = next(iter(gone)), next(iter(new))
    numbers = [re.findall(r"\d+", word) for word in (old, other)]
    same = all(len(found) == 1 for found in numbers) and int(numbers[0][0]) == int(numbers[1][0])
    unknown = _UNKNOWN_OBJECT.search(output)
    if (
        not same
        or not unknown
        or (unknown.group("quoted") or unknown.group("number") or "") not in (old, old.strip("#"))
    ):
        return None
    told = (re.sub(r"\d+", "<id>", word) for word in (old, other))
    return Step("replace", " with ".join(f"`{word}`" for word in told)), "", "the error names what was replaced"


def _without(failed: Command, passed: Command, output: str) -> _Difference | None:
    """Without the file that the program says it will not take."""
    refused = _WILL_NOT_TAKE.search(output)
    gone = failed.targets - passed.targets
    if not refused or not gone or not passed.targets < failed.targets or failed.options != passed.options:
        return None
    named = refused.group("paths").split()
    if all(any(word.startswith(path) for path in named) for word in gone):
        return (
            Step("drop", tools.brief(" ".join(sorted(gone)), _MAX_CHARACTERS)),
            "",
            "the error names what was left out",
        )
    return None


def _general(text: str) -> str:
    """Without the number that belongs to this one time."""
    return re.sub(r"(?<=#)\d+", "<id>", text)
