"""A command that was called wrongly, or that is not there: the way to call it that worked right after."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hardwon.failures.shell import Command, elements, program_family
from hardwon.failures.turns import Turn
from hardwon.model.failure import Step

_LOOK_AHEAD = 6
_MOST_DROPPED = 2
_LONGEST_OUTPUT = 3_000
_NOT_THERE = re.compile(r"command not found: (\S+)|(\S+): (?:command )?not found\b(?!:)|'(\S+?)' is not recognized")
_CALLED_WRONGLY = re.compile(
    r"(?:illegal|invalid|unrecognized|unknown|unexpected|ambiguous) (?:option|argument|flag|switch|shorthand flag)"
    r"|no such option|(?:accepts|requires|expected) (?:at most|at least|exactly|between) \d+ arg"
    r"|unknown (?:sub)?command",
    re.IGNORECASE,
)
# What every match of the one or the other holds: a search for words is far cheaper than theirs.
_NOT_THERE_SAYS = ("not found", "not recognized")
_CALLED_WRONGLY_SAYS = (
    *("illegal ", "invalid ", "unrecognized ", "unknown ", "unexpected ", "ambiguous "),
    *("no such option", "at most", "at least", "exactly", "between"),
)
_OPTION = re.compile(r"(?<!\w)--?[A-Za-z][\w-]*")
_SPEAKER = re.compile(r"^(?:\w+: )?([\w.+-]+): ")


class Replaced(NamedTuple):
    by: Command
    success: Turn
    steps: tuple[Step, ...]
    """The options that had to go."""


def replaced(turn: Turn, later: Iterable[Turn]) -> Replaced | None:
    """The call that worked in place of the one that could not."""
    if turn.call.action != "run" or len(turn.output) > _LONGEST_OUTPUT:
        return None
    said = turn.output.lower()
    missing = _NOT_THERE.search(turn.output) if any(word in said for word in _NOT_THERE_SAYS) else None
    wrong = not missing and any(word in said for word in _CALLED_WRONGLY_SAYS) and _CALLED_WRONGLY.search(said)
    if not missing and not wrong:
        return None
    failed = _missing(turn, next(filter(None, missing.groups()))) if missing else _wrong(turn)
    if failed is None:
        return None
    for _, other in zip(range(_LOOK_AHEAD), later, strict=False):
        if not other.succeeded or other.call.action != "run":
            continue
        for command in elements(other.call.command):
            if (missing and _there(failed, command)) or (wrong and _called_otherwise(failed, command)):
                return Replaced(command, other, _dropped(failed, command) if wrong else ())
    return None


def _dropped(failed: Command, by: Command) -> tuple[Step, ...]:
    dropped = sorted(failed.options - by.options - {"--"})
    return (Step("drop", " ".join(dropped)),) if 0 < len(dropped) <= _MOST_DROPPED else ()


def _missing(turn: Turn, name: str) -> Command | None:
    # An alias may stand behind it: `python3` that is `python3.12`.
    family = program_family(name.rpartition("/")[2])
    return next((command for command in elements(turn.call.command) if program_family(command.program) == family), None)


def _wrong(turn: Turn) -> Command | None:
    called = elements(turn.call.command)
    line = next((line for line in turn.output.splitlines() if _CALLED_WRONGLY.search(line)), "")
    speaker = _SPEAKER.match(line)
    if speaker and (named := [command for command in called if command.program == speaker.group(1)]):
        return named[-1]
    options = set(_OPTION.findall(line))
    if with_option := [command for command in called if command.options & options]:
        return with_option[-1]
    return called[0] if called else None


def _there(failed: Command, later: Command) -> bool:
    """The same tool by another path or wrapper, or another tool for exactly the same."""
    if program_family(later.program) == program_family(failed.program):
        return (later.program, later.settings) != (failed.program, failed.settings)
    return bool(failed.targets) and (later.subcommand, later.targets) == (failed.subcommand, failed.targets)


def _called_otherwise(failed: Command, later: Command) -> bool:
    if (later.program, later.subcommand) != (failed.program, failed.subcommand) or later.text == failed.text:
        return False
    if later.options == failed.options and later.targets == failed.targets:
        return False
    return not failed.targets or bool(failed.targets & later.targets)
