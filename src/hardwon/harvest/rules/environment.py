"""Facts about the machine that a command verified: versions and aliases.

The sentence is built from the command's own words, a number and names of a fixed shape; nothing else of the
output reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.failures.shell import Command, commands
from hardwon.failures.turns import Turn
from hardwon.harvest.rules.lesson_rule import Rule, lazy_pattern
from hardwon.model.lesson import Draft, Source

RULES = (Rule("verified-by-command", 2, ("fact",), "versions and aliases, as a command showed them"),)
# Of the others hardly anything depends on which version it is.
_PROGRAMS = frozenset(
    "python python3 node pnpm yarn bun deno go rustc cargo java javac mvn gradle ruby php gcc g++ clang cmake docker "
    "podman kubectl helm terraform uv poetry psql sqlite3 mysql redis-server postgres pytest ruff mypy tsc eslint "
    "golangci-lint goreleaser dotnet swift zig elixir ghc xcodebuild flutter dart hugo".split()
)
_ASKS_VERSION = lazy_pattern(r"^(?P<program>[\w.+-]+)\s+(?:--version|-V|version|-version|-v)$")
_VERSION = lazy_pattern(r"(?<![\d.])v?(?P<version>\d{1,4}\.\d{1,4}(?:\.\d{1,6})?)(?![\d.]*\d)")
_ASKS_WHERE = lazy_pattern(r"^(?:which|type|command -v)\s+(?P<program>[\w.+-]+)")
_ALIAS = lazy_pattern(
    r"^(?P<program>[\w.+-]{1,30})(?:: aliased to| is an alias for| is aliased to `)\s*(?P<target>[\w.+/-]{1,60})\b"
)
_CHARACTERS_OF_OUTPUT_READ = 400
_CONFIDENCE = 0.9


def drafts(calls: Sequence[Turn]) -> list[Draft]:
    return [draft for turn in calls if _asked(turn) for draft in _facts(turn)]


def _asked(turn: Turn) -> bool:
    return turn.succeeded and turn.call.action == "run" and len(turn.call.command) <= 200


def _facts(turn: Turn) -> Iterator[Draft]:
    line = turn.call.command
    if not any(word in line for word in ("ersion", "-V", "-v", "which", "type ")):
        return
    asked = [command for command in commands(line) if not command.settings]
    output = turn.output[:_CHARACTERS_OF_OUTPUT_READ]
    for command in asked:
        for text, quote in _answers(command, output, alone=len(asked) == 1):
            source = Source(message_index=turn.message_index, quote=quote, origin="tool")
            yield Draft(
                kind="fact", text=text, confidence=_CONFIDENCE, rule=RULES[0].name, measured=True, source=source
            )


def _answers(command: Command, output: str, *, alone: bool) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if (asks := _ASKS_VERSION.match(command.text)) and asks["program"] in _PROGRAMS:
        # In a line of several commands, only an answer that names its program is its own.
        own = [line for line in lines if alone or re.search(rf"\b{re.escape(asks['program'])}\b", line, re.IGNORECASE)]
        for line in own[:1]:
            if version := _VERSION.search(line):
                yield f"`{asks['program']}` is version {version['version']} on this machine.", line[:120]
    elif _ASKS_WHERE.match(command.text):
        for line in lines:
            alias = _ALIAS.match(line)
            if alias and alias["program"] in command.text.split() and f"{alias['program']}3" != alias["target"]:
                yield f"`{alias['program']}` is an alias of `{alias['target']}` in this shell.", line[:120]
