"""Pitfalls and tool quirks: failures that were fixed or come back, and what is too large to read."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hardwon.failures import tools
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.shell import elements
from hardwon.failures.signature import informative
from hardwon.failures.speaker import told_command
from hardwon.harvest.rules import OWN, Found, Rule
from hardwon.model.failure import FOREIGN, Fix, Step
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.store import failures, lessons
from hardwon.store.database import Database, Row
from hardwon.store.failures import FailureRow, FixRow
from hardwon.store.lessons import Cited
from hardwon.text.normalise import lazy_pattern, tilde
from hardwon.text.shown import remedy as remedy_told

# How a measured fix is told: it failed, this was done, the same thing worked.

FIX_RULE = Rule(
    "fixed-by-command",
    6,
    ("pitfall", "tool-quirk"),
    "what failed until a command was run, or another call was made",
    "store",
)
CONFIDENCE_OF_ONE_FIX = 0.72
_CHARACTERS_PER_REMEDY = 100
_TEMPORARY = lazy_pattern(r"/tmp/|/var/folders/|\\Temp\\|\$TMPDIR")  # noqa: S108
_FILE_TOOLS = ("cp ", "mv ", "ln ", "rm ", "touch ", "mkdir ")
_ABOUT_TOOLS = frozenset(("shell", "git", "npm", "usage"))
_PLACE = lazy_pattern(r" \((?P<file>[\w.-]+\.\w{1,6})\)$")
_INLINE_PROGRAM = lazy_pattern(r"\s+(?:-c|-e|-)?\s*(?:…|<<…|\"…|'…).*$")
_SETTING = lazy_pattern(r"(?P<name>[A-Z][A-Z0-9_]{2,})=")
_OWN_WORDS = {"ignored by one of … files": "ignored by one of your .gitignore files"}
"""Signatures that leave out a word that is always the same."""


def fix_drafts(fixes: Iterable[Fix]) -> list[Draft]:
    """Only fixes made of commands: an edit mends the code once, and the code now says so itself."""
    return [_draft(fix) for fix in fixes if _told(fix)]


def worth_telling(family: str, signature: str, steps: Sequence[Step], succeeded_as: str) -> bool:
    if family == "agent" or any(step.action not in ("run", "drop", "add", "replace") for step in steps):
        return False
    if family == "generic" and not informative(signature) and not _names_what_was_missing(signature, succeeded_as):
        return False
    _, steps = _of_any_file(signature, steps)
    return not any(_of_the_moment(command) for command in (*(step.what for step in steps), _bare(succeeded_as)))


def _names_what_was_missing(signature: str, succeeded_as: str) -> bool:
    """`KEY=value program` worked where the error asked for KEY."""
    setting = _SETTING.match(succeeded_as)
    return setting is not None and setting["name"] in signature


def _told(fix: Fix) -> bool:
    failure = fix.occurrence
    if failure.command.startswith(_FILE_TOOLS):
        return False
    return worth_telling(failure.family, failure.signature, fix.steps, fix.succeeded_as)


def _of_the_moment(command: str) -> bool:
    """A program written for the occasion, where the shell stood, a file moved once: no use to the next session."""
    passing = "<<" in command or command.startswith(_FILE_TOOLS) or command.split()[:1] == ["cd"]
    return passing or len(command) > _CHARACTERS_PER_REMEDY or bool(_TEMPORARY.search(command))


def _draft(fix: Fix) -> Draft:
    failure = fix.occurrence
    return Draft(
        kind=kind_of_failure(failure.family),
        text=fix_sentence(failure.signature, failure.command, fix.steps, fix.succeeded_as),
        confidence=CONFIDENCE_OF_ONE_FIX,
        rule=FIX_RULE.name,
        failure=failure.fingerprint,
        untrusted=fix.untrusted,
        measured=True,
        source=Source(message_index=failure.message_index, quote=failure.excerpt[:280], origin="tool"),
    )


def kind_of_failure(family: str) -> Kind:
    return "tool-quirk" if family in _ABOUT_TOOLS else "pitfall"


_CODE_BEFORE_A_FRAGMENT = lazy_pattern(r"^([A-Z]{2,8}\d{3,6}): [a-z…].*$")
"""What is left where a sentence began with an order: the code says it better."""


def fix_sentence(signature: str, command: str, steps: Sequence[Step], succeeded_as: str) -> str:
    """The fix in one sentence; where it was done to the file that the error named, of any such file."""
    signature, steps = _of_any_file(_CODE_BEFORE_A_FRAGMENT.sub(r"\1", signature.rstrip(".")), steps)
    worked = _bare(succeeded_as)
    gist = _failed(command, signature)
    if steps and steps[0].action == "drop":
        error = _OWN_WORDS.get(signature, signature)
        return f"Leave `{steps[0].what}` out of `{gist}`, or it fails with: {error}."
    if steps and steps[0].action == "add":
        return f"`{gist}` fails with {signature}, unless `{steps[0].what}` is added."
    if steps and steps[0].action == "replace":
        replaced = steps[0].what.partition("` with `")[0].strip("`")
        meant = next((one.program for one in elements(command) if replaced in one.text.split()), gist)
        is_named = re.search(rf"(?<!\w){re.escape(meant.split(' ')[0])}(?!\w)", steps[0].what)
        said = remedy_told(steps[:1], "")
        told = f"{said[0].upper()}{said[1:]}" if is_named else f"In `{meant}`, {said}"
        fails = "the first fails here" if said.startswith("replace") else "it fails otherwise"
        return f"{told}: {fails} with {signature}."
    why = "because files are not formatted" if signature.startswith("format:") else f"with {signature}"
    failed = f"`{gist}` fails {why}"
    remedy = " and ".join(f"`{step.what}`" for step in steps)
    if worked and remedy:
        return f"{failed}: after {remedy}, `{worked}` works."
    if worked:
        return f"{failed}: use `{worked}`."
    return f"{failed} until {remedy} is run."


def _of_any_file(signature: str, steps: Sequence[Step]) -> tuple[str, Sequence[Step]]:
    place = _PLACE.search(signature)
    if place is None or len(steps) != 1:
        return signature, steps
    if not any("/" in word or "." in word for word in steps[0].what.split()):
        return signature[: place.start()], steps  # what helps is about no file
    words = steps[0].what.split()
    folder_or_file = words[-1].rstrip("/").rpartition("/")[2]
    if folder_or_file != place["file"] and not words[-1].endswith("/") and words[-1] != ".":
        return signature, steps
    return signature[: place.start()], [Step(steps[0].action, " ".join([*words[:-1], "<file>"]))]


def _failed(command: str, signature: str) -> str:
    """The command whose report the error is, without what it was about."""
    found = taken_apart(command) if signature.startswith("gofmt:") else ()
    return f"{found[0].program} {found[0].subcommand}".strip() if found else tools.gist(command)


def _bare(succeeded_as: str) -> str:
    """A call that worked, without the program that stood in the line itself."""
    return _INLINE_PROGRAM.sub("", succeeded_as) if "…" in succeeded_as else succeeded_as


PITFALL_RULES = (
    FIX_RULE,
    Rule(
        "missing-command", 1, ("tool-quirk",), "a program that several sessions called and that is not there", "store"
    ),
)
_FAILURES_PER_PROJECT = 2_000
_CHARACTERS_PER_QUOTE = 280
_MISSING = lazy_pattern(r"^command not found: (?P<program>[\w.+-]{2,40})$")
_MIN_SESSIONS = 2
_LATEST_SESSIONS_READ = 200
_REMEDIES_KNOWN_TO_ALL = frozenset(
    "git pull|git pull --rebase|npm install|npm i|npm ci|pnpm install|pnpm i|yarn|yarn install|bun install|"
    "go mod tidy|"
    "go mod download|cargo build|bundle install|composer install|git add .|git add -A|"
    "pip install -r requirements.txt".split("|")
)


def pitfalls_of_project(db: Database, project: str) -> list[Found]:
    rows = [one.row for one in failures.likely(db, project, _FAILURES_PER_PROJECT)]
    known = failures.fixes(db, [row.id for row in rows], project)
    by_sentence: dict[str, list[tuple[FailureRow, FixRow]]] = defaultdict(list)
    open_ones = []
    for row in rows:
        failed = failures.fixed_commands(db, row.id) if known[row.id] else {}
        mended = [
            (row._replace(command=_mostly(failed.get(fix.id) or [row.command], row)), fix) for fix in known[row.id]
        ]
        told = [(sentence_of(own, fix), fix) for own, fix in mended if _worth_telling(own, fix)]
        for sentence, fix in told:
            by_sentence[sentence].append((row, fix))
        if not told:
            open_ones.append(row)
    fixed = (_fixed(db, project, sentence, pairs) for sentence, pairs in _one_per_failure(by_sentence).items())
    missing = (_missing(db, project, row) for row in open_ones)
    return [found for found in (*fixed, *missing) if found is not None]


def _mostly(commands: Sequence[str], row: FailureRow) -> str:
    """Of the commands that failed the newest of those that are told alike most often."""
    told = {one: told_command(one, row.error, family=row.family) for one in reversed(commands)}
    most, _ = Counter(told[one] for one in reversed(commands)).most_common(1)[0]
    return next(one for one, said in told.items() if said == most)


def _worth_telling(row: FailureRow, fix: FixRow) -> bool:
    """What one session did once is told with its failure, while that is likely to come back."""
    return (
        worth_telling(row.family, row.signature, fix.steps, fix.succeeded_as)
        and fix.untrusted != "disables a check"
        and not _known_to_all(fix)
        and (not fix.succeeded_as or _program(row) in {one.program for one in taken_apart(fix.succeeded_as)})
    )


def _program(row: FailureRow) -> str:
    """The program whose report the error is."""
    found = taken_apart(told_command(row.command, row.error, family=row.family))
    return found[0].program if found else ""


def _known_to_all(fix: FixRow) -> bool:
    """Every agent pulls before it pushes again, and installs what a lock file names."""
    return not fix.succeeded_as and len(fix.steps) == 1 and fix.steps[0][1] in _REMEDIES_KNOWN_TO_ALL


def sentence_of(row: FailureRow, fix: FixRow) -> str:
    """What a lesson says of a fix."""
    failed = told_command(row.command, row.error, family=row.family) or row.command
    return fix_sentence(row.signature, failed, [Step(*step) for step in fix.steps], fix.succeeded_as)


def _one_per_failure(
    by_sentence: dict[str, list[tuple[FailureRow, FixRow]]],
) -> dict[str, list[tuple[FailureRow, FixRow]]]:
    """A failure that several things mended is told with the one that did so most often, and last."""
    chosen: dict[str, list[tuple[FailureRow, FixRow]]] = {}
    told: set[str] = set()
    order = sorted(
        by_sentence.items(),
        key=lambda entry: (
            -sum(fix.confirmed - fix.failed_again for _, fix in entry[1]),
            -max(fix.last_seen for _, fix in entry[1]),
            entry[0],
        ),
    )
    for sentence, pairs in order:
        new = [(row, fix) for row, fix in pairs if row.id not in told]
        if new:
            chosen[sentence] = new
            told.update(row.id for row, _ in new)
    return chosen


def _fixed(db: Database, project: str, sentence: str, pairs: list[tuple[FailureRow, FixRow]]) -> Found | None:
    """None where too few sessions did it."""
    cited = [source for _, fix in pairs for source in _evidence(db, fix.id, project)]
    if len({source.root for source in cited}) < _MIN_SESSIONS:
        return None
    row, _ = pairs[0]
    first = cited[0]
    return Found(
        Draft(
            kind=kind_of_failure(row.family),
            text=sentence,
            confidence=CONFIDENCE_OF_ONE_FIX,
            rule=FIX_RULE.name,
            failure=row.id,
            untrusted=next((fix.untrusted for _, fix in pairs if fix.untrusted), ""),
            measured=True,
            source=Source(message_index=first.message_index, quote=first.quote, origin="tool"),
        ),
        cited,
    )


def _evidence(db: Database, fix: str, project: str) -> list[Cited]:
    """One's own sessions of the project in which the fix worked, each with the failure as it showed."""
    rows = db.query(
        "SELECT e.source, min(o.message_index), e.root, min(o.at), min(o.excerpt) FROM fix_evidence e "
        "JOIN fix f ON f.id = e.fix JOIN occurrence o ON o.source = e.source AND o.failure = f.failure "
        "WHERE e.fix = ? AND o.project = ? AND e.untrusted <> ? "
        "GROUP BY e.source, e.root ORDER BY min(o.at), e.source",
        (fix, project, FOREIGN),
    )
    return [
        Cited("", source, index, root, at, excerpt[:_CHARACTERS_PER_QUOTE], "tool")
        for source, index, root, at, excerpt in rows
    ]


def _missing(db: Database, project: str, row: FailureRow) -> Found | None:
    missing = _MISSING.match(row.signature)
    if missing is None or row.sessions < _MIN_SESSIONS or tools.danger(row.command):
        return None
    if any(
        missing["program"] in {one.program for one in taken_apart(line)}
        for (line,) in _passed(db, project)
        if missing["program"] in line
    ):
        return None  # it is there by now, or was
    rows = db.query(
        f"SELECT source, min(message_index), root, min(at), min(excerpt) FROM occurrence WHERE failure = ? AND "
        f"project = ? AND source {OWN} "
        "GROUP BY source, root ORDER BY min(at), source",
        (row.id, project),
    )
    if len({found[2] for found in rows}) < _MIN_SESSIONS:
        return None
    cited = [
        Cited("", source, index, root, at, excerpt[:_CHARACTERS_PER_QUOTE], "tool")
        for source, index, root, at, excerpt in rows
    ]
    draft = Draft(
        kind="tool-quirk",
        text=f"`{missing['program']}` is not installed where this project's sessions run.",
        confidence=0.64,
        rule="missing-command",
        failure=row.id,
        measured=True,
        source=Source(message_index=cited[0].message_index, quote=cited[0].quote, origin="tool"),
    )
    return Found(draft, cited)


def _passed(db: Database, project: str) -> list[Row]:
    return db.query(
        "SELECT c.subject FROM call c JOIN session s ON s.id = c.session "
        "WHERE s.id IN (SELECT id FROM session WHERE project = ? AND owner = 'own' "
        "ORDER BY started_at DESC, id LIMIT ?) AND c.action = 'run' AND c.outcome = 'ok'",
        (project, _LATEST_SESSIONS_READ),
    )


# Files that a project's sessions found too large to be read.

LARGE_FILE_RULE = Rule(
    "large-file", 1, ("tool-quirk",), "a file that several sessions could not read in one piece", "store"
)
_CHARACTERS_PER_NAME = 60


def large_files_of_project(db: Database, project: str) -> list[Found]:
    places = roots_of_project(db, project)
    rows = db.query(
        "SELECT o.source, o.message_index, o.root, o.at, c.subject, o.excerpt FROM occurrence o "
        "JOIN failure f ON f.id = o.failure JOIN call c ON c.session = o.source AND c.position = o.position "
        "WHERE o.project = ? AND f.family = 'agent' AND f.signature >= 'File content' AND f.signature < 'File contenu' "
        f"AND o.source {OWN} ORDER BY o.at, o.source",
        (project,),
    )
    seen: dict[str, dict[str, Cited]] = defaultdict(dict)
    for source, index, root, at, subject, excerpt in rows:
        path = within(subject, places)
        if path and len(path) <= _CHARACTERS_PER_NAME:
            quote = excerpt[:_CHARACTERS_PER_QUOTE]
            seen[path].setdefault(root, Cited("", source, index, root, at, quote, "tool"))
    return [_large(path, list(cited.values())) for path, cited in sorted(seen.items()) if len(cited) >= _MIN_SESSIONS]


def _large(path: str, cited: list[Cited]) -> Found:
    draft = Draft(
        kind="tool-quirk",
        text=f"`{path}` is too large to be read whole: search it first, then read the part that matters.",
        confidence=0.66,
        rule=LARGE_FILE_RULE.name,
        measured=True,
        source=Source(message_index=cited[0].message_index, quote=cited[0].quote, origin="tool"),
    )
    return Found(draft, cited)


# A path as a project's sessions share it: from the project's root on.

_ELSEWHERE = re.compile(r"^[/~$]|^\.\.|^[A-Za-z]:|[*?\"'`$<>{}\n]")


def roots_of_project(db: Database, project: str) -> list[str]:
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
