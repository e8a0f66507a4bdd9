"""Sessions harvested as they finish, for agents that have no hooks: `watch`."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.output import Json
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.harvest.walk import Report

QUIET = 60.0
"""Seconds without a change after which a session counts as finished."""


class Watch:
    """What was seen so far; each look costs no more than the names and stamps of the files."""

    def __init__(self, quiet: float = QUIET, home: Path | None = None) -> None:
        self._quiet = quiet
        self._home = home
        self._done: dict[Path, tuple[int, int]] = {}

    def look(self, now: Callable[[], float] = time.time) -> Report | None:
        """Harvest what has finished since the last look; None if nothing has."""
        from hardwon.api import Hardwon
        from hardwon.harvest.pipeline import stamp_of

        before = (now() - self._quiet) * 1_000_000
        with Hardwon(self._home) as memory:
            stamps = {path: stamp_of(path) for path in memory.discover()}
            fresh = [path for path, stamp in stamps.items() if stamp[1] <= before and self._done.get(path) != stamp]
            if not fresh:
                return None
            report = memory.harvest(memory.sessions.retained(fresh), most=memory.config.sample)
            memory.store.keep_daily_metrics(report.projects)
        # As they were before: what changed meanwhile is seen at the next look.
        self._done.update((path, stamps[path]) for path in fresh)
        return report if report.sessions else None


_COUNTED = ("sessions", "lessons", "failures", "fixes")


def watch(
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    interval: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.1)] = 10.0,
    quiet: Annotated[float, typer.Option(help="Seconds unchanged that make a session finished.", min=0.0)] = 60.0,
    json: Json = False,
) -> None:
    """Harvest sessions as they finish, until Ctrl-C.

    For agents without hooks. With --json, one line for each harvest and one for all of them at the end.

    Example: hardwon watch --interval 30
    """

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watching = Watch(quiet)
    totals = dict.fromkeys(_COUNTED, 0)
    began = time.monotonic()
    try:
        if not once and not json:
            typer.echo(f"Looking every {interval:g} s for sessions that finished. Ctrl-C ends it.", err=True)
        while True:
            _look(watching, totals, once, json)
            if once:
                break
            time.sleep(interval)
    except KeyboardInterrupt:
        pass
    _tell({**totals, "seconds": round(time.monotonic() - began, 1)}, json, "In all")


def _look(watching: Any, totals: dict[str, int], once: bool, json: bool) -> None:
    try:
        report: Report | None = watching.look()
    except HardwonError as error:
        if once:
            raise
        typer.echo(f"hardwon: {error}; trying again", err=True)
        return
    if report is None:
        return
    for name in totals:
        totals[name] += getattr(report, name)
    found = {name: getattr(report, name) for name in _COUNTED} | {"seconds": report.seconds}
    if not once:
        _tell(found, json, time.strftime("%H:%M:%S"))


def _tell(counts: dict[str, Any], json: bool, lead: str) -> None:
    if json:
        import msgspec

        typer.echo(msgspec.json.encode(counts).decode())
    else:
        parts = ", ".join(f"{counts[name]} new {name if counts[name] != 1 else _singular(name)}" for name in _COUNTED)
        typer.echo(f"{lead}: {parts} in {counts['seconds']:.1f} s")
    sys.stdout.flush()


def _singular(name: str) -> str:
    return name.removesuffix("es") if name == "fixes" else name.removesuffix("s")
