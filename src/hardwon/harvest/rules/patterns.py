"""How a project is built, checked, tested, run and released: commands that recur in its sessions and succeed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from hardwon.harvest.rules import folders
from hardwon.harvest.rules.found import Found
from hardwon.harvest.rules.routine import Routine, routines
from hardwon.harvest.rules.rule import Rule
from hardwon.model.lesson import Draft, Source
from hardwon.store.database import Database
from hardwon.store.lessons import Cited

RULES = (
    Rule("recurring-command", 2, ("pattern",), "the command that builds, checks, tests, runs or releases", "store"),
    Rule("recurring-sequence", 1, ("pattern",), "commands that follow each other in several sessions", "store"),
)
FEWEST_SESSIONS = 3
_LEAST_SHARE = 0.1
_MOST_SESSIONS = 200
_MOST_COMMANDS = 5
_MOST_OF_AN_AIM = 2
_MOST_SEQUENCES = 2
_LONGEST_SEQUENCE = 4
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


def found(db: Database, project: str) -> list[Found]:
    runs = list(_runs(db, project))
    roots = {step.root for run in runs for step in run}
    enough = max(FEWEST_SESSIONS, round(_LEAST_SHARE * len(roots)))
    sequences = _sequences(runs, enough)
    told = {text for texts, _ in sequences for text in texts}
    return [_sequence(texts, steps) for texts, steps in sequences] + _commands(runs, enough, told)


def _runs(db: Database, project: str) -> Iterator[list[_Step]]:
    """Stretches of successful commands of a session, with no edit, failure or other command in between."""
    places = folders.roots(db, project)
    rows = db.query(
        "SELECT c.session, s.root, c.message_index, s.started_at, c.action, c.subject, c.outcome, c.suggested "
        "FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? "
        "ORDER BY started_at DESC, id LIMIT ?) AND c.action IN ('run', 'edit') "
        "ORDER BY s.started_at, c.session, c.position",
        (project, _MOST_SESSIONS),
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
    folder = folders.within(routine.folder, places) if routine.folder else ""
    return None if folder is None else routine._replace(folder=folder)


def _sequences(runs: list[list[_Step]], enough: int) -> list[tuple[tuple[str, ...], list[_Step]]]:
    """The sequences that most sessions share; one that is part of another, or mixes it, is left out."""
    seen: dict[frozenset[str], dict[str, _Step]] = defaultdict(dict)
    orders: dict[frozenset[str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for run in runs:
        texts = [step.routine.text for step in run]
        kept = [0, *(at for at in range(1, len(run)) if texts[at] != texts[at - 1])]
        for length in range(2, _LONGEST_SEQUENCE + 1):
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
        if len(chosen) == _MOST_SEQUENCES:
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
        if len(chosen) < _MOST_OF_AN_AIM and all(_is_another(routine, other) for other in chosen):
            chosen.append(routine)
    worth = [one for chosen in best.values() for one in chosen if len(seen[one]) >= enough and _says_more(one, told)]
    worth.sort(key=lambda one: -len(seen[one]))
    return [
        _found(f"{_SAYS[one.aim]} {_where(one)}.", "recurring-command", list(seen[one].values()))
        for one in worth[:_MOST_COMMANDS]
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
    untrusted = "" if len({step.root for step in own}) >= FEWEST_SESSIONS else "proposed by tool output"
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
