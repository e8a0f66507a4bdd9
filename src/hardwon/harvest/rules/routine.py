"""The commands by which a project is built, checked, tested, run and released, in a form that sessions share."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from hardwon.failures import tools
from hardwon.failures.shell import Command, commands
from hardwon.failures.tools import danger
from hardwon.harvest.rules import lazily

Aim = Literal["build", "check", "test", "run", "release"]

_LIKELY = lazily.pattern(
    r"\b(?:test|tests|build|lint|check|pytest|tsc|make|just|deploy|release|compose|fmt|vet|mypy|ruff|tox|nox|gradle|"
    r"gradlew|mvn|mvnw|cargo|npm|pnpm|yarn|bun|golangci-lint|jest|vitest|eslint|goreleaser|serve|start|dev|"
    r"publish|gofmt|bazel)\b"
)
_AIMS: tuple[tuple[Aim, re.Pattern[str]], ...] = (
    ("release", lazily.pattern(r"\b(?:deploy|release|publish|goreleaser)\b")),
    ("run", lazily.pattern(r"\b(?:start|dev|serve|compose up|go run|cargo run)\b")),
    ("build", lazily.pattern(r"\b(?:build|compile|package|bundle)\b")),
    (
        "check",
        lazily.pattern(
            r"\b(?:lint|fmt|format|vet|mypy|pyright|ruff|tsc|eslint|biome|clippy|check|type-?check|staticcheck|gofmt|"
            r"black|isort|prettier|golangci-lint)\b"
        ),
    ),
)
_UNUSUAL = lazily.pattern(r"[\"'$`<>*~\\=]|://|\{|^\.\.|/(?:Users|home|tmp|var|opt|usr|work|workspace|srv)/")
_OF_THE_MOMENT = frozenset(
    "-run -k --grep -t --filter --testNamePattern -m --bench --example --version --help -h".split()
)
_VOLATILE = frozenset(
    "-v -vv -q -s -x --verbose --quiet --no-color --color=never -count=1 --tb=short --tb=line --no-header "
    "--silent".split()
)
_EVERYTHING = frozenset((".", "./...", "./", "..."))
_FILE = lazily.pattern(r"\.\w{1,5}$|/")
_LONGEST = 80


_SETTING = lazily.pattern(r"^(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>[\w./:,@%+-]{1,40})$")
_PRIVATE = lazily.pattern(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL")
_ONLY_FOR_SHOW = frozenset(
    "CI NO_COLOR FORCE_COLOR CLICOLOR TERM PAGER GIT_PAGER RUST_BACKTRACE RUST_LOG DEBUG VERBOSE COLUMNS LINES "
    "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED NODE_NO_WARNINGS LC_ALL LANG".split()
)


class Routine(NamedTuple):
    aim: Aim
    text: str
    folder: str = ""
    """Where the line went before it ran this."""


def routines(line: str) -> list[Routine]:
    """What a line does of these, in order; nothing of it if its exit code may be another command's."""
    return list(_routines(line)) if _LIKELY.search(line) else []


@lru_cache(maxsize=2048)
def _routines(line: str) -> tuple[Routine, ...]:
    found = commands(line)
    if any(command.masked for command in found):
        return ()
    return tuple(routine for command in found if (routine := _routine(command)) is not None)


def _routine(command: Command) -> Routine | None:
    aim = _aim(command)
    settings, text = _with_settings(_shared_form(command))
    if aim is None or not text or len(text) > _LONGEST or _UNUSUAL.search(text) or danger(text) or settings is None:
        return None
    if command.inline or command.options & _OF_THE_MOMENT or any(map(_one_file, text.split()[1:])):
        return None
    return Routine(aim, f"{settings}{text}", command.folder.rstrip("/"))


def _aim(command: Command) -> Aim | None:
    if tools.looks(command) or (tools.provides(command) and not _script(command)):
        return None
    if tools.tests(command):
        return "test"
    wanted = f"{command.program} {command.subcommand}"
    aim = next((aim for aim, pattern in _AIMS if pattern.search(wanted)), None)
    return aim if tools.checks(command) or _script(command) or aim in ("run", "release") else None


def _script(command: Command) -> bool:
    return command.program in ("make", "just") or command.subcommand.startswith(("run ", "compose "))


def _with_settings(text: str) -> tuple[str | None, str]:
    """The variables that a command is given, without those that only change how it prints; None for a private one."""
    words = text.split()
    kept = []
    while words and (setting := _SETTING.match(words[0])):
        if _PRIVATE.search(setting["name"]):
            return None, text
        if setting["name"] not in _ONLY_FOR_SHOW:
            kept.append(words[0])
        words.pop(0)
    return "".join(f"{word} " for word in kept), " ".join(words)


def _one_file(word: str) -> bool:
    return bool(_FILE.search(word)) and word not in _EVERYTHING and not word.startswith("-")


def _shared_form(command: Command) -> str:
    """Without what changes from call to call: options for more or less output, and `.` for all there is."""
    words = [word for word in command.text.split() if word not in _VOLATILE]
    if words[:2] == ["go", "build"] and words[-1] in _EVERYTHING and len(words) > 3:
        words.pop()
    return " ".join(words)
