"""Pitfalls and tool quirks out of the failure ledger of a project: seen and fixed, or met again and again."""

from __future__ import annotations

import re
from collections import defaultdict

from hardwon.failures import tools
from hardwon.harvest.rules import fixes, lazily
from hardwon.harvest.rules.found import Found
from hardwon.harvest.rules.rule import Rule
from hardwon.model.failure import Step
from hardwon.model.lesson import Draft, Source
from hardwon.store import failures
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow, FixRow
from hardwon.store.lessons import Cited

RULES = (
    fixes.RULE,
    Rule(
        "missing-command", 1, ("tool-quirk",), "a program that several sessions called and that is not there", "store"
    ),
)
_MOST_FAILURES = 2_000
_LONGEST_QUOTE = 280
_MISSING = lazily.pattern(r"^command not found: (?P<program>[\w.+-]{2,40})$")
_SEVERAL = 2
_REMEDIES_KNOWN_TO_ALL = frozenset(
    "git pull|git pull --rebase|npm install|npm i|npm ci|pnpm install|pnpm i|yarn|yarn install|bun install|"
    "go mod tidy|"
    "go mod download|cargo build|bundle install|composer install|git add .|git add -A|"
    "pip install -r requirements.txt".split("|")
)


def found(db: Database, project: str) -> list[Found]:
    rows = [one.row for one in failures.likely(db, project, _MOST_FAILURES)]
    known = failures.fixes(db, [row.id for row in rows], project)
    by_sentence: dict[str, list[tuple[FailureRow, FixRow]]] = defaultdict(list)
    open_ones = []
    for row in rows:
        told = [(_sentence(row, fix), fix) for fix in known[row.id] if _worth_telling(db, row, fix, project)]
        for sentence, fix in told:
            by_sentence[sentence].append((row, fix))
        if not told:
            open_ones.append(row)
    chosen = _one_per_failure(by_sentence)
    return [_fixed(db, project, sentence, pairs) for sentence, pairs in chosen.items()] + [
        found for row in open_ones if (found := _missing(db, project, row)) is not None
    ]


def _worth_telling(db: Database, row: FailureRow, fix: FixRow, project: str) -> bool:
    if not fixes.worth_telling(row.family, row.signature, fix.steps, fix.succeeded_as):
        return False
    if fix.untrusted == "disables a check" or _only_a_slip(fix) or _known_to_all(fix):
        return False
    return bool(_evidence(db, fix.id, project))


def _known_to_all(fix: FixRow) -> bool:
    """Every agent pulls before it pushes again, and installs what a lock file names."""
    return not fix.succeeded_as and len(fix.steps) == 1 and fix.steps[0][1] in _REMEDIES_KNOWN_TO_ALL


def _only_a_slip(fix: FixRow) -> bool:
    """An option that does not exist, left out the next time, and never tried again."""
    dropped = any(action == "drop" for action, _ in fix.steps)
    return dropped and fix.confirmed < _SEVERAL and not re.search(r"\s-", fix.succeeded_as)


def _sentence(row: FailureRow, fix: FixRow) -> str:
    return fixes.sentence(row.signature, row.command, [Step(*step) for step in fix.steps], fix.succeeded_as)


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


def _fixed(db: Database, project: str, sentence: str, pairs: list[tuple[FailureRow, FixRow]]) -> Found:
    cited = [source for _, fix in pairs for source in _evidence(db, fix.id, project)]
    row, _ = pairs[0]
    first = cited[0]
    return Found(
        Draft(
            kind=fixes.kind(row.family),
            text=sentence,
            confidence=fixes.ONCE,
            rule=fixes.RULE.name,
            failure=row.id,
            untrusted=next((fix.untrusted for _, fix in pairs if fix.untrusted), ""),
            measured=True,
            source=Source(message_index=first.message_index, quote=first.quote, origin="tool"),
        ),
        cited,
    )


def _evidence(db: Database, fix: str, project: str) -> list[Cited]:
    """The sessions of the project in which the fix worked, each with the failure as it showed."""
    rows = db.query(
        "SELECT e.source, min(o.message_index), e.root, min(o.at), min(o.excerpt) FROM fix_evidence e "
        "JOIN fix f ON f.id = e.fix JOIN occurrence o ON o.source = e.source AND o.failure = f.failure "
        "WHERE e.fix = ? AND o.project = ? GROUP BY e.source, e.root ORDER BY min(o.at), e.source",
        (fix, project),
    )
    return [
        Cited("", source, index, root, at, excerpt[:_LONGEST_QUOTE], "tool")
        for source, index, root, at, excerpt in rows
    ]


def _missing(db: Database, project: str, row: FailureRow) -> Found | None:
    missing = _MISSING.match(row.signature)
    if missing is None or row.sessions < _SEVERAL or tools.danger(row.command):
        return None
    rows = db.query(
        "SELECT source, min(message_index), root, min(at), min(excerpt) FROM occurrence WHERE failure = ? AND "
        "project = ? "
        "GROUP BY source, root ORDER BY min(at), source",
        (row.id, project),
    )
    cited = [
        Cited("", source, index, root, at, excerpt[:_LONGEST_QUOTE], "tool")
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
