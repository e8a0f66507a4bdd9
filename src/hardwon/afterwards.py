"""`python -m hardwon.afterwards`: harvest the sessions that ended, one process at a time, gently, and end.

Started by the hook, detached from everything. Requests are files in the home folder; whoever holds the lock takes
them all, so that many sessions that end at once need no more than one process, and a request outlives a crash.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.home import home_directory, private, switched_off
from hardwon.hook.once import prune
from hardwon.hook.session_end import PENDING
from hardwon.store import spool

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

LOCK = "harvest.lock"
_NICENESS = 10
_MAX_ROUNDS = 20
_KEPT_FOR = 7 * 24 * 3600
"""Seconds for which a request that could not be served is tried again, whenever a session ends."""


def main(home: Path | None = None) -> None:
    home = home or Path(home_directory())
    if switched_off() or not home.is_dir():
        return
    for _ in range(_MAX_ROUNDS):
        # Whoever asked while we were about to let go of the lock found it held: look once more.
        if not waiting(home):
            return
        with held(home / LOCK) as ours:
            if not ours or not _serve(home):
                return


def waiting(home: Path) -> list[Path]:
    return sorted((home / PENDING).glob("*.json"))


def _serve(home: Path) -> bool:
    """Harvest what is asked for; what cannot be done now is asked for again when the next session ends."""
    began, error, agent = time.perf_counter_ns(), "", ""
    requests = waiting(home)
    try:
        agent, paths = _named(requests)
        from hardwon.api.hardwon import Hardwon

        with Hardwon(home) as memory:
            report = memory.harvest(memory.sessions.retained(paths), mine=True)  # the agent itself named them
            memory.store.keep_daily_metrics(report.projects)
            _distil(memory, home, agent)
            exchange_with_team(memory, home, agent)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    for request in requests:
        if not error or _is_old(request):
            request.unlink(missing_ok=True)
    spool.leave(str(home), "harvest", agent, (time.perf_counter_ns() - began) // 1000, error)
    prune(str(home))
    return not error


def _distil(memory: Hardwon, home: Path, agent: str) -> None:
    """Ask a model, where the settings say so; `doctor` tells that it has a bad day, and nobody waits for it."""
    began, error = time.perf_counter_ns(), ""
    try:
        done = memory.sessions.distil_if_wanted()
        error = done.trouble if done else ""
    except Exception as problem:
        done, error = None, f"{type(problem).__name__}: {problem}"
    if done or error:
        spool.leave(str(home), "distil", agent, (time.perf_counter_ns() - began) // 1000, error)


def exchange_with_team(memory: Hardwon, home: Path, agent: str) -> None:
    """Push and pull, where a team is set; `doctor` tells that the network has a bad day, and nobody waits for it."""
    from hardwon import team

    if not memory.config.team_url:
        return
    began, error = time.perf_counter_ns(), ""
    try:
        if not team.is_joined(memory):
            return
        with team.service(memory) as service:
            team.push(memory, service)
            team.pull(memory, service)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    spool.leave(str(home), "push", agent, (time.perf_counter_ns() - began) // 1000, error)


def _is_old(request: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - request.stat().st_mtime > _KEPT_FOR
    return True


def _named(requests: list[Path]) -> tuple[str, list[Path]]:
    """The agent of the last request, and the transcripts: the file that was named, or all that the agent keeps."""
    from hardwon.sessions import discover

    agent, paths = "", []
    for request in requests:
        with suppress(OSError, ValueError, TypeError, AttributeError):  # damaged: nobody knows what it asked for
            asked = json.loads(request.read_text(encoding="utf-8"))
            agent, transcript = str(asked.get("agent", "")), str(asked.get("transcript", ""))
            paths += _with_subagents(Path(transcript)) if transcript else []
            if not transcript:
                paths += discover.of_agent(agent, os.environ, Path.home())
    return agent, list(dict.fromkeys(paths))


def _with_subagents(transcript: Path) -> list[Path]:
    """The file and what Claude Code keeps of sub-agents, in a folder beside it."""
    from hardwon.sessions import discover

    if not transcript.is_file():
        return []
    folder = transcript.with_suffix("")
    return [transcript, *(discover.below(folder) if folder.is_dir() and folder != transcript else [])]


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether we got the lock; the system lets go of it when we end, however that is."""
    file = private(str(path), os.O_RDWR | os.O_CREAT)
    try:
        yield _locked(file)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    if hasattr(os, "nice"):  # on Windows the hook has seen to it
        os.nice(_NICENESS)
    main()
