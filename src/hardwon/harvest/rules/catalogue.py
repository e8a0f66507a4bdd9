"""Every rule, and what they find together; first what calls show of a project."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hardwon.failures.shell import Command, commands
from hardwon.failures.tools import danger, looks, tests
from hardwon.failures.turns import Turn
from hardwon.harvest.rules import Found, Rule, pitfalls, said
from hardwon.harvest.rules.sentences import Statement
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Session
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from hardwon.text.normalise import lazy_pattern

# What calls show of a project: files that change together, versions, aliases, and the ports that servers listen on.

_LATEST_SESSIONS_READ = 200
_CONFIDENCE = 0.55
"""Three sessions make it 0.71: implied by several data points."""


# Files that change together although they are of different kinds: code, and what describes or configures it.

COMPANION_RULES = (
    Rule("edited-together", 1, ("pattern",), "a document or schema that changes whenever a file of code does", "store"),
)
_FEWEST_SESSIONS_OF_A_PAIR = 3
_LEAST_SHARE_EDITED_TOGETHER = 0.75
_FILES_PER_SESSION = 15
"""A session that edits more changed everything."""
_PAIRS_TOLD = 3
_CHARACTERS_PER_PATH = 80
_FOLLOWS = lazy_pattern(
    r"\.(?:mdx?|rst|adoc|sql|proto|graphql|prisma|ya?ml|toml|json|snap|tmpl|env\.example)$", re.IGNORECASE
)
_FILES_OF_THE_MOMENT = lazy_pattern(
    r"(?:^|/)(?:plan|todo|notes?|scratch|tmp|temp|package(?:-lock)?|tsconfig)\b", re.IGNORECASE
)
_CODE = lazy_pattern(r"\.(?:py|go|rs|[cm]?[jt]sx?|java|kt|rb|php|cs|swift|c|h|cpp|hpp|cc|scala|ex|vue|svelte)$")


class _Edit(NamedTuple):
    session: str
    message_index: int
    root: str
    at: int


def companions_of_project(db: Database, project: str) -> list[Found]:
    edits = _edits(db, project)
    often = Counter(path for files in edits.values() for path in files)
    together: dict[tuple[str, str], list[_Edit]] = defaultdict(list)
    for files in edits.values():
        if len(files) > _FILES_PER_SESSION:
            continue
        followers = [path for path in files if _FOLLOWS.search(path) and not _FILES_OF_THE_MOMENT.search(path)]
        for code in (path for path in files if _CODE.search(path)):
            for follower in followers:
                together[code, follower].append(files[follower])
    chosen = [
        (code, follower, seen)
        for (code, follower), seen in together.items()
        if len(seen) >= _FEWEST_SESSIONS_OF_A_PAIR and len(seen) >= _LEAST_SHARE_EDITED_TOGETHER * often[code]
    ]
    chosen.sort(key=lambda one: (-len(one[2]), one[0], one[1]))
    return [_pair_found(*one) for one in chosen[:_PAIRS_TOLD]]


def _edits(db: Database, project: str) -> dict[str, dict[str, _Edit]]:
    """Root session → the files of the project that it edited, each with the first edit."""
    places = pitfalls.roots_of_project(db, project)
    rows = db.query(
        "SELECT c.session, c.message_index, s.root, s.started_at, c.subject FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? AND owner = 'own' "
        "ORDER BY started_at DESC, id LIMIT ?) "
        "AND c.action = 'edit' AND c.outcome = 'ok' ORDER BY s.started_at, c.session, c.position",
        (project, _LATEST_SESSIONS_READ),
    )
    edited: dict[str, dict[str, _Edit]] = defaultdict(dict)
    for session, index, root, at, subject in rows:
        path = pitfalls.within(subject, places)
        if path and len(path) <= _CHARACTERS_PER_PATH:
            edited[root].setdefault(path, _Edit(session, index, root, at))
    return edited


def _pair_found(code: str, follower: str, seen: list[_Edit]) -> Found:
    first = seen[0]
    draft = Draft(
        kind="pattern",
        text=f"A change to `{code}` goes with one to `{follower}`.",
        confidence=_CONFIDENCE,
        rule=COMPANION_RULES[0].name,
        measured=True,
        source=Source(message_index=first.message_index, quote=follower, origin="agent"),
    )
    cited = [Cited("", one.session, one.message_index, one.root, one.at, follower, "agent") for one in seen]
    return Found(draft, cited)


# Facts that a command verified: versions, aliases, and where a server listens.
# The sentence is built from the command's own words, a number and names of a fixed shape; nothing else of the
# output reaches it.

FACT_RULES = (Rule("verified-by-command", 3, ("fact",), "versions, aliases and ports, as a command showed them"),)
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
_SERVES = lazy_pattern(r"\b(?:dev|start|serve|server|runserver|uvicorn|gunicorn|flask|vite|preview|up)\b")
_LISTENS = lazy_pattern(
    r"\bhttps?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(?P<port>\d{2,5})\b|"
    r"\b(?:listening|running|started|serving)\b.{0,20}\bport:? (?P<other>\d{2,5})\b",
    re.IGNORECASE,
)
_WANTED = lazy_pattern(r"(?i)\b(?:make sure|ensure|should|must|is not|isn't|if|unless|expects?)\b")
"""What says where something ought to listen."""
_CHARACTERS_PER_COMMAND = 60
_ELSEWHERE_IN_A_COMMAND = lazy_pattern(r"(?:^|\s)[/~$]|[\"'`<>|]")
_CHARACTERS_OF_OUTPUT_READ = 400
_CONFIDENCE_OF_A_VERIFIED_FACT = 0.9


def drafts(calls: Sequence[Turn]) -> list[Draft]:
    """What a session's commands verified."""
    return [draft for turn in calls if _asked(turn) for draft in _facts(turn)]


def _asked(turn: Turn) -> bool:
    return turn.succeeded and turn.call.action == "run" and len(turn.call.command) <= 200


def _facts(turn: Turn) -> Iterator[Draft]:
    line = turn.call.command
    if (port := _port(turn)) is not None:
        yield port
    if not any(word in line for word in ("ersion", "-V", "-v", "which", "type ")):
        return
    asked = [command for command in commands(line) if not command.settings]
    output = turn.output[:_CHARACTERS_OF_OUTPUT_READ]
    for command in asked:
        shows_more = any(looks(one) and not _ASKS_VERSION.match(one.text) for one in asked if one is not command)
        for text, quote in _answers(command, output, alone=len(asked) == 1, shows_more=shows_more):
            source = Source(message_index=turn.message_index, quote=quote, origin="tool")
            yield Draft(
                kind="fact",
                text=text,
                confidence=_CONFIDENCE_OF_A_VERIFIED_FACT,
                rule=FACT_RULES[0].name,
                measured=True,
                source=source,
            )


def _port(turn: Turn) -> Draft | None:
    """Where the server listens that a call of one plain command started."""
    found = commands(turn.call.command)
    if len(found) != 1 or not _SERVES.search(found[0].text) or len(found[0].text) > _CHARACTERS_PER_COMMAND:
        return None
    listens = _LISTENS.search(turn.output[: 10 * _CHARACTERS_OF_OUTPUT_READ])
    if listens is None or danger(found[0].text) or _ELSEWHERE_IN_A_COMMAND.search(found[0].text):
        return None
    start = turn.output.rfind("\n", 0, listens.start()) + 1
    if tests(found[0]) or _WANTED.search(turn.output[start : listens.end()]):
        return None
    return Draft(
        kind="fact",
        text=f"`{found[0].text}` listens on port {listens['port'] or listens['other']}.",
        confidence=_CONFIDENCE_OF_A_VERIFIED_FACT,
        rule=FACT_RULES[0].name,
        measured=True,
        source=Source(message_index=turn.message_index, quote=listens[0], origin="tool"),
    )


def _answers(command: Command, output: str, *, alone: bool, shows_more: bool) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if (asks := _ASKS_VERSION.match(command.text)) and asks["program"] in _PROGRAMS:
        # In a line of several commands, only an answer that names its program is its own.
        own = [line for line in lines if alone or re.search(rf"\b{re.escape(asks['program'])}\b", line, re.IGNORECASE)]
        if shows_more:  # a file of the project may name the program, too
            own = [line for line in own if "version" in line.lower()]
        for line in own[:1]:
            if version := _VERSION.search(line):
                yield f"`{asks['program']}` is version {version['version']} on this machine.", line[:120]
    elif _ASKS_WHERE.match(command.text):
        for line in lines:
            alias = _ALIAS.match(line)
            if alias and alias["program"] in command.text.split() and f"{alias['program']}3" != alias["target"]:
                yield f"`{alias['program']}` is an alias of `{alias['target']}` in this shell.", line[:120]


RULES: tuple[Rule, ...] = (
    *said.RULES,
    *said.CLAIM_RULES,
    *pitfalls.PITFALL_RULES,
    pitfalls.LARGE_FILE_RULE,
    *COMPANION_RULES,
    *FACT_RULES,
)
OVER_STORE = frozenset(rule.name for rule in RULES if rule.over == "store")
_OF_RULES_THAT_ARE_GONE = 46
VERSION = _OF_RULES_THAT_ARE_GONE + sum(rule.version for rule in RULES)
"""Rises whenever a rule's version does or a rule is added, and never falls."""


def of_session(session: Session, typed: Sequence[Statement], calls: Sequence[Turn]) -> list[Draft]:
    """What one session says by itself."""
    once: dict[tuple[int, str], Draft] = {}
    for draft in (*said.drafts(typed), *said.users_language(session, typed), *said.claims(session), *drafts(calls)):
        place = (draft.source.message_index, draft.source.quote if not draft.measured else draft.text)
        if place not in once or once[place].dropped:
            once[place] = draft  # one rule speaks for a sentence
    return list(once.values())


def of_project(db: Database, project: str) -> list[Found]:
    """What the sessions of a project say together."""
    return [
        *said.said_again(db, project),
        *pitfalls.pitfalls_of_project(db, project),
        *companions_of_project(db, project),
        *pitfalls.large_files_of_project(db, project),
    ]
