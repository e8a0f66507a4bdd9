"""`python -m benchmarks.benign`: of the fixes in strangers' real sessions, taken as one's own, how many may be told.

A pair is an error and what mended it; a fix is the same steps once. `--list` shows those that wait, with the reason;
`--look-once` counts the other half of the projects.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hardwon import NotASession
from hardwon.failures.ledger import examine, read
from hardwon.model.failure import Fix
from hardwon.scrub.scrubber import Scrubber, scrubbed
from hardwon.sessions.discover import below

SHARED = Path(__file__).parent.parent.parent / "shared"


def projects(half: str) -> list[Path]:
    parts = (line.split() for line in (SHARED / "judge" / "split.txt").read_text().splitlines())
    names = {words[1] for words in parts if words and words[0] == half}
    return sorted(path for path in (SHARED / "data" / "projects").glob("*/*") if path.name in names)


def fixes(half: str) -> Iterator[tuple[str, Fix]]:
    """Every session once, the longest of its copies first."""
    for project in projects(half):
        seen: set[tuple[str, str]] = set()
        for path in sorted(below(project), key=lambda path: -path.stat().st_size):
            try:
                sessions = read(path).sessions
            except NotASession:
                continue
            for session in sessions:
                if (session.external_id, session.subagent) not in seen:
                    seen.add((session.external_id, session.subagent))
                    yield from ((project.name, fix) for fix in examine(scrubbed(session, Scrubber())).fixes)


def main() -> None:
    half = "look-once" if "--look-once" in sys.argv[1:] else "tune"
    found = list(fixes(half))
    if "--list" in sys.argv[1:] and half == "tune":
        for project, fix in found:
            if fix.untrusted:
                print(project, "|", fix.untrusted, "|", list(map(tuple, fix.steps)), "|", fix.succeeded_as)
    passed: dict[tuple[str, str], bool] = {}
    for project, fix in found:
        same = project, repr((fix.occurrence.fingerprint, fix.steps, fix.succeeded_as))
        passed[same] = passed.get(same, False) or not fix.untrusted
    print(f"{half}: {sum(not fix.untrusted for _, fix in found)} of {len(found)} pairs may be told", end="; ")
    print(f"{sum(passed.values())} of {len(passed)} different fixes")
    for reason, number in Counter(fix.untrusted for _, fix in found if fix.untrusted).most_common():
        print(f"  {number} {reason}")


if __name__ == "__main__":
    main()
