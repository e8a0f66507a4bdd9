"""How a project is built, checked, tested, run and released, and which files change together in it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from hardwon.failures import tools
from hardwon.failures.shell import Command, commands
from hardwon.failures.tools import danger
from hardwon.failures.turns import Turn
from hardwon.harvest.rules.lesson_rule import Found, Rule
from hardwon.model.lesson import Draft, Source
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from hardwon.text.lazy_pattern import lazy_pattern
from hardwon.text.paths import tilde

Aim = Literal["build", "check", "test", "run", "release"]

_LIKELY = lazy_pattern(
    r"\b(?:test|tests|build|lint|check|pytest|tsc|make|just|deploy|release|compose|fmt|vet|mypy|ruff|tox|nox|gradle|"
    r"gradlew|mvn|mvnw|cargo|npm|pnpm|yarn|bun|golangci-lint|jest|vitest|eslint|goreleaser|serve|start|dev|"
    r"publish|gofmt|bazel)\b"
)
_AIMS: tuple[tuple[Aim, re.Pattern[str]], ...] = (
    ("release", lazy_pattern(r"\b(?:deploy|release|publish|goreleaser)\b")),
    ("run", lazy_pattern(r"\b(?:start|dev|serve|compose up|go run|cargo run)\b")),
    ("build", lazy_pattern(r"\b(?:build|compile|package|bundle)\b")),
    (
        "check",
        lazy_pattern(
            r"\b(?:lint|fmt|format|vet|mypy|pyright|ruff|tsc|eslint|biome|clippy|check|type-?check|staticcheck|gofmt|"
            r"black|isort|prettier|golangci-lint)\b"
        ),
    ),
)
_UNUSUAL = lazy_pattern(r"[\"'$`<>*~\\=]|://|\{|^\.\.|/(?:Users|home|tmp|var|opt|usr|work|workspace|srv)/")
_OF_THE_MOMENT = frozenset(
    "-run -k --grep -t --filter --testNamePattern -m --bench --example --version --help -h".split()
)
_VOLATILE = frozenset(
    "-v -vv -q -s -x --verbose --quiet --no-color --color=never -count=1 --tb=short --tb=line --no-header "
    "--silent".split()
)
_EVERYTHING = frozenset((".", "./...", "./", "..."))
_FILE = lazy_pattern(r"\.\w{1,5}$|/")
_CHARACTERS_PER_COMMAND = 80


_SETTING = lazy_pattern(r"^(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>[\w./:,@%+-]{1,40})$")
_PRIVATE = lazy_pattern(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL")
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
    if aim is None or settings is None or not text or len(text) > _CHARACTERS_PER_COMMAND:
        return None
    if _UNUSUAL.search(text) or danger(text):
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


# A path as a project's sessions share it: from the project's root on.

_ELSEWHERE = re.compile(r"^[/~$]|^\.\.|^[A-Za-z]:|[*?\"'`$<>{}\n]")


def roots(db: Database, project: str) -> list[str]:
    """Where a project lies, the longest path first; on one machine or several."""
    return sorted((tilde(root).rstrip("/") for root in lessons.roots_of(db, project)), key=len, reverse=True)


def within(path: str, roots: Sequence[str]) -> str | None:
    """The path below a root, empty for the root itself; None when it lies elsewhere or cannot be told."""
    flat = path.strip("\"'").rstrip("/")
    for root in roots:
        if flat.casefold() == root.casefold():
            return ""
        if flat.casefold().startswith(f"{root.casefold()}/"):
            flat = flat[len(root) + 1 :]
            break
    flat = flat.removeprefix("./")
    return None if _ELSEWHERE.search(flat) else "" if flat == "." else flat


# How a project is built, checked, tested, run and released: commands that recur in its sessions and succeed.

ROUTINE_RULES = (
    Rule("recurring-command", 2, ("pattern",), "the command that builds, checks, tests, runs or releases", "store"),
    Rule("recurring-sequence", 1, ("pattern",), "commands that follow each other in several sessions", "store"),
)
FEWEST_SESSIONS_OF_A_ROUTINE = 3
_LEAST_SHARE_OF_SESSIONS = 0.1
_LATEST_SESSIONS_READ = 200
_COMMANDS_TOLD = 5
_COMMANDS_PER_AIM = 2
_SEQUENCES_TOLD = 2
_COMMANDS_PER_SEQUENCE = 4
_CONFIDENCE = 0.55
"""Three sessions make it 0.71: implied by several data points."""
_KNOWN_TO_ALL = frozenset(
    "go test ./...|go build ./...|go build|go vet ./...|go test|go run .|pytest|python -m pytest|"
    "python3 -m pytest|npm test|"
    "npm run build|npm run test|npm run lint|npm start|npm run dev|npm run start|cargo test|cargo build|"
    "cargo check|cargo run|"
    "cargo clippy|make|make test|make build|make lint|npx tsc --noEmit|tsc --noEmit|tsc|npx tsc|mvn test|gradle build|"
    "gradle test|yarn test|yarn build|pnpm test|pnpm build|bun test|ruff check .|ruff check|mypy .|gofmt -l .|"
    "ruff format .|"
    "npx eslint .|cargo fmt|go fmt ./...".split("|")
)
_SAYS = {
    "build": "This project is built with",
    "check": "This project is checked with",
    "test": "This project is tested with",
    "run": "This project is run with",
    "release": "This project is released with",
}


class _Step(NamedTuple):
    routine: Routine
    session: str
    root: str
    message_index: int
    at: int
    suggested: bool


def routines_of_project(db: Database, project: str) -> list[Found]:
    runs = list(_runs(db, project))
    roots = {step.root for run in runs for step in run}
    enough = max(FEWEST_SESSIONS_OF_A_ROUTINE, round(_LEAST_SHARE_OF_SESSIONS * len(roots)))
    sequences = _sequences(runs, enough)
    told = {text for texts, _ in sequences for text in texts}
    return [_sequence(texts, steps) for texts, steps in sequences] + _commands(runs, enough, told)


def _runs(db: Database, project: str) -> Iterator[list[_Step]]:
    """Stretches of successful commands of a session, with no edit, failure or other command in between."""
    places = roots(db, project)
    rows = db.query(
        "SELECT c.session, s.root, c.message_index, s.started_at, c.action, c.subject, c.outcome, c.suggested "
        "FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? AND owner = 'own' "
        "ORDER BY started_at DESC, id LIMIT ?) AND c.action IN ('run', 'edit') "
        "ORDER BY s.started_at, c.session, c.position",
        (project, _LATEST_SESSIONS_READ),
    )
    run: list[_Step] = []
    before = ""
    for session, root, index, at, action, subject, outcome, suggested in rows:
        done = routines(subject) if action == "run" and outcome == "ok" else []
        steps = [placed for step in done if (placed := _placed(step, places)) is not None]
        if session != before or not steps:
            if run:
                yield run
            run, before = [], session
        run += [_Step(step, session, root, index, at, bool(suggested)) for step in steps]
    if run:
        yield run


def _placed(routine: Routine, places: list[str]) -> Routine | None:
    """None for what was run outside the project."""
    folder = within(routine.folder, places) if routine.folder else ""
    return None if folder is None else routine._replace(folder=folder)


def _sequences(runs: list[list[_Step]], enough: int) -> list[tuple[tuple[str, ...], list[_Step]]]:
    """The sequences that most sessions share; one that is part of another, or mixes it, is left out."""
    seen: dict[frozenset[str], dict[str, _Step]] = defaultdict(dict)
    orders: dict[frozenset[str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for run in runs:
        texts = [step.routine.text for step in run]
        kept = [0, *(at for at in range(1, len(run)) if texts[at] != texts[at - 1])]
        for length in range(2, _COMMANDS_PER_SEQUENCE + 1):
            for start in range(len(kept) - length + 1):
                part = tuple(texts[at] for at in kept[start : start + length])
                if len(set(part)) == length:
                    step = run[kept[start]]
                    seen[frozenset(part)].setdefault(step.root, step)
                    orders[frozenset(part)][part] += 1
    chosen: list[tuple[tuple[str, ...], list[_Step]]] = []
    rank = sorted(seen, key=lambda part: (-len(seen[part]) * (len(part) - 1), sorted(part)))
    for members in rank:
        if len(seen[members]) < enough or members <= _KNOWN_TO_ALL or any(members & set(texts) for texts, _ in chosen):
            continue
        order = min(orders[members].items(), key=lambda entry: (-entry[1], entry[0]))[0]
        chosen.append((order, list(seen[members].values())))
        if len(chosen) == _SEQUENCES_TOLD:
            break
    return chosen


def _commands(runs: list[list[_Step]], enough: int, told: set[str]) -> list[Found]:
    seen: dict[Routine, dict[str, _Step]] = defaultdict(dict)
    for run in runs:
        for step in run:
            seen[step.routine].setdefault(step.root, step)
    best: dict[str, list[Routine]] = defaultdict(list)
    for routine in sorted(seen, key=lambda one: (-len(seen[one]), one.text, one.folder)):
        chosen = best[routine.aim]  # of the ways to do a thing one with another program is no variant
        if len(chosen) < _COMMANDS_PER_AIM and all(_is_another(routine, other) for other in chosen):
            chosen.append(routine)
    worth = [one for chosen in best.values() for one in chosen if len(seen[one]) >= enough and _says_more(one, told)]
    worth.sort(key=lambda one: -len(seen[one]))
    return [
        _found(f"{_SAYS[one.aim]} {_where(one)}.", "recurring-command", list(seen[one].values()))
        for one in worth[:_COMMANDS_TOLD]
    ]


def _is_another(one: Routine, other: Routine) -> bool:
    return one.folder != other.folder or one.text.partition(" ")[0] != other.text.partition(" ")[0]


def _says_more(routine: Routine, told: set[str]) -> bool:
    return bool(routine.folder) or (routine.text not in told and routine.text not in _KNOWN_TO_ALL)


def _where(routine: Routine) -> str:
    return f"`{routine.text}` in `{routine.folder}`" if routine.folder else f"`{routine.text}`"


def _sequence(texts: tuple[str, ...], steps: list[_Step]) -> Found:
    parts = ", then ".join(f"`{text}`" for text in texts)
    return _found(f"After a change, sessions of this project run {parts}.", "recurring-sequence", steps)


def _found(text: str, rule: str, steps: list[_Step]) -> Found:
    own = [step for step in steps if not step.suggested]
    untrusted = "" if len({step.root for step in own}) >= FEWEST_SESSIONS_OF_A_ROUTINE else "proposed by tool output"
    first = steps[0]
    draft = Draft(
        kind="pattern",
        text=text,
        confidence=_CONFIDENCE,
        rule=rule,
        measured=True,
        untrusted=untrusted,
        source=Source(message_index=first.message_index, quote=first.routine.text, origin="agent"),
    )
    cited = [
        Cited("", step.session, step.message_index, step.root, step.at, step.routine.text, "agent") for step in steps
    ]
    return Found(draft, cited)


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
    places = roots(db, project)
    rows = db.query(
        "SELECT c.session, c.message_index, s.root, s.started_at, c.subject FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? AND owner = 'own' "
        "ORDER BY started_at DESC, id LIMIT ?) "
        "AND c.action = 'edit' AND c.outcome = 'ok' ORDER BY s.started_at, c.session, c.position",
        (project, _LATEST_SESSIONS_READ),
    )
    edited: dict[str, dict[str, _Edit]] = defaultdict(dict)
    for session, index, root, at, subject in rows:
        path = within(subject, places)
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


# Facts about the machine that a command verified: versions and aliases.
# The sentence is built from the command's own words, a number and names of a fixed shape; nothing else of the
# output reaches it.

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
_CONFIDENCE_OF_A_VERIFIED_FACT = 0.9


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
                kind="fact",
                text=text,
                confidence=_CONFIDENCE_OF_A_VERIFIED_FACT,
                rule=RULES[0].name,
                measured=True,
                source=source,
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
