"""How each command of a line ended: by its exit code, and where that is another's, by what was printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from hardwon.failures import tools
from hardwon.failures.shell import Command, commands, each_stops_the_next, ran_in
from hardwon.model.session import Outcome
from hardwon.text.normalise import lazy_pattern

Colour = Literal["green", "red", ""]

CUTS = frozenset(("head", "tail", "tee", "cat", "less", "more"))
"""What only shows or keeps what is piped into it."""
NO_FOLDER = lazy_pattern(
    r"cd:.*(?:[Nn]o such file|can't cd)|[Cc]annot find (?:the )?path|can't cd to|volume label syntax is incorrect"
)
MOVES = lazy_pattern(r"\s*(?:cd|pushd|popd|Set-Location)\b[^;&|\n]*")
_TAIL_CHARACTERS_SEARCHED = 8_000
RED = lazy_pattern(
    r"^\s*(?:FAIL\b|--- FAIL|FAILED\b|not ok |Traceback \(most recent|npm (?:ERR!|error)|panic: |[✖✗✘⨯] )"
    r"|\berror(?:\[\w+\])?: |\berror TS\d+|^\S+\.go:\d+:\d+: |^[1-9]\d* issues:|\b[1-9]\d* (?:failed|errors?)\b"
    r"|command not found|No such file or directory|^(?:ERROR|Error): ",
    re.MULTILINE,
)
"""By which an output is that of something that failed, where its exit code is another's."""


def ends(
    line: str, output: str, outcome: Outcome, *, by_words: bool = False, told: str = ""
) -> list[tuple[Command, Colour]]:
    """The commands of a line, each with how it ended, as far as anybody can tell.

    `by_words`: not its exit code says that the line failed, but what it printed. `told` is the command that the failure
    is told with.
    """
    found = commands(line)
    own = [_own(one, found, line, output) for one in found]
    if outcome != "error":
        passed = outcome == "ok"
        return [
            (one, "green" if passed and _passed(one, said, line, output) else said)
            for one, said in zip(found, own, strict=True)
        ]
    if NO_FOLDER.search(output) and any(map(MOVES.match, re.split(r"&&|;|\n", ran_in(line)[1]))):
        return [(one, "") for one in found]  # it never came to the rest
    failed, is_sure = _failed(line, output, found, own, by_words=by_words, told=told)
    first = min(failed, default=len(found))
    stops = bool(failed) and each_stops_the_next(line)
    before: Colour = "green" if is_sure else ""
    return [
        (one, "red" if at in failed else said if not stops else said or before if at < first else "")
        for at, (one, said) in enumerate(zip(found, own, strict=True))
    ]


def _failed(
    line: str, output: str, found: Sequence[Command], own: Sequence[Colour], *, by_words: bool, told: str
) -> tuple[frozenset[int], bool]:
    """Which commands of a line that failed did: of those that can have, the one that says so, or the only one left.

    With whether that is sure, and no guess after the words of the failure.
    """
    complained = [at for at, one in enumerate(found) if one.program in _PLAIN and _complains(one, output)]
    if complained and each_stops_the_next(line):
        return frozenset(complained[:1]), True
    masked = [at for at, one in enumerate(found) if one.masked]
    if reported := [at for at in masked if own[at] == "red" and tools.tests(found[at])]:
        return frozenset(reported), True
    meant = [at for at, one in enumerate(found) if one.masked == (by_words and bool(masked))] or [*range(len(found))]
    meant = [at for at in meant if not _is_plain(found[at], output)] or meant
    passed = max((at for at in meant if own[at] == "green"), default=-1) if each_stops_the_next(line) else -1
    left = [at for at in meant if at > passed and own[at] != "green"]
    meant = [at for at in left if own[at] == "red"] or left or meant
    if _is_one(found, meant):
        return frozenset(meant), True
    named = [at for at in meant if _is_named(found[at], told)]
    return frozenset(named if _is_one(found, named) else ()), False


_PLAIN = frozenset("echo printf mkdir touch chmod export rm cp mv".split())


def _is_plain(command: Command, output: str) -> bool:
    """Whether it says its name where it fails, and did not."""
    return command.program in _PLAIN and f"{command.program}: " not in output


def _complains(command: Command, output: str) -> bool:
    return output.startswith(f"{command.program}: ") or f"\n{command.program}: " in output


def _is_one(found: Sequence[Command], places: Sequence[int]) -> bool:
    """However often it was called."""
    return len({(found[at].program, found[at].subcommand) for at in places}) == 1


def _is_named(command: Command, told: str) -> bool:
    """Whether it is what a failure is told with, and nothing beside it."""
    return " && " not in told and f" {command.program} {command.subcommand}".rstrip() in f" {told}"


# What a command's own report says.

_TESTS_FAILED = lazy_pattern(
    r"^\s*(?:FAIL\b|--- FAIL|FAILED\b|not ok \d)|✗ FAIL|\b[1-9]\d* (?:failed|failing)\b"
    r"|^=+ .*\b[1-9]\d* errors? in [\d.]+s",
    re.MULTILINE,
)
_TESTS_PASSED = lazy_pattern(
    r"^ok\s+\S+|^PASS$|--- PASS|\b[1-9]\d* (?:passed|passing)\b|^OK$|test result: ok"
    r"|\b[Aa]ll (?:\d+ )?tests (?:have )?passed\b",
    re.MULTILINE,
)
_COUNTED = lazy_pattern(
    r"^ *\d+ pass\n(?: *\d+ (?:skip|todo)\n)* *(\d+) fail$"
    r"|^ *(\d+) fail\n(?: *\d+ errors?\n)? *\d+ expect\(\) calls$",
    re.MULTILINE,
)
"""How bun closes its report."""
_CUT_AFTER = lazy_pattern(r"\|\s*head\b(?:\s+(?:-n\s*|--lines=|-)?(\d+))?")
_LINES_OF_HEAD = 10
_FOUND_SOME = lazy_pattern(
    r"^Found [1-9]\d* (?:\w+ )?errors?\b|^\W{0,4}[1-9]\d* (?:errors?\b|issues?:)|✖ \d+ problems? \([1-9]"
    r"|^Summary: [1-9]\d* error",
    re.MULTILINE,
)
_SCRIPT_FAILED = lazy_pattern(r"^error: script \"([\w:.-]+)\" exited with code [1-9]", re.MULTILINE)
_FAILED_ANYHOW = lazy_pattern(
    r"\bELIFECYCLE\b|^npm (?:ERR!|error) |^error Command failed|\berror TS\d+: ", re.MULTILINE
)
"""Which says not of which command of several."""
_FOUND_NONE = lazy_pattern(
    r"^Found 0 errors|^All checks passed|^Success: no issues found|^0 issues\b|^Summary: 0 error|^0 errors\b"
    r"|^Checked \d+ files? in \S+ (?:No fixes applied|Fixed \d+ files?)\.|^All matched files use|rated at 10\.00/10",
    re.MULTILINE,
)
_FINDING = lazy_pattern(
    r"^\s*(?:vet: )?(?:[A-Za-z]:)?[^\s:()]*\.\w{1,10}(?::\d+(?::\d+)?:?|\(\d+(?:,\d+)?\):)(?: -)? "
    r"(?!\s*(?:\[?warn|note|info|hint|help))\S|^\s+\d+:\d+\s+(?:error|✖)\s|^In \S+ line \d+:$|^\s*--> \S+:\d+:\d+$",
    re.MULTILINE,
)
"""The place that a check complains of, and of what. A warning fails no check, or not every one."""
_PASSES_ANYHOW = lazy_pattern(r"--exit-zero|--issues-exit-code[= ]0")
_SILENCED = lazy_pattern(r"[12&]?>\s*/dev/null")


def _own(command: Command, found: Sequence[Command], line: str, output: str) -> Colour:
    """What a report says of one of the commands that made an output: where several may have made it, of none."""
    if not tools.checks(command):
        return ""
    tests = tools.tests(command)
    if not _is_one(found, [at for at, one in enumerate(found) if tools.checks(one) and tools.tests(one) == tests]):
        return ""
    tail = output[-_TAIL_CHARACTERS_SEARCHED:]
    if not tests:
        return _counted(command, found, line, tail)
    if not _is_whole(line, output) and not _COUNTED.search(tail):
        return ""  # cut before the report that closes it
    return _reported(tail)


def _reported(tail: str) -> Colour:
    """What the report of a test run says."""
    if counted := _COUNTED.search(tail):
        return "green" if "0" in counted.groups() else "red"
    if _TESTS_FAILED.search(tail):
        return "red"
    return "green" if _TESTS_PASSED.search(tail) else ""


def _counted(command: Command, found: Sequence[Command], line: str, tail: str) -> Colour:
    """What a check of another kind says: how much it found, or what."""
    alone = all((one.program, one.subcommand) == (command.program, command.subcommand) or _says(one) for one in found)
    if _FOUND_SOME.search(tail) or not {*_SCRIPT_FAILED.findall(tail)}.isdisjoint(command.subcommand.split()):
        return "red"
    if alone and (_FAILED_ANYHOW.search(tail) or (prints_findings(command, line) and _FINDING.search(tail))):
        return "red"
    return "green" if _FOUND_NONE.search(tail) else ""


def prints_findings(command: Command, line: str) -> bool:
    """Whether a check failed if it printed what it found, and only then."""
    return tools.finds(command) and "||" not in line and _PASSES_ANYHOW.search(line) is None


def _passed(command: Command, said: Colour, line: str, output: str) -> bool:
    """Whether a command of a line that did not fail passed.

    One whose exit code is hidden would have been seen to fail; only a test run must say so.
    """
    if said or not command.masked:
        return said == "green" or not command.masked
    if tools.tests(command) or not CUTS.issuperset(command.through) or not _is_whole(line, output):
        return not tools.checks(command)
    return not RED.search(output[-_TAIL_CHARACTERS_SEARCHED:]) and not _SILENCED.search(line)


def _is_whole(line: str, output: str) -> bool:
    """Whether no `head` cut an output off."""
    cut = _CUT_AFTER.search(line)
    return not cut or output.rstrip("\n").count("\n") + 1 < int(cut.group(1) or _LINES_OF_HEAD)


def _says(command: Command) -> bool:
    return command.program in ("echo", "printf")
