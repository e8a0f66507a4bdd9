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
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from benchmarks.filled import error, fill
from benchmarks.search import EMBEDDED, Corpus, give_vectors
from benchmarks.search import fill as fill_with_words
from benchmarks.timing import markdown, private_megabytes
from hardwon import Hardwon
from hardwon.recall.minilm import MiniLM, installed
from hardwon.sessions.project import Project
from hardwon.store.sqlite import SqliteDatabase

LESSONS = 100_000
ROUNDS = 60
GOAL = 50
"""Milliseconds, the median of every read."""
SEARCHES, CLIENTS = 400, 8
MEMORY_GOAL = 200


def table() -> str:
    project = Project("git.example/tide", "")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, project, LESSONS)
        with Hardwon(home) as opened:
            lesson = opened.lessons.list()[0].id
            failure = opened.failures.list()[0].id
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
        with serving(home) as service:
            took = {name: timed(service.host, service.token, *what) for name, what in reads.items()}
    floor = took["who am I"]
    rows = [
        (name, f"{median * 1000:.1f} ms", f"{median / floor:.1f}", "" if name == "who am I" else f"{GOAL} ms")
        for name, median in took.items()
    ]
    note = f"{LESSONS:,} lessons and as many failures; median of {ROUNDS} requests in turn, with their token checked."
    speed = markdown("The service", ("read", "time", "× who am I", "goal"), rows, note)
    held = [(what, f"{size} MB", f"{MEMORY_GOAL} MB") for what, size in memory(LESSONS).items()]
    note = f"{LESSONS:,} lessons, each with a vector; what the kernel of Linux says the process alone has in memory."
    return f"{speed}\n\n{markdown('Memory of the service', ('after', 'private', 'goal'), held, note)}"


def memory(lessons: int, embedded: int = EMBEDDED) -> dict[str, int]:
    """What was done → the megabytes that the service alone holds since."""
    corpus = Corpus()
    questions = [corpus.question() for _ in range(SEARCHES)]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "hardwon"
        filling = get_context("spawn").Process(target=_fill_with_vectors, args=(home, lessons, embedded))
        filling.start()  # a process that has the model loaded, too, would share its pages
        filling.join()
        with serving(home) as service, ThreadPoolExecutor(CLIENTS) as clients:
            held = {"the start": private_megabytes(service.process)}
            for status in clients.map(lambda question: _get(service, f"/api/search?q={quote(question)}"), questions):
                assert status in (200, 503), status  # or too many at once for this machine
            held[f"{SEARCHES} searches of {CLIENTS} clients"] = private_megabytes(service.process)
            _get(service, "/mcp")
            held["the first request of an agent over MCP"] = private_megabytes(service.process)
    return held


def _fill_with_vectors(home: Path, lessons: int, embedded: int) -> None:
    with closing(SqliteDatabase(home / "hardwon.db", write=True)) as db:
        fill_with_words(db, Corpus(), lessons)
        if installed():
            give_vectors(db, MiniLM(), embedded)


def _get(service: Serving, path: str) -> int:
    connection = http.client.HTTPConnection(service.host, timeout=60)
    connection.request("GET", path, headers={"Authorization": f"Bearer {service.token}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


class Serving(NamedTuple):
    host: str
    token: str
    process: int


@contextmanager
def serving(home: Path) -> Iterator[Serving]:
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
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the service ended before it began")
            told += line
        started = json.loads(told)
        yield Serving(urlsplit(started["address"]).netloc, started["link"].rpartition("=")[2], process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=20)


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
