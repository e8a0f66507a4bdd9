"""What keeps failing, as lists show it: what a formatter says of each file is one row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.api import failures
from hardwon.clock import moment
from hardwon.model.nouns import Failure, Fix
from hardwon.store import failures as stored
from hardwon.store import pages
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow
from hardwon.store.pages import Counted, FailingRow, Key

EVER = (0, 2**62)
"""Clocks of sessions may be ahead of ours."""


class Failing(NamedTuple):
    """A row of what fails."""

    failure: Failure
    alike: list[Failure]
    """Those that are shown as this one row, the most widespread first; none if it is one."""

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.alike] or [self.failure.id]

    @property
    def files(self) -> int:
        """In how many files it was met; what names none counts as one."""
        return len({found[0] if (found := _FILE.search(one.error)) else one.id for one in self.alike})


_MOST_ALIKE = 500
_LEAST_IN_COMMON = 8
"""Characters that errors end with alike, to be told by."""
_FILE = re.compile(r"[^\s>()'\"]*[^\s>()'\"/\\]\.\w+")
_IN_A_FILE = re.compile(r"(?: \([^()\s]*\.\w+\))?[.,;:]*$")
_PATH = re.compile(r"\S*[/\\.]\S*\w\S*")


def failing(
    db: Database, which: Counted, *, only_here: bool = False, after: Key | None = None, limit: int
) -> tuple[list[Failing], list[Key]]:
    """What was met between two moments, counted there, the most widespread first."""
    found = pages.failing(db, which, after=after, limit=limit)
    kinds = stored.kinds(db, [one.id for one in found])
    parts = [pages.of_kind(db, kinds[one.id], which, _MOST_ALIKE) if one.id in kinds else [one] for one in found]
    rows = [
        (_row(db, one, _known(db, which, each, only_here)), one) for one, each in zip(found, parts, strict=True) if each
    ]
    return [row for row, _ in rows if row], [key for row, key in rows if row]


def rows_with(db: Database, which: Counted, ids: Sequence[str], *, only_here: bool = False) -> dict[str, Failing]:
    """Of failures that lists show as one row the first that is named, with what fixed them."""
    found: dict[str, Failing] = {}
    told: set[str] = set()
    for id in ids:
        row = None if id in told else row_with(db, which, id, only_here=only_here)
        if row is None and id not in told and (one := _stored(db, which, id)):
            row = Failing(failures.with_fixes(db, [one], which.project if only_here else None)[0], [])
        if row:
            found[id] = row
            told.update(row.ids)
    return found


def row_with(db: Database, which: Counted, id: str, *, only_here: bool = False) -> Failing | None:
    """The row that lists show for a failure and others like it; None where it is shown by itself."""
    kind = stored.kinds(db, [id]).get(id)
    parts = pages.of_kind(db, kind, which, _MOST_ALIKE) if kind else []
    if kind is None or len(parts) < 2:
        return None
    return _row(db, pages.count_of_kind(db, kind, which), _known(db, which, parts, only_here))


def failing_alike(db: Database, which: Counted, id: str, *, only_here: bool = False) -> list[Failing]:
    """Those of a row that is several, one by one."""
    kind = stored.kinds(db, [id]).get(id)
    rows = pages.of_kind(db, kind, which, _MOST_ALIKE) if kind else []
    return [Failing(each, []) for each in _known(db, which, rows, only_here)]


def _stored(db: Database, which: Counted, id: str) -> FailureRow | None:
    return pages.failure_in(db, id, which.project) if which.project else stored.get(db, id)


def _known(db: Database, which: Counted, counts: Sequence[FailingRow], only_here: bool) -> list[Failure]:
    known = [_stored(db, which, one.id) for one in counts]
    rows = [row._replace(**one._asdict()) for row, one in zip(known, counts, strict=True) if row]
    return failures.with_fixes(db, rows, which.project if only_here else None)


def _row(db: Database, counts: FailingRow, alike: list[Failure]) -> Failing | None:
    """None for what was forgotten meanwhile."""
    if len(alike) < 2:
        return Failing(alike[0], []) if alike else None
    words = _in_common([each.error for each in alike])
    fixes = _together(db, [fix for each in alike for fix in each.fixes])
    told = {"sessions": counts.sessions, "occurrences": counts.occurrences, "last_seen": moment(counts.last_seen)}
    return Failing(replace(alike[0], error=words, fixes=fixes, **told), alike)


def _together(db: Database, fixes: list[Fix]) -> list[Fix]:
    """What is the same for several failures is one, which worked in all their sessions; the most confirmed first."""
    same: dict[tuple[str, str], list[Fix]] = {}
    for fix in fixes:
        same.setdefault((fix.status, fix.text), []).append(fix)
    found = []
    for each in same.values():
        confirmed = each[0].confirmed if len(each) == 1 else stored.sessions_mended(db, [fix.id for fix in each])
        found.append(replace(each[0], confirmed=confirmed, failed_again=sum(fix.failed_again for fix in each)))
    return sorted(found, key=lambda fix: (fix.status, fix.failed_again - fix.confirmed))


def _in_common(errors: list[str]) -> str:
    """What all say, but for the files that they name; else what the most widespread says."""
    words = [_IN_A_FILE.sub("", error).split(" ") for error in errors]
    if len({*map(len, words)}) == 1:
        places = [{*each} for each in zip(*words, strict=True)]
        told = [next(iter(each)) if len(each) == 1 else "…" for each in places]
        if all(len(each) == 1 or all(map(_PATH.fullmatch, each)) for each in places) and told.count("…") < len(told):
            return " ".join(told).lstrip("… ")
    reversed_ = zip(*(each[::-1] for each in words), strict=False)
    end = " ".join([each[0] for each in takewhile(lambda each: len({*each}) == 1, reversed_)][::-1])
    return end if len(end) >= max(_LEAST_IN_COMMON, len(errors[0]) // 2) else errors[0]
