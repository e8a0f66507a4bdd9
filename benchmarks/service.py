"""Answers of `hardwon serve` with years of work in the store, over a kept connection."""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from benchmarks.filled import error, fill
from benchmarks.timing import markdown
from hardwon import Hardwon
from hardwon.sessions.project import Project

LESSONS = 100_000
ROUNDS = 60
GOAL = 50
"""Milliseconds, the median of every read."""


def table() -> str:
    project = Project("git.example/tide", "")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, project, LESSONS)
        with Hardwon(home) as memory:
            lesson = memory.lessons.list()[0].id
            failure = memory.failures.list()[0].id
        reads: dict[str, tuple[str, bytes | None]] = {
            "who am I": ("/api/me", None),
            "a page of lessons": ("/api/lessons?limit=50", None),
            "a page of a project's lessons": ("/api/lessons?limit=50&project=tide", None),
            "a lesson": (f"/api/lessons/{lesson}", None),
            "a page of failures": ("/api/failures?limit=50", None),
            "a failure": (f"/api/failures/{failure}", None),
            "is this error known": ("/api/failures/match", json.dumps({"text": error(77)}).encode()),
            "search": (f"/api/search?q={quote('socket of the ledger drained')}", None),
            "bootstrap": ("/api/bootstrap?project=tide", None),
            "projects": ("/api/projects", None),
            "sessions": ("/api/sessions", None),
        }
        with serving(home) as (host, token):
            took = {name: timed(host, token, *what) for name, what in reads.items()}
    floor = took["who am I"]
    rows = [
        (name, f"{median * 1000:.1f} ms", f"{median / floor:.1f}", "" if name == "who am I" else f"{GOAL} ms")
        for name, median in took.items()
    ]
    note = f"{LESSONS:,} lessons and as many failures; median of {ROUNDS} requests in turn, with their token checked."
    return markdown("The service", ("read", "time", "× who am I", "goal"), rows, note)


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, str]]:
    limits = {"HARDWON_SERVE_RATE": "100000", "HARDWON_SERVE_BURST": "100000"}
    process = subprocess.Popen(
        [sys.executable, "-m", "hardwon", "serve", "--port", "0", "--json"],
        env={**os.environ, **limits, "HARDWON_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    try:
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        started = json.loads(told)
        yield urlsplit(started["address"]).netloc, started["link"].rpartition("=")[2]
    finally:
        process.terminate()
        process.wait(20)


def timed(host: str, token: str, path: str, body: bytes | None) -> float:
    """Median seconds of a request."""
    connection = http.client.HTTPConnection(host, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        took.append(time.perf_counter() - began)
        assert answer.status == 200, (path, answer.status)
    connection.close()
    return statistics.median(took)


if __name__ == "__main__":
    print(table())
