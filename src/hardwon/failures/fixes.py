"""What mended a failed call: what followed it, what of that has to do with the error, and what was tried in vain.

Two calls of the same thing, one that failed and a later one that passed, prove little by themselves. A step between
them counts by itself only when it shares something with the error: what was missing, the option that was refused, the
failing program's own hint. Any other lone step is kept as a coincidence until another session has made the same.
Mistakes in code are mended by changing code, which teaches nothing about the next one: they have no fix here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.failures import provenance, tools
from hardwon.failures.ended import ends
from hardwon.failures.fingerprint import CODE_FAMILIES
from hardwon.failures.provenance import Taken
from hardwon.failures.shell import Command, commands, elements, program_family
from hardwon.failures.turns import (
    ONLY_THE_FOLDER,
    Replacement,
    Turn,
    Verdict,
    called_otherwise,
    got_further,
    ran_until_stopped,
    shows,
    verdict,
)
from hardwon.model.failure import GOT_PAST, HINTED, Fix, Occurrence, Step, Tried
from hardwon.text.normalise import base_name, lazy_pattern, tilde
from hardwon.text.shown import clean, cut_short

MAX_STEPS = 3
MAX_STEP_CHARACTERS = 160
_MAX_PASSING_CHARACTERS = 400
CALLS_LOOKED_AHEAD = 40
_CALLS_LOOKED_AHEAD_FOR_REPLACEMENT = 6
_MAX_CALLS_FOR_LONE_STEP = 8
"""From a failure to its success, for the only step between them to be kept though the error does not name it."""
_MAX_CALLS_UNTIL_RETRY = 5
_MAX_USAGE_ERROR_CHARACTERS = 3_000
_MAX_OPTIONS_REPLACED = 2
_MIN_HINT_CHARACTERS = 8
_MIN_NAME_CHARACTERS = 4
_MIN_FOLDER_CHARACTERS = 6
_TAIL_CHARACTERS_SEARCHED = 12_000
_TEMPORARY = lazy_pattern(r"/tmp/|/var/folders/|\\Temp\\|\$TMPDIR|scratchpad|\bSCRATCH")  # noqa: S108
_NOT_FORMATTED = ("properly formatted", "would reformat", "formatter would", "code style issues", "needs formatting")
_MISSING_MODULE = ("cannot find module", "cannot find package", "no module named", "no required module provides")
_MISSING = (
    *_MISSING_MODULE,
    *("could not find", "could not resolve", "unable to find", "unable to resolve", "unable to locate", "not found"),
    *("no such file", "does not exist", "enoent", "not installed", "isn't installed", "refused", "permission denied"),
    *("eacces", "eaddrinuse", "already in use", "missing", "not a git repository", "no changes added"),
    *("has no upstream", "out of date", "no space left", "is not set", "not running", "dubious ownership"),
)
_NO_FILE = ("no such file", "enoent")
_IN_USE = ("used by another process", "is locked by", "resource busy", "text file busy", "database is locked")
_OUTSIDE_THE_CODE = (
    *_IN_USE,
    *_NOT_FORMATTED,
    *_MISSING_MODULE,
    "not installed",
    "refused",
    "eaddrinuse",
    "already in use",
)
_MANIFEST = lazy_pattern(
    r"(?:package|tsconfig\w*|deno|composer|knip|biome)\.json|pyproject\.toml|requirements[\w.-]*\.txt|go\.(?:mod|work)"
    r"|Cargo\.toml|Gemfile|\.env[\w.]*|Dockerfile|Makefile|.*\.config\.\w+|setup\.(?:py|cfg)|pom\.xml|\.git\w+",
    re.IGNORECASE,
)
_NAME = lazy_pattern(r"[A-Za-z_@][\w./@-]{2,}\w")
_COMMON = frozenset(
    "error type string number module function test tests undefined object value name file path with from main index "
    "src lib app build run install config package node_modules origin master localhost global version".split()
)
_WORST_FIRST: tuple[Verdict, ...] = ("again", "otherwise", "open", "passed")
_ELSEWHERE = lazy_pattern(
    r"no such file|not found|enoent|(?:cannot|could not) find|does not exist|no module named|not a git repository"
    r"|no rule|(?:operation )?not permitted|permission denied|access is denied|eperm|eacces|read-only file system",
    re.IGNORECASE,
)
"""What is not there, or not allowed: run again it passes only where somebody made it or allowed it."""
_INTO_A_FILE = lazy_pattern(r"\s+\d?>{1,2}\s*\S+$")
AGAIN = Step("again", "")
"""The same call passed with nothing done between: it comes and goes."""


class Trail(NamedTuple):
    """What followed a failure: the fix, if it was mended, what was tried before, and the way that the fix took."""

    fix: Fix | None
    tried: list[Tried]
    taken: Taken | None = None
    """Which says whether the fix is to be doubted, when it is compared with all that stood in the session before."""


def follow(calls: list[Turn], at: int, failure: Occurrence, home: str = "") -> Trail:
    """What followed the failed call at this place: the fix that was proven, if any, and what was tried in vain.

    `home` is the folder that the session works in.
    """
    failed = calls[at]
    later = calls[at + 1 : at + 1 + CALLS_LOOKED_AHEAD]
    if failed.call.action != "run" or failure.family in ("agent", "hook") or failure.error_type == "conflict":
        return Trail(None, [])
    swap = _replaced(failed, later, failure) or called_otherwise(failed, later, failure)
    if swap is not None and (swap.cause != ONLY_THE_FOLDER or not _code_is_wrong(failure)):
        steps, called = (swap.step,) if swap.step else (), swap.called
        if swap.cause == ONLY_THE_FOLDER:  # whatever the call was: another one fails there, too
            steps, called = (Step("run", f"cd {swap.by.folder}"),), ""
        fix = _fix(failure, steps, called, swap.success, swap.by, cause=swap.cause)
        # The call was the session's own before any output could propose it: a screen shows it again.
        is_own = swap.by.text in failed.call.command
        ran = [swap.by.text]
        if is_own and swap.step and swap.step.what.startswith("cd ") and swap.step.action == "drop":  # nothing is new
            line = swap.success.call.command
            ran = [line] if tools.danger(line) or tools.deletes(line) else []
        if is_own and swap.step is None and swap.called.startswith("cd "):  # nothing is new but the folder
            ran = [swap.called] if _is_own_folder(swap.by.folder, home) else [swap.called, f"cd {swap.by.folder}"]
        return Trail(fix, [], Taken(ran, (), swap.success.position, failed, is_own and swap.step is not None))
    if _code_is_wrong(failure) or ran_until_stopped(failed):
        return Trail(None, [])
    return _retried(calls, at, failure, later)


def _is_own_folder(folder: str, home: str) -> bool:
    """Below where the session works."""
    bare = folder.strip("'\"")
    is_absolute = bare[:1] in ("/", "~", "$", "\\") or bare[1:2] == ":"
    return f"{tilde(bare)}/".startswith(f"{tilde(home)}/") if is_absolute and home else not is_absolute


def _code_is_wrong(failure: Occurrence) -> bool:
    about = f"{failure.excerpt}\n{failure.signature}".lower()
    return failure.family in CODE_FAMILIES and not _says(about, _OUTSIDE_THE_CODE)


def _is_in_use(failure: Occurrence) -> bool:
    return _says(failure.excerpt.lower(), _IN_USE)


def _says(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


# What was done between a failure and a success.


class Done(NamedTuple):
    """One edit or command that succeeded."""

    position: int
    action: str
    subject: str
    """The file's name, or the command."""
    text: str
    """The head of what was written; the command as it was."""
    command: Command | None = None

    def step(self, failure: Occurrence) -> Step:
        """It as a fix tells it: without what belongs to this one time, cut to a length that can be shown."""
        if self.action == "run":
            return Step("run", _told(self.subject, failure))
        return Step("edit", f"{self.subject}: {self.text}"[:MAX_STEP_CHARACTERS])


def done(turn: Turn) -> list[Done]:
    """What a call that succeeded changed."""
    call = turn.call
    if not turn.succeeded:
        return []
    if call.action == "edit" and call.target:
        return [Done(turn.position, "edit", base_name(call.target), " ".join(call.detail.split()))]
    return _of_commands(turn.position, commands(call.command)) if call.action == "run" else []


def _of_commands(position: int, found: Iterable[Command]) -> list[Done]:
    """Without what only looks or checks, and without what was written for the moment."""
    kept: list[Done] = []
    for command in found:
        if command.writes and command.head:
            kept.append(Done(position, "edit", base_name(command.writes), command.head))
        elif not (command.inline or tools.looks(command) or tools.checks(command)):
            folder = command.folder if not command.folder.startswith(("/", "~")) else ""
            told = f"cd {folder} && {command.text}" if folder else command.text
            if not _TEMPORARY.search(told):
                kept.append(Done(position, "run", told, command.text, command))
    return kept


def _told(line: str, failure: Occurrence) -> str:
    """A command for any time: the file that the error names is `<file>`, what is a number or an id is `<id>`."""
    about = failure.excerpt
    words = [
        "<file>" if "." in (name := base_name(word.strip("'\""))) and len(name) >= _MIN_NAME_CHARACTERS
        and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", about) and _is_code(name) else word
        for word in line.split(" ")
    ]  # fmt: skip
    return tools.brief(_INTO_A_FILE.sub("", " ".join(words)), MAX_STEP_CHARACTERS)


def _is_code(name: str) -> bool:
    return not _MANIFEST.fullmatch(name) and re.search(r"\.\w{1,5}$", name) is not None


# What a step has to do with the error.

_AHEAD = lazy_pattern(r"fetch first|non-fast-forward")
_EXCLUDE_EACH_OTHER = lazy_pattern(
    r"none of the others can be|cannot be used with|not allowed with|mutually exclusive|can(?:no|')t be used together"
)


def _cause(step: Done, failure: Occurrence, output: str) -> str:
    """Why a step counts by itself; empty where it may be a coincidence."""
    about = clean(f"{failure.excerpt}\n{output[-_TAIL_CHARACTERS_SEARCHED:]}")
    said = about.lower()
    command = step.command
    if command is None:
        return shared_name(step.text, failure.excerpt) if _MANIFEST.fullmatch(step.subject) else ""
    if _is_hint(command.text, about):
        return HINTED
    if _AHEAD.search(said) and (command.program, command.subcommand) == ("git", "pull"):
        return "it brings what the error says is only there"
    if _says(said, _NOT_FORMATTED):
        mends = tools.formats(command) and not tools.formats_for_another(command, failure.excerpt)
        return "it formats what was not formatted" if mends else ""
    missing = _says(said, _MISSING)
    if _says(said, _MISSING_MODULE) and (module := _alike(command, failure.excerpt.lower())):
        return f"it provides {module}, which the error names"
    named = {name for word in command.targets for name in (word.lower(), base_name(word).lower()) if _is_telling(name)}
    there = sorted(name for name in named if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said))
    if missing and tools.provides(command) and (there or tools.installs(command)):
        return f"it provides {there[0]}, which the error names" if there else "it installs what was missing"
    return ""


def shared_name(said: str, error: str) -> str:
    """Why something that was done counts: it and the error name the same thing; empty where they do not."""
    shared = _names(said) & _names(error)
    return f"the error names {min(shared)}" if shared else ""


def _alike(command: Command, said: str) -> str:
    """The missing module that a package is called after: `pyyaml` brings `yaml`."""
    names = {re.split(r"[=<>~@\[]", word.lower())[0] for word in command.targets} if tools.provides(command) else set()
    modules = re.findall(r"['\"]([\w.@/-]{3,})['\"]", said)
    return next((one.split(".")[0] for one in modules for name in names if name and one.split(".")[0] in name), "")


def _is_hint(command: str, about: str) -> bool:
    bare = " ".join(command.split())
    return len(bare) >= _MIN_HINT_CHARACTERS and bare in " ".join(about.split())


def _names(text: str) -> set[str]:
    return {word.lower() for word in _NAME.findall(text) if _is_telling(word.lower())}


def _is_telling(name: str) -> bool:
    return len(name) >= _MIN_NAME_CHARACTERS and name not in _COMMON and re.search(r"[a-z]", name) is not None


# A command that was called wrongly, or that is not there: what was said in its place right after.

_NOT_THERE = lazy_pattern(r"command not found: (\S+)|(\S+): (?:command )?not found\b(?!:)|'(\S+?)' is not recognized")
_CALLED_WRONGLY = lazy_pattern(
    r"(?:illegal|invalid|unrecognized|unknown|unexpected|ambiguous|bad) (?:option|argument|flag|switch|shorthand flag)"
    r"|no such option|unknown (?:sub)?command|unrecognized (?:sub)?command",
    re.IGNORECASE,
)
# What every match of the one or the other holds: a search for words is far cheaper than theirs.
_NOT_THERE_SAYS = ("not found", "not recognized")
_CALLED_WRONGLY_SAYS = (
    "illegal ",
    "invalid ",
    "unrecognized ",
    "unknown ",
    "unexpected ",
    "ambiguous ",
    "no such option",
)
_NAMED = "the error names what was replaced"
_OPTION = lazy_pattern(r"(?<![\w-])--?[A-Za-z][\w-]*")
_LETTER = lazy_pattern(r"option (?:-- |'|\")(\w)\b")
_QUOTED = lazy_pattern(r"['\"`‘“]([\w:.-]+)['\"`’”]")


def _replaced(turn: Turn, later: Sequence[Turn], failure: Occurrence) -> Replacement | None:
    """The call that worked in place of the one that could not."""
    output = clean(turn.output)
    if len(output) > _MAX_USAGE_ERROR_CHARACTERS:
        return None
    said = output.lower()
    missing = _NOT_THERE.search(output) if _says(said, _NOT_THERE_SAYS) else None
    if not missing and not (_says(said, _CALLED_WRONGLY_SAYS) and _CALLED_WRONGLY.search(said)):
        return None
    tried = elements(turn.call.command)
    for other in later[:_CALLS_LOOKED_AHEAD_FOR_REPLACEMENT]:
        if other.call.action != "run" or not (other.succeeded or got_further(other, failure)):
            continue
        cause = _NAMED if other.succeeded else GOT_PAST
        found = elements(other.call.command)
        for command in found:
            step = (
                _another_program(tried, command, next(filter(None, missing.groups())))
                if missing
                else _another_call(tried, command, output)
            )
            if step is not None and not shows(other, failure):
                return Replacement(command, other, step, "", cause)
        if not missing and (end := _another_end(tried, found, output)) is not None and not shows(other, failure):
            return Replacement(end[0], other, end[1], "", cause)
    return None


def _another_program(tried: Sequence[Command], later: Command, name: str) -> Step | None:
    """The same tool by another path or wrapper, or another tool for exactly the same."""
    family = program_family(base_name(name))
    failed = next((command for command in tried if _calls(command, family)), None)
    if failed is None:
        return None
    if _calls(later, family):
        other = _called(later) != _called(failed)
    else:
        other = bool(failed.targets) and (later.subcommand, later.targets) == (failed.subcommand, failed.targets)
    return _replace(_called(failed), _called(later)) if other else None


def _calls(command: Command, family: str) -> bool:
    return any(program_family(base_name(word)) == family for word in _called(command).split())


def _another_call(tried: Sequence[Command], later: Command, output: str) -> Step | None:
    line = next((line for line in output.splitlines() if _CALLED_WRONGLY.search(line)), "")
    options = set(_OPTION.findall(line)) | {f"-{letter}" for letter in _LETTER.findall(line)}
    quoted = set(_QUOTED.findall(line))
    for failed in tried:
        words = failed.text.split()
        if len(words) > 1 and words[1] in quoted and later.text.split()[:2] == words[1:3]:
            return _replace(f"{words[0]} {words[1]}", words[1])  # a program that cannot run others
        if (later.program, later.subcommand) != (failed.program, failed.subcommand):
            continue
        refused = {option for option in failed.options if option.partition("=")[0] in options}
        gone, new = failed.options - later.options, later.options - failed.options
        if tools.only_shows(failed, later):
            return None
        values = {words[at + 1] for at, word in enumerate(words[:-1]) if word in refused}
        if refused and refused <= gone and failed.targets - values <= later.targets <= failed.targets:
            if len(new) > _MAX_OPTIONS_REPLACED or len(gone) > _MAX_OPTIONS_REPLACED:
                return None
            return _replace(" ".join(sorted(gone)), " ".join(sorted(new)))
    return None


def _another_end(tried: Sequence[Command], later: Sequence[Command], output: str) -> tuple[Command, Step] | None:
    """Another program at the place in a pipe where one was called wrongly: `od -c` for `cat -A`."""
    at = next((at for at, one in enumerate(tried) if at and re.search(rf"^{re.escape(one.program)}: ", output)), 0)
    fed = [one.text for one in tried[:at]]
    if not at or [one.text for one in later[:at]] != fed or len(later) <= at or later[at].program == tried[at].program:
        return None
    step = _replace(tools.brief(tried[at].text), tools.brief(later[at].text))
    return (later[at], step) if step else None


def _replace(old: str, new: str) -> Step | None:
    if old == new or not old:
        return None
    return Step("replace", f"`{old}` with `{new}`") if new else Step("drop", old)


def _called(command: Command) -> str:
    """The program as it was called, with its wrapper: `uv run pytest`."""
    words = command.text.split()
    ends = command.targets | command.options | {command.subcommand.partition(" ")[0]} - {""}
    end = next((at for at, word in enumerate(words) if at and (word in ends or word[:1] in "-<'\"")), len(words))
    return tools.brief(" ".join(words[:end]), MAX_STEP_CHARACTERS)


# The same thing tried again.


def _retried(calls: list[Turn], at: int, failure: Occurrence, later: list[Turn]) -> Trail:
    """Walk on until all that the failed line did has passed; what was done since the failure last showed counts."""
    failed = calls[at]
    wanted = tools.suspects(tools.doing(failed.call.command), failed.output)
    open_still = set(range(len(wanted)))
    since: list[Done] = []
    gone: list[Done] | None = None
    tried: list[Tried] = []
    for turn in later:
        found = commands(turn.call.command) if turn.call.action == "run" else ()
        matched = _matches(wanted, found, failed)
        if not matched or _stopped_before(turn, min(matched.values())):
            since += done(turn)
            continue
        before = _of_commands(turn.position, found[: min(matched.values())])
        outcome = _outcome(turn, [found[place] for place in matched.values()], failure)
        if outcome == "again":
            used = (wanted[max(matched)], found[matched[max(matched)]])
            tried += _tried(failure, failed, [*(gone or []), *since, *before], used)
            since, gone, open_still = [], None, set(range(len(wanted)))
        elif outcome == "otherwise":
            if gone is None and len(matched) == len(wanted):
                gone, since = [*since, *before], []
        elif outcome == "passed":
            since += before
            open_still -= set(matched)
            if not open_still:
                used = (wanted[max(matched)], found[matched[max(matched)]])
                ran_then = {command.text for command in commands(failed.call.command)}  # and did not help
                between = [step for step in gone or since if step.text not in ran_then]
                return _proven(calls, failed, failure, turn, between, used, tried)
    return Trail(None, tried)


def _stopped_before(turn: Turn, place: int) -> bool:
    """Whether a line failed before it came to the command at that place."""
    if not turn.failed or not place or turn.result is None:
        return False
    return any(colour == "red" for _, colour in ends(turn.call.command, turn.output, turn.result.outcome)[:place])


def _matches(wanted: Sequence[Command], found: Sequence[Command], failed: Turn) -> dict[int, int]:
    """Which of the wanted commands stand where in a line."""
    matched: dict[int, int] = {}
    for number, command in enumerate(wanted):
        for place, other in enumerate(found):
            if tools.same(command, other, failed.output):
                matched[number] = place
    return matched


def _outcome(turn: Turn, tries: Sequence[Command], failure: Occurrence) -> Verdict:
    judged = {verdict(turn, command, failure) for command in tries}
    return next(one for one in _WORST_FIRST if one in judged)


def _tried(failure: Occurrence, failed: Turn, between: list[Done], used: tuple[Command, Command]) -> list[Tried]:
    """What did not help: the steps that a fix would have told, or the other call."""
    linked = [step for step in between if _cause(step, failure, failed.output)]
    if not linked and len({step.subject for step in between}) == 1:
        linked = between[:1]
    steps = tuple(dict.fromkeys(step.step(failure) for step in linked))[-MAX_STEPS:]
    before, after = used
    otherwise = before.targets == after.targets and tools.difference(before, after, moved=False)
    other = _told(after.text, failure) if not steps and otherwise else ""
    if not steps and not other:
        return []
    return [Tried(fingerprint=failure.fingerprint, steps=steps, tried_as=other, call_index=failure.call_index)]


def _proven(
    calls: list[Turn],
    failed: Turn,
    failure: Occurrence,
    success: Turn,
    between: list[Done],
    used: tuple[Command, Command],
    tried: list[Tried],
) -> Trail:
    before, after = used
    in_vain = [step for one in tried for step in one.steps or (Step("run", one.tried_as),)]
    told: dict[Step, tuple[Done, str]] = {}
    other_call = after.text if _evades(before, after) else ""
    if not other_call:
        causes = [(step, _cause(step, failure, failed.output)) for step in between]
        told = {step.step(failure): (step, why) for step, why in causes if why and step.step(failure) not in in_vain}
    cause = next((why for _, why in reversed(told.values())), "")
    if not told and not other_call:
        other_call = _other_call(failed, success, before, after)
        cause = _cause_of_call(before, after, clean(failed.output)) if other_call else ""
    steps = tuple(told)[-MAX_STEPS:]
    if cause != HINTED and not tools.changes_something(failed.call.command):
        return Trail(None, tried)  # to look at what is not there is ordinary work
    if not steps and not other_call:
        steps = _coincidence(calls[failed.position + 1 : success.position], between, failure, before, after)
        if not steps or steps[0] in in_vain:
            return Trail(None, tried)
    avoid = [step for step in dict.fromkeys(in_vain) if provenance.may_be_shown(step.what)]
    fix = _fix(
        failure,
        steps,
        _told(other_call, failure) if other_call else "",
        success,
        after,
        cause=cause,
        # What did not help is shown, too: nothing that a person should see first.
        avoid=tuple(avoid[:MAX_STEPS]),
    )
    ran = [step.text for step, _ in told.values() if step.action == "run"] + [other_call] * bool(other_call)
    ran += [step.what for step in steps if not told and step.action == "run"]
    written = [(step.subject, step.text) for step, _ in told.values() if step.action == "edit"]
    return Trail(fix, tried, Taken(ran, written, success.position, failed))


def _cause_of_call(before: Command, after: Command, output: str) -> str:
    """What another call has to do with the error: a variable that it names, a wrapper that brings what was missing."""
    new = [setting for setting in after.settings if setting not in before.settings]
    words = [*(setting.partition("=")[0] for setting in new), *sorted(after.options - before.options)]
    if (
        after.folder != before.folder
        and len(after.folder) >= _MIN_FOLDER_CHARACTERS
        and _says(output.lower(), _NO_FILE)
    ):
        words.append(after.folder)
    named = [name for name in words if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", output)]
    if _EXCLUDE_EACH_OTHER.search(output):
        gone = sorted(before.options - after.options)
        named += [name for name in gone if re.search(rf"(?<![\w-]){re.escape(name.lstrip('-'))}(?![\w-])", output)]
    if named:
        return f"the error names {named[0]}"
    return "it is called with what was missing" if new and _says(output.lower(), _MISSING) else ""


def _coincidence(
    turns: list[Turn], between: list[Done], failure: Occurrence, before: Command, after: Command
) -> tuple[Step, ...]:
    """The only step there is, or none at all: of use when another session tells the same."""
    if any(turn.call.action == "edit" and not turn.failed for turn in turns) or len(turns) >= _MAX_CALLS_FOR_LONE_STEP:
        return ()  # the code is another one
    if not between:
        same = before.text == after.text and before.through == after.through and before.folder == after.folder
        idle = all(turn.call.action != "run" or not tools.changes_something(turn.call.command) for turn in turns)
        goes_away = _is_in_use(failure) or not (tools.checks(before) or _stays(failure))
        return (AGAIN,) if same and idle and goes_away else ()
    alone = len({step.subject for step in between}) == 1 and between[0].command is not None
    staged = between[0].text.startswith(("git add", "git stage", "git commit"))
    return (between[0].step(failure),) if alone and not staged else ()


def _stays(failure: Occurrence) -> bool:
    """What does not go away by itself: a wrong call, a mistake in the code, something that is not there."""
    stays = failure.family in ("usage", "npm", *CODE_FAMILIES)
    return stays or _ELSEWHERE.search(f"{failure.excerpt}\n{failure.signature}") is not None


def _evades(before: Command, after: Command) -> bool:
    """Whether the call worked because a check was left out, whatever else was done in between."""
    return bool(tools.danger(after.text)) and not tools.danger(before.text)


def _other_call(failed: Turn, success: Turn, before: Command, after: Command) -> str:
    """The call that succeeded, if it was another one for the same thing and that made the difference."""
    if success.position - failed.position > _MAX_CALLS_UNTIL_RETRY or before.targets != after.targets:
        return ""
    moved = _ELSEWHERE.search(failed.output) is not None
    if tools.only_shows(before, after) or not tools.difference(before, after, moved=moved):
        return ""
    return f"cd {after.folder} && {after.text}" if moved and after.folder != before.folder else after.text


def _fix(
    failure: Occurrence,
    steps: tuple[Step, ...],
    succeeded_as: str,
    success: Turn,
    passing: Command,
    *,
    cause: str,
    avoid: tuple[Step, ...] = (),
) -> Fix:
    return Fix(
        occurrence=failure,
        steps=steps,
        succeeded_as=succeeded_as,
        succeeded_at=success.position,
        passing=cut_short(" ".join(success.call.command.split()) or passing.text, _MAX_PASSING_CHARACTERS),
        passing_message=success.message_index,
        avoid=avoid,
        cause=cause,
    )
