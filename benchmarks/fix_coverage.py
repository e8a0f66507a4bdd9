"""Failures that an earlier session had met and got over: for how many is a fix told, and what did that session do?

    python -m benchmarks.fix_coverage FOLDER...          every such failure, both ends in view, to be judged by hand
    python -m benchmarks.fix_coverage --count FOLDER...  the counts alone

Each folder is harvested into a store that is thrown away and walked in time: a session knows those that ended before
it. "Got over" is judged without the ledger of fixes: the same call passed later in that session, whatever was done
between. Whether what was done is a fix is for the reader to say; mistakes in code have none.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hardwon.api import Hardwon
from hardwon.briefing.foreseen import best_fix, better_waits
from hardwon.failures import tools
from hardwon.failures.ledger import read
from hardwon.failures.shell import elements
from hardwon.failures.turns import Turn, turns
from hardwon.measure.replay import Past, Scratch, load
from hardwon.store import failures
from hardwon.store.database import Database
from hardwon.store.sessions import session_id
from hardwon.text.shown import remedy

CALLS_LOOKED_AHEAD = 40
_WIDTH = 220


class Held(NamedTuple):
    """An error that a session met and an earlier one had got over."""

    project: str
    failure: str
    error: str
    family: str
    told: str
    """What would have been said to have worked; empty where nothing."""
    waits: tuple[str, ...]
    """Fixes that are known and not told, with the reason."""
    earlier: tuple[tuple[Turn, ...], ...]
    """For each earlier session, the calls from the one that failed to the one that passed."""


def walk(folder: str) -> Iterator[Held]:
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest([folder], mine=True)
        db = memory.reading()
        scratch = Scratch(db)
        running: list[tuple[int, str, Past]] = []
        got_over: dict[str, list[tuple[Turn, ...]]] = defaultdict(list)
        for past in load(db):
            while running and running[0][0] <= past.started_at:
                ended = heapq.heappop(running)[2]
                scratch.add([ended])
                for failure, calls in _got_over(db, ended):
                    got_over[failure].append(calls)
            for failure in dict.fromkeys(met.failure for met in past.met):
                if got_over[failure]:
                    yield _held(scratch.db, past, failure, got_over[failure], Path(folder).name)
            heapq.heappush(running, (past.ended_at, past.root, past))
        scratch.close()


def _held(db: Database, past: Past, failure: str, earlier: Sequence[tuple[Turn, ...]], project: str) -> Held:
    known = failures.fixes(db, [failure], past.project)[failure]
    told = best_fix(known)
    waits = [f"{fix.status}: {remedy(fix.steps, fix.succeeded_as)} [{fix.untrusted}]" for fix in known if fix != told]
    if told is None and better_waits(known, None):
        waits.append("(a better one waits)")
    family, error = db.query(
        "SELECT family, coalesce(nullif(words, ''), signature) FROM failure WHERE id = ?", (failure,)
    )[0]
    worked = remedy(told.steps, told.succeeded_as) if told else ""
    return Held(project, failure, error, family, worked, tuple(waits), tuple(earlier))


def _got_over(db: Database, past: Past) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """The failures of a session whose call passed later: the last failure before it, and all up to the success."""
    found: dict[str, tuple[Turn, ...]] = {}
    for row in past.left["occurrence"]:
        source, position, failure = row[0], row[1], row[2]
        path = db.query("SELECT path FROM session WHERE id = ?", (source,))[0][0]
        calls = _calls(str(Path(path).expanduser()), source)
        failed = calls[position] if position < len(calls) else None
        if failed is None or failed.call.action != "run":
            continue
        for later in calls[position + 1 : position + 1 + CALLS_LOOKED_AHEAD]:
            if later.succeeded and later.call.action == "run" and _same(failed, later):
                found[failure] = tuple(calls[position : later.position + 1])
                break
    yield from found.items()


def _same(failed: Turn, later: Turn) -> bool:
    """The same call, or the same programs and verbs as far as the failing call's own words go."""
    if tools.alike(failed.call.command, later.call.command):
        return True
    wanted = {(one.program, one.subcommand) for one in elements(failed.call.command) if not tools.looks(one)}
    return bool(wanted) and wanted <= {(one.program, one.subcommand) for one in elements(later.call.command)}


@lru_cache(maxsize=256)
def _calls(path: str, source: str) -> list[Turn]:
    return next((turns(one) for one in read(Path(path)).sessions if session_id(one) == source), [])


def _show(number: int, group: Sequence[Held]) -> None:
    one, told = group[-1], sum(bool(each.told) for each in group)
    print(f"\n===== {number} {one.project} {one.failure} {one.family}, held {len(group)} times, told {told}")
    print(f"ERROR {one.error}\nTOLD  {one.told or '-'}\nWAITS {'; '.join(one.waits) or '-'}")
    for calls in one.earlier[-2:]:
        print("  --")
        for at, turn in enumerate(calls):
            outcome = turn.result.outcome if turn.result else "none"
            said = " ".join((turn.call.command or f"{turn.call.action} {turn.call.target} {turn.call.detail}").split())
            print(f"  {outcome:7} {said[: 2 * _WIDTH if at in (0, len(calls) - 1) else _WIDTH]}")
            if at == 0:
                print("          | " + " ".join(turn.output.split())[: 2 * _WIDTH])


def main() -> None:
    folders = [word for word in sys.argv[1:] if not word.startswith("--")]
    held = [one for folder in folders for one in walk(folder)]
    by_failure: dict[tuple[str, str], list[Held]] = defaultdict(list)
    for one in held:
        by_failure[one.project, one.failure].append(one)
    if "--count" not in sys.argv:
        for number, group in enumerate(sorted(by_failure.values(), key=len, reverse=True), start=1):
            _show(number, group)
    told = sum(bool(one.told) for one in held)
    print(f"\n{len(held)} errors that an earlier session got over, {len(by_failure)} different; a fix told for {told}")


if __name__ == "__main__":
    main()
