"""Where the time of a harvest goes: processor time of each stage, all of them in one process."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from benchmarks.timing import markdown
from hardwon import Hardwon
from hardwon.api.connection import Connection
from hardwon.failures import ledger
from hardwon.harvest import learn, pipeline, walk
from hardwon.harvest.rules import catalogue, said
from hardwon.scrub import prefilter
from hardwon.sessions import reader
from hardwon.sessions.discover import below
from hardwon.store import fulltext, meta

SHARED = Path(__file__).parent.parent.parent / "shared" / "data" / "projects"
ONE_FILE_OF = 4
"""Each fourth file of the shared projects, of all their formats."""

Owner = ModuleType | type
STAGES: dict[str, tuple[tuple[Owner, str], ...]] = {
    "look at how files begin": ((pipeline, "_head"),),
    "read": ((reader, "read"),),
    "judge how calls ended": ((ledger, "settled"),),
    "scrub": ((learn, "scrubbed"), (learn, "stored")),
    "compile hyperscan's patterns, once": ((prefilter, "_compiled"),),
    "failures and fixes": ((learn, "examine"),),
    "whose words they are": ((learn, "with_origins_and_typed"),),
    "sentences and rules": ((learn, "statements"), (catalogue, "of_session"), (said, "waiting")),
    "map": ((learn, "touches"), (learn, "ran"), (learn, "_opened"), (learn, "place")),
    "passages": ((learn, "passages"),),
    "attempts": ((learn, "attempts"),),
    "write": ((walk, "write"),),
    "terms of the full-text index": ((fulltext, "entry"),),
    "recount, rules over projects, order": ((meta, "recount_stale"), (walk, "look_over")),
    "hooks' lines": ((Connection, "refresh_standing"),),
}
"""Stage → the functions that it is made of. What one calls of another stage counts there alone."""


class _Clock:
    """Time goes to the stage that was entered last."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()  # of seconds
        self._stages = ["all else"]
        self._since = time.process_time()

    def turn(self) -> None:
        now = time.process_time()
        self.spent[self._stages[-1]] += now - self._since  # type: ignore[assignment]
        self._since = now

    def timed(self, stage: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*values: Any, **named: Any) -> Any:
            self.turn()
            self._stages.append(stage)
            try:
                return run(*values, **named)
            finally:
                self.turn()
                self._stages.pop()

        return wrapped


@contextmanager
def _replaced(owner: Owner, name: str, by: Callable[[Any], Any]) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, by(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def _one_core() -> Iterator[None]:
    """So that no worker is started."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def spent(paths: list[Path]) -> Counter[str]:
    """Seconds of processor time by stage, of a harvest into a new store."""
    clock = _Clock()
    with ExitStack() as stack:
        stack.enter_context(_one_core())
        for stage, functions in STAGES.items():
            for owner, name in functions:
                stack.enter_context(_replaced(owner, name, partial(clock.timed, stage)))
        memory = stack.enter_context(Hardwon(stack.enter_context(tempfile.TemporaryDirectory())))
        clock.turn()
        clock.spent.clear()
        memory.harvest(paths, mine=True)
        clock.turn()
    return clock.spent


def decoding(paths: list[Path]) -> float:
    began = time.process_time()
    decoder = msgspec.json.Decoder()
    for path in paths:
        for line in path.read_bytes().splitlines():
            try:
                decoder.decode(line)
            except (msgspec.DecodeError, ValueError):
                continue
    return time.process_time() - began


def table() -> str:
    paths = below(SHARED)[::ONE_FILE_OF] if SHARED.is_dir() else below(SHARED.parents[2] / "examples")
    size = sum(path.stat().st_size for path in paths) / 1e6
    found = spent(paths)
    base, whole = decoding(paths), found.total()
    rows = [(stage, f"{100 * time / whole:.0f} %", f"{time / base:.1f}") for stage, time in found.most_common()]
    note = (
        f"{len(paths)} files, {size:.1f} MB: each fourth of the shared projects; {whole:.1f} s of processor time in "
        f"one process, {size / whole:.1f} MB/s a core, {whole / base:.0f} × decoding every line."
    )
    return markdown("Where the time of a harvest goes", ("stage", "share", "× decoding"), rows, note)


if __name__ == "__main__":
    print(table())
