"""What mended a failed call: what followed it, what of that mattered, and what was tried in vain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.failures import refusals, tools
from hardwon.failures.shell import Command, commands, elements, program_family
from hardwon.failures.turns import Turn, Verdict, ran_until_stopped, verdict
from hardwon.model.failure import OFFERED, Fix, Occurrence, Step, Tried
from hardwon.text.fence import unfenced
from hardwon.text.paths import base_name

# What was done between a failure and a success, and which of it mattered.

MAX_STEPS = 3
MAX_STEP_CHARACTERS = 160
_TAIL_CHARACTERS_SEARCHED = 12_000
_MAX_CALLS_FOR_LONE_STEP = 8
"""From a failure to its success, for the only step between them to count though the error does not name it."""
_MAX_IGNORED_NAME_CHARACTERS = 4
_TEMPORARY = re.compile(r"/tmp/|/var/folders/|\\Temp\\|\$TMPDIR|scratchpad|\bSCRATCH")  # noqa: S108
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{3,}")
_QUOTED = re.compile(r"['\"`‘“]{1,2}([^'\"`’”\n]{3,80})['\"`’”]")
_COMMON = frozenset(
    "error type string number module function test undefined object value name file path with from".split()
)
_MANIFEST = re.compile(
    r"(?:package|tsconfig\w*|deno|composer|knip|biome)\.json|pyproject\.toml|requirements[\w.-]*\.txt|go\.(?:mod|work)"
    r"|Cargo\.toml|Gemfile|\.env[\w.]*|Dockerfile|Makefile|.*\.config\.\w+|.*\.ya?ml|setup\.(?:py|cfg)|pom\.xml",
    re.IGNORECASE,
)
_MISSING_MODULE = ("cannot find module", "cannot find package", "no module named", "no required module provides")
_MISSING = (
    *_MISSING_MODULE,
    *("could not find", "could not resolve", "unable to find", "unable to resolve", "unable to locate", "not found"),
    *("no such file", "does not exist", "enoent", "not installed", "isn't installed", "refused", "permission denied"),
    *("eacces", "eaddrinuse", "already in use", "no required module", "missing", "not a git repository"),
    *("no changes added", "has no upstream", "not properly formatted", "would reformat", "uncommitted", "unstaged"),
    *("is not defined in", "out of date", "no space left"),
)


class Done(NamedTuple):
    """One edit or command that succeeded."""

    position: int
    action: str
    subject: str
    """The file's name, or the command."""
    text: str
    """The head of what was written; the command as it was."""
    command: Command | None = None

    @property
    def step(self) -> Step:
        """It as a fix tells it, cut to a length that can be shown."""
        if self.action == "run":
            return Step("run", tools.brief(self.subject, MAX_STEP_CHARACTERS))
        return Step("edit", f"{self.subject}: {self.text}"[:MAX_STEP_CHARACTERS])

    @property
    def says_something(self) -> bool:
        """An edit of which only the file is known says nothing that the error does not."""
        return self.action == "run" or bool(re.search(r"\w", self.text))


def done(turn: Turn) -> list[Done]:
    """What a call that succeeded changed."""
    call = turn.call
    if not turn.succeeded:
        return []
    if call.action == "edit" and call.target:
        return [Done(turn.position, "edit", base_name(call.target), " ".join(call.detail.split()))]
    return of_commands(turn.position, commands(call.command)) if call.action == "run" else []


def of_commands(position: int, found: Iterable[Command]) -> list[Done]:
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


def that_matter(candidates: list[Done], failure: Occurrence, output: str, until: int) -> list[Done]:
    """The steps that the error names, by symbol, by file or by what was missing; else the only one there is."""
    about = f"{failure.excerpt}\n{output[-_TAIL_CHARACTERS_SEARCHED:]}".lower()
    symbols = _symbols(failure)
    sharing = [step for step in candidates if _shared(step, symbols)]
    missing, module = _says(about, _MISSING), _says(about, _MISSING_MODULE)
    named = sharing or [step for step in candidates if _is_named(step, about, missing=missing, module=module)]
    if not named and not module:
        subjects = {step.subject for step in candidates}
        named = candidates if len(subjects) == 1 and until - failure.call_index <= _MAX_CALLS_FOR_LONE_STEP else []
    if _in_the_dark(candidates, about):
        named = [step for step in named if step.command is not None and _is_called(step.command, about)]
    return _one_per_file([step for step in named if step.says_something], symbols)[-MAX_STEPS:]


def _in_the_dark(candidates: list[Done], about: str) -> bool:
    """A file that the error names was edited, and the transcript does not say how."""
    known = {step.subject for step in candidates if step.says_something}
    return any(step.subject not in known and step.subject.lower() in about for step in candidates)


def _symbols(failure: Occurrence) -> set[str]:
    """The names that the error quotes: `'maintainAspectRatio'`."""
    quoted = " ".join(_QUOTED.findall(failure.excerpt.split("\n")[0] + "\n" + failure.signature))
    return {word.lower() for word in _IDENTIFIER.findall(quoted)} - _COMMON


def _says(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _is_named(step: Done, about: str, *, missing: bool, module: bool) -> bool:
    """By an error that says that something is missing, and maybe that it is a module."""
    if step.command is not None:
        targets = (base_name(word).lower() for word in step.command.targets)
        return (
            (missing and tools.provides(step.command))
            or _is_called(step.command, about)
            or any(len(name) > _MAX_IGNORED_NAME_CHARACTERS and name in about for name in targets)
        )
    if missing and _MANIFEST.fullmatch(step.subject):
        return True
    if module:
        return False  # nothing that is written into the file that wants it brings it
    stem = step.subject.lower().partition(".")[0]
    return step.subject.lower() in about or (len(stem) > _MAX_IGNORED_NAME_CHARACTERS and stem in about)


def _is_called(command: Command, about: str) -> bool:
    called = f"{command.program} {command.subcommand}".strip().lower()
    return (
        len(called) > _MAX_IGNORED_NAME_CHARACTERS
        and re.search(rf"(?<![\w-]){re.escape(called)}(?![\w-])", about) is not None
    )


def _shared(step: Done, symbols: set[str]) -> int:
    words = {word.lower() for word in _IDENTIFIER.findall(step.text)}
    return len(words & symbols)


def _one_per_file(named: list[Done], symbols: set[str]) -> list[Done]:
    """Of several edits of a file the one that shares most with the error, the first among equals."""
    best: dict[tuple[str, str], Done] = {}
    for step in named:
        key = (step.action, step.subject)
        if key not in best or _shared(step, symbols) > _shared(best[key], symbols):
            best[key] = step
    return sorted(best.values(), key=lambda step: step.position)


# A command that was called wrongly, or that is not there: the way to call it that worked right after.

_CALLS_LOOKED_AHEAD_FOR_REPLACEMENT = 6
_MAX_OPTIONS_DROPPED = 2
_MAX_USAGE_ERROR_CHARACTERS = 3_000
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
    if turn.call.action != "run" or len(turn.output) > _MAX_USAGE_ERROR_CHARACTERS:
        return None
    said = turn.output.lower()
    missing = _NOT_THERE.search(turn.output) if any(word in said for word in _NOT_THERE_SAYS) else None
    wrong = not missing and any(word in said for word in _CALLED_WRONGLY_SAYS) and _CALLED_WRONGLY.search(said)
    if not missing and not wrong:
        return None
    failed = _missing(turn, next(filter(None, missing.groups()))) if missing else _wrong(turn)
    if failed is None:
        return None
    for _, other in zip(range(_CALLS_LOOKED_AHEAD_FOR_REPLACEMENT), later, strict=False):
        if not other.succeeded or other.call.action != "run":
            continue
        for command in elements(other.call.command):
            if (missing and _there(failed, command)) or (wrong and _told_to_call_otherwise(failed, command)):
                return Replaced(command, other, _dropped(failed, command) if wrong else ())
    return None


def _dropped(failed: Command, by: Command) -> tuple[Step, ...]:
    dropped = sorted(failed.options - by.options - {"--"})
    return (Step("drop", " ".join(dropped)),) if 0 < len(dropped) <= _MAX_OPTIONS_DROPPED else ()


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


def _told_to_call_otherwise(failed: Command, later: Command) -> bool:
    if (later.program, later.subcommand) != (failed.program, failed.subcommand) or later.text == failed.text:
        return False
    if later.options == failed.options and later.targets == failed.targets:
        return False
    return not failed.targets or bool(failed.targets & later.targets)


# What a step brings in from elsewhere by a name that output gave, other than the error itself: `No module named
# 'reef'` names what is missing, and to install it is no proposal of anybody's. A hint below it that names another
# package is one, however it is worded.

_FETCHES = {
    program: frozenset(verbs.split())
    for programs, verbs in (
        ("pip pip3 pipx gem brew apt apt-get dnf yum conda mamba cargo", "install download"),
        ("uv poetry", "add install"),
        ("npm pnpm yarn bun", "install add i exec dlx"),
        ("go", "get install run"),
        ("docker podman", "run pull"),
        ("npx uvx bunx", ""),
    )
    for program in programs.split()
}
_VERSION = re.compile(r"(?<=\w)(?:[=<>~!^]=?|@).*")
_MIN_FETCHED_NAME_CHARACTERS = 3
_NAMED_AS_MISSING = (
    r"(?:no module named|(?:can'?t|cannot|could not|couldn't) (?:find|resolve)(?: \w+){{0,2}}|"
    r"no such (?:module|command)|command not found:|unresolved import|is not installed:)"
    r"[\s'\"`]+{name}|{name}['\"`]?:?(?: command)? not found"
)
"""How tools say that something is not there."""


def named_by(ran: Iterable[str], outputs: Iterable[str]) -> str:
    """The first thing fetched that output names, unless it names it as what is missing."""
    wanted = {name for line in ran for name in _fetched(line)}
    if not wanted:
        return ""
    lines = [line for output in outputs for line in output.splitlines()]
    for name in sorted(wanted):
        whole = re.compile(rf"(?<![\w@/.-]){re.escape(name)}(?![\w/-])", re.IGNORECASE)
        missing = re.compile(_NAMED_AS_MISSING.format(name=re.escape(name)), re.IGNORECASE)
        naming = [line for line in lines if whole.search(line)]
        if naming and not any(missing.search(line) for line in naming):
            return name
    return ""


def _fetched(line: str) -> set[str]:
    found: set[str] = set()
    for command in commands(line):
        verbs = _FETCHES.get(command.program)
        words = command.text.split()
        if verbs is None or (verbs and not verbs & set(words[1:3])):
            continue
        names = (_VERSION.sub("", word) for word in words[1:] if not word.startswith("-") and word not in verbs)
        found.update(
            name for name in names if len(name) >= _MIN_FETCHED_NAME_CHARACTERS and not name.startswith((".", "/"))
        )
    return found


# What followed a failure: how the same thing came to work, and what was tried before that did not help.

CALLS_LOOKED_AHEAD = 40
_MAX_CALLS_UNTIL_RETRY = 5
_MIN_PROPOSAL_CHARACTERS = 8
_WORST_FIRST: tuple[Verdict, ...] = ("again", "otherwise", "open", "passed")
_TEST_FILE = re.compile(r"(?:^test_|_test\.|\.test\.|\.spec\.|_spec\.|Tests?\.\w+$)")
_TEST_FAILED = re.compile(r"--- FAIL|^FAILED |\bAssert|\bassert|✕|●|\bfailing\b|expect\(", re.MULTILINE)
_TEST_FAILED_SAYS = ("--- FAIL", "FAILED ", "Assert", "assert", "✕", "●", "failing", "expect(")
_CODE_IS_WRONG = re.compile(
    r"(?:Name|Import|ModuleNotFound|Attribute|Syntax|Reference|Type)Error|undefined: |error TS\d"
)
_ELSEWHERE = re.compile(
    r"no such file|not found|enoent|(?:cannot|could not) find|does not exist|no module named|not a git repository"
    r"|no rule",
    re.IGNORECASE,
)


class Trail(NamedTuple):
    """What followed a failure: the fix, if it was mended, and what was tried before."""

    fix: Fix | None
    tried: list[Tried]


def follow(calls: list[Turn], at: int, failure: Occurrence) -> Trail:
    """What followed the failed call at this place: the fix that was proven, if any, and what was tried in vain."""
    failed = calls[at]
    later = calls[at + 1 : at + 1 + CALLS_LOOKED_AHEAD]
    if refusals.refused(failed):
        mended = refusals.mended(failed, later)
        return Trail(_fix(failure, mended.steps, "", mended.success) if mended else None, [])
    if (swap := replaced(failed, later)) is not None:
        used = tools.brief(swap.by.text, MAX_STEP_CHARACTERS)
        untrusted = _untrusted([swap.by.text], [], calls[: swap.success.position])
        return Trail(_fix(failure, swap.steps, used, swap.success, untrusted=untrusted), [])
    if failed.call.action != "run" or not _mendable(calls, at, failure):
        return Trail(None, [])
    return _retried(calls, at, failure, later)


def _mendable(calls: list[Turn], at: int, failure: Occurrence) -> bool:
    """Looking at what is not there, a merge conflict, a test that is being written are ordinary work."""
    if failure.error_type == "conflict" or not tools.changes_something(calls[at].call.command):
        return False
    return not ran_until_stopped(calls[at]) and not _in_the_making(calls[:at], calls[at])


def _in_the_making(before: list[Turn], failed: Turn) -> bool:
    """A test that was written or changed in this session and has not passed since: it is meant to fail."""
    output = failed.output
    if (
        not any(sign in output for sign in _TEST_FAILED_SAYS)
        or not _TEST_FAILED.search(output)
        or _CODE_IS_WRONG.search(output)
    ):
        return False
    wanted = tools.doing(failed.call.command)
    for turn in reversed(before):
        call = turn.call
        if call.action == "edit" and _TEST_FILE.search(name := base_name(call.target)) and name in output:
            return True
        if turn.succeeded and call.action == "run" and not _unmatched(wanted, commands(call.command), ""):
            return False
    return False


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
        matched = _matches(wanted, found, failed, turn)
        if not matched:
            since += done(turn)
            continue
        before = of_commands(turn.position, found[: min(matched.values())])
        outcome = _outcome(turn, [found[place] for place in matched.values()], failure)
        if outcome == "again":
            used = (wanted[max(matched)], found[matched[max(matched)]])
            tried += _tried(failure, failed, [*(gone or []), *since, *before], used, turn.position)
            since, gone, open_still = [], None, set(range(len(wanted)))
        elif outcome == "otherwise":
            if gone is None and len(matched) == len(wanted):
                gone, since = [*since, *before], []
        elif outcome == "passed":
            since += before
            open_still -= set(matched)
            if not open_still:
                used = (wanted[-1], found[matched[max(matched)]])
                return Trail(_proven(calls, failed, failure, turn, since, gone, used, tried), tried)
    return Trail(None, tried)


def _matches(wanted: Sequence[Command], found: Sequence[Command], failed: Turn, turn: Turn) -> dict[int, int]:
    """Which of the wanted commands stand where in a line."""
    matched: dict[int, int] = {}
    for number, command in enumerate(wanted):
        for place, other in enumerate(found):
            if not tools.same(command, other, failed.output):
                continue
            far = turn.position - failed.position > _MAX_CALLS_UNTIL_RETRY and not tools.checks(command)
            if not (far and command.targets != other.targets):
                matched[number] = place
    return matched


def _unmatched(wanted: Sequence[Command], found: Sequence[Command], output: str) -> Sequence[Command]:
    return [command for command in wanted if not any(tools.same(command, other, output) for other in found)]


def _outcome(turn: Turn, tries: Sequence[Command], failure: Occurrence) -> Verdict:
    judged = {verdict(turn, command, failure) for command in tries}
    return next(one for one in _WORST_FIRST if one in judged)


def _tried(failure: Occurrence, failed: Turn, done: list[Done], used: tuple[Command, Command], at: int) -> list[Tried]:
    """What did not help: the steps that a fix would have told, or the other call."""
    steps = tuple(step.step for step in that_matter(done, failure, failed.output, at))
    other = "" if steps or not _called_otherwise(*used) else tools.brief(used[1].text, MAX_STEP_CHARACTERS)
    if not steps and not other:
        return []
    return [Tried(fingerprint=failure.fingerprint, steps=steps, tried_as=other, call_index=failure.call_index)]


def _called_otherwise(before: Command, after: Command) -> bool:
    """Another way to call the same thing, not the same thing for something else."""
    return before.targets == after.targets and tools.difference(before, after, moved=False)


def _proven(
    calls: list[Turn],
    failed: Turn,
    failure: Occurrence,
    success: Turn,
    since: list[Done],
    gone: list[Done] | None,
    used: tuple[Command, Command],
    tried: list[Tried],
) -> Fix | None:
    in_vain = [step for one in tried for step in one.steps or (Step("run", one.tried_as),)]
    helped = that_matter(gone if gone is not None else since, failure, failed.output, success.position)
    if gone == []:
        helped = that_matter(since, failure, failed.output, success.position)
    helped = [step for step in helped if step.step not in in_vain and not _only_stages(step, used[0])]
    if _evades(*used):
        helped = []
    other_call = used[1].text if _evades(*used) else _other_call(failed, success, used, told=bool(helped))
    if not helped and not other_call:
        return None  # the same call simply worked the next time
    ran = [step.text for step in helped if step.action == "run"] + [other_call] * bool(other_call)
    written = [step.text for step in helped if step.action == "edit"]
    # What did not help is shown, too: nothing that a person should see first.
    avoid = [step for step in dict.fromkeys(in_vain) if not tools.danger(step.what)]
    return _fix(
        failure,
        tuple(dict.fromkeys(step.step for step in helped)),
        tools.brief(other_call, MAX_STEP_CHARACTERS),
        success,
        avoid=tuple(avoid[:MAX_STEPS]),
        untrusted=_untrusted(ran, written, calls[: success.position]),
    )


def _only_stages(step: Done, failed: Command) -> bool:
    """Putting files into git's index mends nothing but what git does."""
    return failed.program != "git" and step.text.startswith(("git add", "git stage"))


def _evades(before: Command, after: Command) -> bool:
    """Whether the call worked because a check was left out, whatever else was done in between."""
    return bool(tools.danger(after.text)) and not tools.danger(before.text)


def _other_call(failed: Turn, success: Turn, used: tuple[Command, Command], *, told: bool) -> str:
    """The call that succeeded, if it was another one and that made the difference."""
    before, after = used
    if told:
        return after.text if before.settings != after.settings else ""
    if success.position - failed.position > _MAX_CALLS_UNTIL_RETRY or before.subcommand != after.subcommand:
        return ""
    if tools.checks(before) and (before.targets != after.targets or _TEST_FAILED.search(failed.output)):
        return ""  # it ran something else, or it is flaky
    moved = _ELSEWHERE.search(failed.output) is not None
    if not tools.difference(before, after, moved=moved):
        return ""
    return f"cd {after.folder} && {after.text}" if moved and after.folder != before.folder else after.text


def _fix(
    failure: Occurrence,
    steps: tuple[Step, ...],
    succeeded_as: str,
    success: Turn,
    *,
    avoid: tuple[Step, ...] = (),
    untrusted: str = "",
) -> Fix:
    return Fix(
        occurrence=failure,
        steps=steps,
        succeeded_as=succeeded_as,
        succeeded_at=success.position,
        avoid=avoid,
        untrusted=untrusted,
    )


def _untrusted(ran: list[str], written: list[str], before: list[Turn]) -> str:
    for text in ran + written:
        if why := tools.danger(text):
            return why
    offered = ""
    for command in ran:
        bare = " ".join(command.split())
        if len(bare) < _MIN_PROPOSAL_CHARACTERS:
            continue
        holding = [turn.output for turn in before if bare in " ".join(turn.output.split())]
        if any(bare in " ".join(unfenced(output).split()) for output in holding):
            return "proposed by tool output"
        offered = offered or (OFFERED if holding else "")
    if not offered and named_by(ran, (unfenced(turn.output) for turn in before)):
        return "fetches what tool output named"
    return offered
