"""What was done between a failure and a success, and which of it mattered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hardwon.failures import commands, purpose
from hardwon.failures.shell import Command
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.turns import Turn
from hardwon.model.failure import Occurrence, Step
from hardwon.text.paths import base_name

MOST = 3
LONGEST = 160
_TAIL = 12_000
_SOON = 8
_SHORTEST_NAME = 4
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
        if self.action == "run":
            return Step("run", commands.brief(self.subject, LONGEST))
        return Step("edit", f"{self.subject}: {self.text}"[:LONGEST])

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
    return of_commands(turn.position, taken_apart(call.command)) if call.action == "run" else []


def of_commands(position: int, found: Iterable[Command]) -> list[Done]:
    """Without what only looks or checks, and without what was written for the moment."""
    kept: list[Done] = []
    for command in found:
        if command.writes and command.head:
            kept.append(Done(position, "edit", base_name(command.writes), command.head))
        elif not (command.inline or purpose.looks(command) or purpose.checks(command)):
            folder = command.folder if not command.folder.startswith(("/", "~")) else ""
            told = f"cd {folder} && {command.text}" if folder else command.text
            if not _TEMPORARY.search(told):
                kept.append(Done(position, "run", told, command.text, command))
    return kept


def that_matter(candidates: list[Done], failure: Occurrence, output: str, until: int) -> list[Done]:
    """The steps that the error names, by symbol, by file or by what was missing; else the only one there is."""
    about = f"{failure.excerpt}\n{output[-_TAIL:]}".lower()
    symbols = _symbols(failure)
    sharing = [step for step in candidates if _shared(step, symbols)]
    missing, module = _says(about, _MISSING), _says(about, _MISSING_MODULE)
    named = sharing or [step for step in candidates if _is_named(step, about, missing=missing, module=module)]
    if not named and not module:
        subjects = {step.subject for step in candidates}
        named = candidates if len(subjects) == 1 and until - failure.call_index <= _SOON else []
    if _in_the_dark(candidates, about):
        named = [step for step in named if step.command is not None and _is_called(step.command, about)]
    return _one_per_file([step for step in named if step.says_something], symbols)[-MOST:]


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
            (missing and purpose.provides(step.command))
            or _is_called(step.command, about)
            or any(len(name) > _SHORTEST_NAME and name in about for name in targets)
        )
    if missing and _MANIFEST.fullmatch(step.subject):
        return True
    if module:
        return False  # nothing that is written into the file that wants it brings it
    stem = step.subject.lower().partition(".")[0]
    return step.subject.lower() in about or (len(stem) > _SHORTEST_NAME and stem in about)


def _is_called(command: Command, about: str) -> bool:
    called = f"{command.program} {command.subcommand}".strip().lower()
    return len(called) > _SHORTEST_NAME and re.search(rf"(?<![\w-]){re.escape(called)}(?![\w-])", about) is not None


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
