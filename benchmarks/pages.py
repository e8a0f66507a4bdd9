"""What the pages take with years of work in the store: the processor's time in the service, and what a client waits."""

from __future__ import annotations

import http.client
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.filled import fill, fill_sessions
from benchmarks.service import Serving, serving
from benchmarks.timing import markdown
from hardwon import Hardwon
from hardwon.sessions.project import Project

LESSONS, SESSIONS = 100_000, 10_000
ROUNDS = 21
GOAL = 100
"""Milliseconds in the service, the median of every page."""


def table() -> str:
    project = Project("git.example/tide", "")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, project, LESSONS)
        fill_sessions(home, project, SESSIONS)
        with serving(home) as service:
            rows = [(path, *_times(service, path)) for path in _paths(home, project)]
    told = [(path, f"{spent:.0f} ms", f"{waited:.0f} ms", f"{GOAL} ms") for path, spent, waited in rows]
    note = (
        f"{LESSONS:,} lessons, as many failures, {SESSIONS:,} sessions and as many candidates; median of {ROUNDS} "
        "requests in turn, of the processor's time in the service the mean."
    )
    return markdown("The pages", ("page", "in the service", "until it is there", "goal"), told, note)


def _paths(home: Path, project: Project) -> list[str]:
    with Hardwon(home) as memory:
        lesson, failure = memory.lessons.list()[0].id, memory.failures.list()[0].id
    plain = "/ /failures /failures?open=true /review /lessons /lessons?status=active /lessons?q=socket+of+the+ledger"
    more = "/sessions /sessions/S77 /briefing /briefing?task=drain+the+socket /journal /projects /proof /settings"
    named = [f"{path}?project={project.id}" for path in ("/", "/failures", "/review", "/lessons", "/sessions")]
    return [
        *plain.split(),
        *more.split(),
        f"/lessons/{lesson}",
        f"/failures/{failure}",
        *named,
        "/doctor",
    ]  # whose look at the store goes on


def _times(service: Serving, path: str) -> tuple[float, float]:
    """Milliseconds: the mean of the processor's, the median until the answer is there."""
    connection = http.client.HTTPConnection(service.host, timeout=120)
    headers = {"Authorization": f"Bearer {service.token}", "Accept": "text/html"}
    waited = []
    before = _processor(service.process)
    for _ in range(ROUNDS):
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        waited.append(1000 * (time.perf_counter() - began))
        assert answer.status == 200, (path, answer.status)
    connection.close()
    return (_processor(service.process) - before) / ROUNDS, statistics.median(waited)


def _processor(process: int) -> float:
    """Milliseconds that a process has run."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(table())
