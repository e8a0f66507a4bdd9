"""What mends a refusal of the agent's own tools: reading the file first, reading a part of it, listing the folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.turns import Turn
from hardwon.model.failure import Step
from hardwon.text.paths import base_name

_CALLS_LOOKED_AHEAD = 8
_HEAD_CHARACTERS_SEARCHED = 600
_ENVELOPE = re.compile(r"^\s*<tool_use_error>")


class Mended(NamedTuple):
    """What was done, and the call that then worked."""

    steps: tuple[Step, ...]
    success: Turn


def refused(turn: Turn) -> bool:
    """Whether a failed call is one of the agent's own tools saying no, which only another call of it mends."""
    return _ENVELOPE.match(turn.output) is not None or _remedy(turn) is not None


def mended(turn: Turn, later: Iterable[Turn]) -> Mended | None:
    """How the calls right after a refusal got what it refused."""
    remedy = _remedy(turn)
    following = [other for _, other in zip(range(_CALLS_LOOKED_AHEAD), later, strict=False)]
    return remedy(turn, following) if remedy else None


def _read_first(what: str) -> Callable[[Turn, list[Turn]], Mended | None]:
    def found(turn: Turn, following: list[Turn]) -> Mended | None:
        if turn.call.action != "edit":
            return None
        seen: set[str] = set()
        for other in following:
            if other.call.action != "edit":
                seen |= _read(other) if other.succeeded else set()
            elif _same_file(turn, other):
                if other.succeeded:
                    helped = base_name(other.call.target) in seen
                    return Mended((Step("read", what),), other) if helped else None
                if seen:
                    return None  # reading it did not help
        return None

    return found


def _same_file(turn: Turn, other: Turn) -> bool:
    """A transcript may not name the file of a refused edit: then it is the one that is read and edited next."""
    return not turn.call.target or base_name(turn.call.target) == base_name(other.call.target)


def _read(turn: Turn) -> set[str]:
    if turn.call.action == "read":
        return {base_name(turn.call.target)}
    if turn.call.action == "run" and not tools.changes_something(turn.call.command):
        return {base_name(target) for command in tools.doing(turn.call.command) for target in command.targets}
    return set()


def _part_of_it(turn: Turn, following: list[Turn]) -> Mended | None:
    for other in following[:5]:
        if (other.call.name, other.call.target) == (turn.call.name, turn.call.target) and other.succeeded:
            return Mended((Step("read", "a part of the file (offset and limit)"),), other)
    return None


def _list_it(turn: Turn, following: list[Turn]) -> Mended | None:
    folder = base_name(turn.call.target)
    for other in following[:2]:
        command = other.call.command.split()
        if other.succeeded and command[:1] == ["ls"] and folder and folder in map(base_name, command[1:]):
            return Mended((Step("list", "the folder instead"),), other)
    return None


def _find_it(turn: Turn, following: list[Turn]) -> Mended | None:
    name = base_name(turn.call.target)
    searched = False
    for other in following:
        if other.succeeded and searched and other.call.action == "read" and base_name(other.call.target) == name:
            return Mended((Step("find", "the file by its name first"),), other)
        subject = other.call.target or other.call.command
        searched = searched or (other.succeeded and bool(name) and name in subject and _searches(other))
    return None


def _searches(turn: Turn) -> bool:
    return turn.call.name.lower() in ("glob", "find", "find_file") or turn.call.command.startswith(("find ", "fd "))


_REMEDIES: tuple[tuple[re.Pattern[str], Callable[[Turn, list[Turn]], Mended | None]], ...] = (
    (re.compile(r"File has not been read yet"), _read_first("the file first")),
    (
        re.compile(
            r"File has been (?:unexpectedly )?modified|String to replace not found|old_string not found"
            r"|did not appear verbatim|Failed to find expected lines"
        ),
        _read_first("the file again first"),
    ),
    (re.compile(r"File content \([^)]*\) exceeds maximum"), _part_of_it),
    (re.compile(r"EISDIR: illegal operation on a directory"), _list_it),
    (re.compile(r"^(?:\s*<tool_use_error>)?File does not exist"), _find_it),
)


def _remedy(turn: Turn) -> Callable[[Turn, list[Turn]], Mended | None] | None:
    if turn.call.action not in ("edit", "read"):
        return None
    beginning = turn.output[:_HEAD_CHARACTERS_SEARCHED]
    return next((remedy for words, remedy in _REMEDIES if words.search(beginning)), None)
