"""A session's calls in order: what came of each, and the same thing called in another way."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from hardwon.failures import tools
from hardwon.failures.ended import CUTS, MOVES, NO_FOLDER, RED, Colour, ends
from hardwon.failures.fingerprint import CODE_FAMILIES, fingerprint
from hardwon.failures.shell import Command, commands
from hardwon.failures.signature import orders
from hardwon.model.failure import GOT_PAST, Occurrence, Step
from hardwon.model.session import Session, ToolCall, ToolResult
from hardwon.text.normalise import base_name, lazy_pattern
from hardwon.text.shown import clean

OF_A_SCREEN = ("text", "test-report", "piped")
"""How it is known that a call failed whose transcript kept what a terminal showed: prompts, echoes and all."""


class Turn(NamedTuple):
    """One call and what came of it, in order."""

    position: int
    message_index: int
    at: int | None
    call: ToolCall
    result: ToolResult | None

    @property
    def failed(self) -> bool:
        return self.result is not None and self.result.outcome == "error"

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.outcome == "ok"

    @property
    def stopped(self) -> bool:
        """The user refused or interrupted it."""
        return self.result is not None and self.result.evidence in ("rejected", "interrupted")

    @property
    def output(self) -> str:
        return self.result.text if self.result else ""


def turns(session: Session) -> list[Turn]:
    """Every call of a session in order, with its result if there is one."""
    results = {result.call_id: result for result in session.results()}
    paired = ((at, message.at, call) for at, message in enumerate(session.messages) for call in message.calls)
    return [
        Turn(position, message_index, at, call, results.get(call.id))
        for position, (message_index, at, call) in enumerate(paired)
    ]


# What a later call of the same thing tells: it passed, failed the same way again, failed otherwise, or leaves it open.

Verdict = Literal["passed", "again", "otherwise", "open"]

_TAIL_CHARACTERS_SEARCHED = 8_000
_GREEN = lazy_pattern(
    r"^ok\s+\S+|^PASS$|--- PASS|\b[1-9]\d* (?:passed|passing)\b|^0 issues|(?:build|tests?)[: ]+(?:ok|pass)|\bsuccess",
    re.MULTILINE | re.IGNORECASE,
)
_RAN_UNTIL_STOPPED = lazy_pattern(r"terminated command after exceeding timeout|terminated by signal SIGTERM")


def verdict(turn: Turn, command: Command, failure: Occurrence) -> Verdict:
    """Of a call that tries the failed thing again by `command`."""
    if turn.result is None or turn.stopped or turn.result.outcome == "unknown":
        return "open"
    if turn.failed:
        if shows(turn, failure):
            return "again"
        return "passed" if ran_until_stopped(turn) else "otherwise"
    if shows(turn, failure):
        return "again"
    if not command.masked:
        return "passed"
    # The exit code is that of another command: the output must speak.
    tail = turn.output[-_TAIL_CHARACTERS_SEARCHED:]
    if RED.search(tail):
        return "otherwise"
    return "passed" if all(program in CUTS for program in command.through) or _GREEN.search(tail) else "open"


def ran_until_stopped(turn: Turn) -> bool:
    """A server that the agent's tool ended after a while has not failed."""
    return _RAN_UNTIL_STOPPED.search(turn.output[-_TAIL_CHARACTERS_SEARCHED:]) is not None


def ended(turn: Turn) -> list[tuple[Command, Colour]]:
    """The commands of a call, each with how it ended; none of one that was stopped, or is not over."""
    if turn.result is None or turn.stopped:
        return []
    by_words = turn.result.evidence in OF_A_SCREEN
    return ends(turn.call.command, turn.output, turn.result.outcome, by_words=by_words)


def shows(turn: Turn, failure: Occurrence) -> bool:
    """Whether the failure is in an output, be it as its second error, or of a program that goes on after it."""
    output = turn.output
    found = fingerprint(output, turn.call.command)
    if found is not None and found.id == failure.fingerprint:
        return True
    lines = [line.strip() for line in failure.excerpt.splitlines()]
    told = max(lines, key=len, default="")
    return len(told) >= 30 and _solid(told) in _solid(output)


_NOT_BEGUN = lazy_pattern(
    r"(?i)no such file|ENOENT|can't open file|cannot find (?:path|module|package)|no module named|command not found"
    r"|is not recognized|MSB1\d{3}|no (?:tests?|inputs?|files?|projects?|packages?) (?:\w+ ){0,3}(?:found|matched|in)\b"
    r"|missing script|no targets specified|no rule to make|permission denied"
    r"|unknown (?:option|argument|command)|unrecognized (?:option|arguments?)"
)
"""What says that a program had nothing to work on, or was called wrongly."""


def got_further(turn: Turn, failure: Occurrence) -> bool:
    """Whether a call that failed came past this failure, to its work: what it finds wrong there is the code."""
    if not turn.failed or turn.stopped or ran_until_stopped(turn) or shows(turn, failure):
        return False
    found = fingerprint(turn.output, turn.call.command)
    return (
        found is not None
        and found.family in CODE_FAMILIES
        and found.family != failure.family
        and not _NOT_BEGUN.search(found.excerpt)
        and not _LACKS_ARGUMENT.search(found.excerpt)
    )


def _solid(text: str) -> str:
    """Without spaces and ends of lines: a terminal breaks lines where it likes."""
    return "".join(text.split())


# The same thing called in another way, which worked: from another folder, with the argument that was missing, spelled
# as the program wants it, without what it refused.
#
# Each needs what the error itself says: that the folder is not there, that an argument is missing, which one it does
# not know, which it will not take. The same object or no fix: a number is another spelling of the same number only.

_CALLS_LOOKED_AHEAD = 6
_MAX_OUTPUT_CHARACTERS = 3_000
_MAX_CHARACTERS = 160
_MAX_NAME_CHARACTERS = 24
_MAX_PART_CHARACTERS = 60
_LACKS_ARGUMENT = lazy_pattern(
    r"missing (?:required )?(?:argument|operand|parameter|positional)(?::? ['\"<`]?(?P<name>[A-Za-z][\w-]*)['\">`]?)?"
    r"|following (?:required )?arguments (?:are required|were not provided)|requires (?:at least|exactly) \w+ arg"
    r"|[Ss]pecify (?:a|which) (?:project|solution|file)",
)
_UNKNOWN_OBJECT = lazy_pattern(r"['\"](?P<name>[^'\"\s]{1,60})['\"] not found")
_WILL_NOT_TAKE = lazy_pattern(r"ignored by one of your \.gitignore files:?\s+(?P<paths>(?:[^\s:]+\n?)+)")


class Replacement(NamedTuple):
    """What was called in place of what could not be."""

    by: Command
    success: Turn
    step: Step | None
    called: str
    """The call itself, where no step says the difference."""
    cause: str
    """What it has to do with the error; empty where a second session must show it."""


def called_otherwise(turn: Turn, later: Sequence[Turn], failure: Occurrence) -> Replacement | None:
    """The first call right after that did the same in another way and passed; None where the code had changed.

    One that came to its work, where it failed otherwise, counts as well, once a second session shows it.
    """
    output = clean(turn.output)
    if len(output) > _MAX_OUTPUT_CHARACTERS:
        return None
    tried = commands(turn.call.command)
    code_counts = not _LACKS_ARGUMENT.search(output)  # how it is called has nothing to do with the code
    for at, other in enumerate(later[:_CALLS_LOOKED_AHEAD]):
        if (other.call.action == "edit" and code_counts) or MOVES.fullmatch(other.call.command):
            return None
        further = got_further(other, failure)
        if (other.succeeded or further) and other.call.action == "run" and tried:
            ran = commands(other.call.command)
            is_next = all(one.call.action != "run" for one in later[:at])
            found = (
                _compared(tried, ran, output, is_next=is_next)
                or _written_otherwise(turn, other, output)
                or _without_a_part(turn, other, output)
                or (_in_a_folder(tried, ran) if at == 0 and not further and not _PASSES.search(output) else None)
            )
            if found is not None and not shows(other, failure):
                step, called, cause, by = found
                return Replacement(by, other, step, called, GOT_PAST if further else cause)
    return None


_Found = tuple[Step | None, str, str, Command]


def _compared(tried: Sequence[Command], found: Sequence[Command], output: str, *, is_next: bool) -> _Found | None:
    if NO_FOLDER.search(output):
        return _elsewhere(tried, found, output, is_next=is_next)
    for failed in tried:
        for passed in found:
            if (failed.program, failed.subcommand) == (passed.program, passed.subcommand) and not failed.inline:
                step = _with_argument(failed, passed, output) or _respelled(failed, passed, output)
                step = step or _without(failed, passed, output) or _moved(failed, passed, output)
                if step is not None:
                    return *step, passed
    return None


def _elsewhere(tried: Sequence[Command], found: Sequence[Command], output: str, *, is_next: bool) -> _Found | None:
    """The same commands, without the step into the folder that the error names, or from another.

    Of an error that names none the very next command tells, once a second session shows it.
    """
    found = _meant(tried, found)
    if not tried[0].folder or not found:
        return None
    before, after = tried[0].folder, found[0].folder
    if not after:
        name = base_name(before.strip("'\"").rstrip("/"))
        named = any(name in line for line in output.splitlines() if NO_FOLDER.search(line))
        if not (named or is_next):
            return None  # any folder that is not there says the same
        step = Step("drop", f"cd {_general(before)}")
        return step, "", "the folder that it steps into is not there" if named else "", found[0]
    again = before.removeprefix(f"{after}/")
    if again != before and f"/{after}/".endswith(f"/{again}/"):
        return Step("drop", f"cd {_general(again)}"), "", "the shell is in that folder already", found[0]
    if after != before and base_name(after.rstrip("/")) == base_name(before.rstrip("/")):
        moved = Step("replace", f"`cd {_general(before)}` with `cd {_general(after)}`")
        return moved, "", "the error names what was replaced" if _is_near(before, after) else "", found[0]
    return None


def _meant(tried: Sequence[Command], found: Sequence[Command]) -> Sequence[Command]:
    """Those of a line that are the same as what was tried, where all else in it only looks; none otherwise."""
    wanted = [one.text for one in tried]
    if [one.text for one in found] != wanted:
        found = [one for one in found if one.text in wanted or not tools.looks(one)]
    return found if [one.text for one in found] == wanted else ()


ONLY_THE_FOLDER = "nothing but the folder is another"
_PASSES = lazy_pattern(
    r"(?i)hang up|tim(?:ed?|e) ?out|ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|rate limit|too many|unavailable|temporar|network"
    r"|socket|connect|locked|in use|busy|reset by|try again|retry|assert|expect"
)
"""What may be gone the next time, wherever that is."""


def _in_a_folder(tried: Sequence[Command], found: Sequence[Command]) -> _Found | None:
    """The very next call is the same, from the folder that it belongs into: nothing else can have made it pass."""
    same = _meant(tried, found)
    if not same or any(one.folder for one in tried) or tools.looks(tried[-1]):
        return None
    folder = same[0].folder.strip("'\"")
    if not folder or folder.startswith(("$", "-", "..")) or any(one.folder != same[0].folder for one in same):
        return None
    told = tools.brief(f"cd {folder} && {same[0].text}", _MAX_CHARACTERS)
    return None, told, ONLY_THE_FOLDER, same[0]


def _is_near(one: str, other: str) -> bool:
    """Whether what holds the one folder holds the other, too."""
    parents = [folder.strip("'\"").rstrip("/").rpartition("/")[0] for folder in (one, other)]
    return all(parents) and any(f"{far}/".startswith(f"{near}/") for near, far in itertools.permutations(parents, 2))


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
    cause = "the error misses the argument that was added"
    if not name:  # whatever else the command does
        return Step("add", tools.brief(word, _MAX_CHARACTERS)), "", cause
    return None, tools.brief(passed.text.replace(word, f"<{name}>", 1), _MAX_CHARACTERS), cause


def _respelled(failed: Command, passed: Command, output: str) -> _Difference | None:
    """The same number, as the program writes it."""
    gone, new = failed.targets - passed.targets, passed.targets - failed.targets
    if len(gone) != 1 or len(new) != 1 or failed.options != passed.options:
        return None
    old, other = next(iter(gone)), next(iter(new))
    numbers = [re.findall(r"\d+", word) for word in (old, other)]
    same = all(len(found) == 1 for found in numbers) and int(numbers[0][0]) == int(numbers[1][0])
    unknown = _UNKNOWN_OBJECT.search(output)
    if not same or not unknown or unknown.group("name") not in (old, old.strip("#")):
        return None
    told = [re.sub(r"\d+", "<id>", f"'{word}'" if word[0] == "#" else word) for word in (old, other)]
    if told[0] == told[1]:
        return None  # zeros before it
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


_NOT_THERE = lazy_pattern(
    r"(?i)no such file|not found|cannot find|could not find|does not exist|can't open|doesn't exist"
)


def _moved(failed: Command, passed: Command, output: str) -> _Difference | None:
    """The same file, where it is: the error says that it is not where it was looked for."""
    gone, new = failed.targets - passed.targets, passed.targets - failed.targets
    if len(gone) != 1 or len(new) != 1 or failed.options != passed.options or tools.looks(failed):
        return None
    old, other = (next(iter(words)).strip("'\"") for words in (gone, new))
    name = base_name(old.rstrip("/"))
    same = "." in name and base_name(other.rstrip("/")) == name
    named = next((line for line in output.splitlines() if old in line and _NOT_THERE.search(line)), "")
    if not same or not named or len(old) + len(other) > _MAX_CHARACTERS:
        return None
    return Step("replace", f"`{_general(old)}` with `{_general(other)}`"), "", "the error names what was replaced"


# What a shell could not read, written so that it can.

_NO_MATCHES = lazy_pattern(r"no matches found: (\S+)")


def _written_otherwise(turn: Turn, other: Turn, output: str) -> _Found | None:
    """A pattern in quotes: the same commands, as the shell takes them."""
    before, after = turn.call.command, other.call.command
    asked, ran = commands(before), commands(after)
    same = [one for one in ran if any((one.program, one.subcommand) == (two.program, two.subcommand) for two in asked)]
    if not same:
        return None
    pattern = _NO_MATCHES.search(output)
    if pattern and "://" not in pattern.group(1) and len(pattern.group(1)) <= _MAX_CHARACTERS // 2:
        word = pattern.group(1)
        if any(f"{quote}{word}" in after for quote in "'\""):
            step = Step("replace", f"`{_general(word)}` with `'{_general(word)}'`")
            return step, "", "the error names what was replaced", same[-1]
    return None


# A part of a query or of a list that the program would not take, left out.

_REFUSES_A_NAME = lazy_pattern(
    r"(?i)unknown|invalid|unexpected|doesn't|does not|no such|not (?:found|defined|supported)"
)
_NAME_IN_QUOTES = lazy_pattern(r"['\"`]([A-Za-z_]\w{2,})['\"`]")
_CHANGES_DATA = lazy_pattern(r"(?i)\b(?:delete|drop|update|insert|alter|remove|destroy|mutation|rm)\b")
_PART = lazy_pattern(r"[^\s,]+")
_QUERY_OR_LIST = lazy_pattern(r"'[^']*[\s,][^']*'|\"[^\"]*[\s,][^\"]*\"|[\w.-]+(?:,[\w.-]+)+")
_MAX_PARTS = 400
_CHARACTERS_AROUND = 60


def _without_a_part(turn: Turn, other: Turn, output: str) -> _Found | None:
    """Without what the error names: of a list behind a comma, of a query in quotes; nothing that changes data."""
    before, after = turn.call.command, other.call.command
    refusal = _REFUSES_A_NAME.search(output)
    if not refusal or _CHANGES_DATA.search(before):
        return None
    said = output[max(0, refusal.start() - _CHARACTERS_AROUND) : refusal.end() + _CHARACTERS_AROUND]
    queried = " ".join(_QUERY_OR_LIST.findall(before))
    names = [name for name in _NAME_IN_QUOTES.findall(said) if name in queried and name not in after]
    if not names:
        return None
    ran = [one for one in commands(after) if not tools.danger(one.text)]
    asked = {(one.program, one.subcommand) for one in commands(before)}
    same = [one for one in ran if (one.program, one.subcommand) in asked]
    tried, passed = _PART.findall(before), _PART.findall(after)
    if not same or max(len(tried), len(passed)) > _MAX_PARTS:
        return None
    for kind, start, end, *_ in difflib.SequenceMatcher(None, tried, passed, autojunk=False).get_opcodes():
        gone = " ".join(tried[start:end]).strip("'\"")
        if kind in ("delete", "replace") and all(re.search(rf"\b{re.escape(name)}\b", gone) for name in names):
            if len(gone) > _MAX_PART_CHARACTERS or any(part[0] == "-" for part in tried[start:end]):
                return None
            return Step("drop", _general(gone)), "", "the error names what was left out", same[-1]
    return None


def _general(text: str) -> str:
    """Without the number that belongs to this one time."""
    return re.sub(r"(?<=#)\d+", "<id>", text)
