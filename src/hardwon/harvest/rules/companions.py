"""Files that change together although they are of different kinds: code, and what describes or configures it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from hardwon.harvest.rules import folders, lazily
from hardwon.harvest.rules.found import Found
from hardwon.harvest.rules.rule import Rule
from hardwon.model.lesson import Draft, Source
from hardwon.store.database import Database
from hardwon.store.lessons import Cited

RULES = (
    Rule("edited-together", 1, ("pattern",), "a document or schema that changes whenever a file of code does", "store"),
)
_FEWEST_SESSIONS = 3
_LEAST_SHARE = 0.75
_MOST_SESSIONS = 200
_MOST_FILES = 15
"""A session that edits more changed everything."""
_MOST_FOUND = 3
_LONGEST_PATH = 80
_CONFIDENCE = 0.55
_FOLLOWS = lazily.pattern(
    r"\.(?:mdx?|rst|adoc|sql|proto|graphql|prisma|ya?ml|toml|json|snap|tmpl|env\.example)$", re.IGNORECASE
)
_OF_THE_MOMENT = lazily.pattern(
    r"(?:^|/)(?:plan|todo|notes?|scratch|tmp|temp|package(?:-lock)?|tsconfig)\b", re.IGNORECASE
)
_CODE = lazily.pattern(r"\.(?:py|go|rs|[cm]?[jt]sx?|java|kt|rb|php|cs|swift|c|h|cpp|hpp|cc|scala|ex|vue|svelte)$")


class _Edit(NamedTuple):
    session: str
    message_index: int
    root: str
    at: int


def found(db: Database, project: str) -> list[Found]:
    edits = _edits(db, project)
    often = Counter(path for files in edits.values() for path in files)
    together: dict[tuple[str, str], list[_Edit]] = defaultdict(list)
    for files in edits.values():
        if len(files) > _MOST_FILES:
            continue
        followers = [path for path in files if _FOLLOWS.search(path) and not _OF_THE_MOMENT.search(path)]
        for code in (path for path in files if _CODE.search(path)):
            for follower in followers:
                together[code, follower].append(files[follower])
    chosen = [
        (code, follower, seen)
        for (code, follower), seen in together.items()
        if len(seen) >= _FEWEST_SESSIONS and len(seen) >= _LEAST_SHARE * often[code]
    ]
    chosen.sort(key=lambda one: (-len(one[2]), one[0], one[1]))
    return [_found(*one) for one in chosen[:_MOST_FOUND]]


def _edits(db: Database, project: str) -> dict[str, dict[str, _Edit]]:
    """Root session → the files of the project that it edited, each with the first edit."""
    places = folders.roots(db, project)
    rows = db.query(
        "SELECT c.session, c.message_index, s.root, s.started_at, c.subject FROM call c "
        "JOIN session s ON s.id = c.session WHERE s.id IN (SELECT id FROM session WHERE project = ? "
        "ORDER BY started_at DESC, id LIMIT ?) "
        "AND c.action = 'edit' AND c.outcome = 'ok' ORDER BY s.started_at, c.session, c.position",
        (project, _MOST_SESSIONS),
    )
    edited: dict[str, dict[str, _Edit]] = defaultdict(dict)
    for session, index, root, at, subject in rows:
        path = folders.within(subject, places)
        if path and len(path) <= _LONGEST_PATH:
            edited[root].setdefault(path, _Edit(session, index, root, at))
    return edited


def _found(code: str, follower: str, seen: list[_Edit]) -> Found:
    first = seen[0]
    draft = Draft(
        kind="pattern",
        text=f"A change to `{code}` goes with one to `{follower}`.",
        confidence=_CONFIDENCE,
        rule=RULES[0].name,
        measured=True,
        source=Source(message_index=first.message_index, quote=follower, origin="agent"),
    )
    cited = [Cited("", one.session, one.message_index, one.root, one.at, follower, "agent") for one in seen]
    return Found(draft, cited)
