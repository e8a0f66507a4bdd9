"""What the pages take with years of work in the store: the processor's time in the service, and what a client waits.

`python -m benchmarks.pages --write` puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import http.client
import re
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks.filled import fill, fill_sessions
from benchmarks.service import Serving, serving
from benchmarks.timing import markdown
from hardwon import Hardwon
from hardwon.sessions.project import Project

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
LESSONS, SESSIONS = 100_000, 10_000
ROUNDS = 21
GOAL = 100
"""Milliseconds in the service, the median of every page."""


class Taken(NamedTuple):
    """Milliseconds of a page."""

    spent: float
    """Of the processor, the median."""
    at_first: float
    """Of the processor, when nothing was counted yet."""
    after_a_write: float
    """Of the processor, when something was just written."""
    waited: float
    """Until the answer is there, the median."""


def table() -> str:
    project = Project("git.example/tide", "")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, project, LESSONS)
        fill_sessions(home, project, SESSIONS)
        with serving(home) as service:
            rows = [(path, _times(service, path, home)) for path in _paths(home, project)]
    told = [(path, *(f"{each:.0f} ms" for each in taken), f"{GOAL} ms") for path, taken in rows]
    note = (
        f"{LESSONS:,} lessons, as many failures, each with a fix, {SESSIONS:,} sessions and as many candidates; "
        f"SQLite. Median of {ROUNDS} requests in turn, the first of them, and one after "
        "another process wrote: what a page counts over the whole store is kept until then; Proof counts its measures "
        "while it is looked at (`counted`). The goal is for the processor's time; others used the machine, "
        f"{datetime.now(UTC):%F}."
    )
    headings = ("page", "processor's time in the service", "of the first", "after a write", "until it is there", "goal")
    return markdown("The pages", headings, told, note)


def _paths(home: Path, project: Project) -> list[str]:
    with Hardwon(home) as memory:
        lesson, failure = memory.lessons.list()[0].id, memory.failures.list()[0].id
    plain = "/ /failures /failures?fix=none /review /lessons /lessons?status=active /lessons?q=socket+of+the+ledger"
    plain += " /search?q=socket+of+the+ledger"
    more = "/sessions /sessions/S77 /briefing /briefing?task=drain+the+socket /journal /projects /settings"
    proof = "/proof /proof?counted=true"
    named = [f"{path}?project={project.id}" for path in "/ /failures /review /lessons /sessions /proof".split()]
    last = "/doctor"  # its look at the store goes on beside whatever follows
    return [
        *plain.split(),
        *more.split(),
        *proof.split(),
        f"/lessons/{lesson}",
        f"/failures/{failure}",
        *named,
        "/openapi",
        last,
    ]


def _times(service: Serving, path: str, home: Path) -> Taken:
    connection = http.client.HTTPConnection(service.host, timeout=120)
    headers = {"Authorization": f"Bearer {service.token}", "Accept": "text/html"}
    spent, waited = [], []
    for number in range(ROUNDS + 1):
        if number == ROUNDS:
            with Hardwon(home) as memory:
                memory.lessons.propose(f"The page {path} was measured.")
        before, began = _processor(service.process), time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        waited.append(1000 * (time.perf_counter() - began))
        spent.append(_processor(service.process) - before)
        assert answer.status == 200, (path, answer.status)
    connection.close()
    return Taken(statistics.median(spent[:-1]), spent[0], spent[-1], statistics.median(waited[:-1]))


def _processor(process: int) -> float:
    """Milliseconds that the threads of a process have run, by the kernel of Linux."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e6


def write(told: str) -> None:
    """In the place of the table that was there, or at the end."""
    rest = re.sub(r"## The pages\n.*?(?=\n## |\Z)", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    PAGE.write_text(f"{rest.rstrip()}\n\n{told}\n", encoding="utf-8")


if __name__ == "__main__":
    found = table()
    print(found)
    if "--write" in sys.argv[1:]:
        write(found)
