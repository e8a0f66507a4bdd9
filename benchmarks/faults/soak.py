"""Everything at once, for minutes: clients of a service that is restarted, writers, harvests, backups, checks."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.damage import make_sessions
from benchmarks.faults.service import Service
from benchmarks.faults.trial import Outcome, attempts, new_home, text_of
from hardwon import Attempt, Hardwon, HardwonError, connect
from hardwon.client import Client
from hardwon.store import check

_CLIENTS, _WRITERS = 3, 2
_PAUSE = 0.05
_RESTART_SECONDS = 20.0
_JUST_BACK_SECONDS = 2.0
_COMMANDS = (("doctor", "--json"), ("backup", "--keep", "2"), ("search", "tool"), ("lessons",), ("failures",))


class Soak:
    """Threads that go on until the time is over; what each acknowledged, and what it was told."""

    def __init__(self, home: Path, seconds: float, seed: int) -> None:
        self._home = home
        self._until = time.monotonic() + seconds
        self._chance = random.Random(seed)
        self._service = Service(home)
        self._up = threading.Event()
        self._up.set()
        self._came_back = 0.0
        self._lock = threading.Lock()
        self.acknowledged: list[int] = []
        self.lessons: list[str] = []
        self.alarms: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.memory: list[int] = []

    def run(self) -> None:
        jobs: list[Callable[[], None]] = [self._restart, self._harvest, self._run_commands]
        jobs += [self._client(number) for number in range(_CLIENTS)]
        jobs += [self._writer(number) for number in range(_WRITERS)]
        threads = [threading.Thread(target=self._kept_going, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._service.stop(signal.SIGTERM)

    def _kept_going(self, job: Callable[[], None]) -> None:
        while time.monotonic() < self._until:
            try:
                job()
            except Exception as error:
                self._alarm(f"{type(error).__name__}: {error}")

    def _alarm(self, said: str) -> None:
        with self._lock:
            self.alarms[said] += 1
            print(f"soak: {said}", flush=True)

    def _restart(self) -> None:
        time.sleep(min(_RESTART_SECONDS, max(0.0, self._until - time.monotonic())))
        self.memory.append(self._service.private_megabytes())
        self._up.clear()
        self._service.stop(self._chance.choice((signal.SIGKILL, signal.SIGTERM)))
        self._service.start()
        self._came_back = time.monotonic()
        self._up.set()
        self.done["restarts"] += 1

    def _client(self, number: int) -> Callable[[], None]:
        def job() -> None:
            self._up.wait()
            try:
                with connect(self._service.address, self._service.token) as memory:
                    while time.monotonic() < self._until:
                        self._log_attempt(memory)
                        memory.search(f"tool number {number}")
                        time.sleep(_PAUSE)
            except HardwonError as error:
                just_back = time.monotonic() - self._came_back < _JUST_BACK_SECONDS
                if (self._up.is_set() and not just_back) or "cannot reach" not in str(error):
                    raise
                self.done["away for longer than a client waits"] += 1  # it said so, and it is true

        return job

    def _log_attempt(self, memory: Client) -> None:
        with self._lock:
            self.done["sent"] += 1
            sent = self.done["sent"]
        memory.journal.log(Attempt(text_of(sent)))
        with self._lock:
            self.acknowledged.append(sent)

    def _writer(self, number: int) -> Callable[[], None]:
        def job() -> None:
            with Hardwon(self._home) as memory:
                with self._lock:
                    self.done["written"] += 1
                    # Not the time: thirteen digits may be a card's number, which no lesson keeps.
                    text = f"Writer {number} says {self.done['written']}."
                memory.lessons.add(text, scope="global")
                with self._lock:
                    self.lessons.append(text)
            time.sleep(_PAUSE)

        return job

    def _harvest(self) -> None:
        round = self.done["harvests"]
        folder = self._home.parent / f"sessions-{round}"
        make_sessions(folder, 3, named=f"r{round}-")
        self._command("harvest", str(folder), "--mine")
        self.done["harvests"] += 1
        time.sleep(1)

    def _run_commands(self) -> None:
        for command in _COMMANDS:
            self._command(*command)
            self.done[command[0]] += 1

    def _command(self, *arguments: str) -> None:
        env = {**os.environ, "HARDWON_HOME": str(self._home), "HOME": str(self._home.parent)}
        ran = subprocess.run(
            [sys.executable, "-m", "hardwon", *arguments], env=env, capture_output=True, text=True, check=False
        )
        if ran.returncode:
            self._alarm(f"`{arguments[0]}` exits {ran.returncode}: {_failed(ran.stdout) or ran.stderr.strip()[-300:]}")


def _failed(printed: str) -> str:
    """Of what `doctor` prints, what is not well."""
    if not printed.startswith(("[", "{")):
        return printed.strip()[-300:]
    told = json.loads(printed)
    checks = told if isinstance(told, list) else told.get("checks", [])
    return "; ".join(f"{one['name']}: {one['says']}" for one in checks if not one["ok"])


def soak(minutes: int, seed: int) -> Outcome:
    """A trial is a minute."""
    with new_home() as home:
        soaked = Soak(home, 60 * minutes, seed)
        soaked.run()
        with Hardwon(home) as memory:
            texts, lessons = attempts(memory), Counter(lesson.text for lesson in memory.lessons.list())
            wrong = [f"{one.name}: {one.says}" for one in check.store(memory.reading()) if not one.ok]
    print(f"soak: {dict(soaked.done)}; private memory of the service at each restart, MB: {soaked.memory}; {wrong}")
    written = [texts[text_of(number)] for number in soaked.acknowledged] + [lessons[text] for text in soaked.lessons]
    twice = sum(texts[text_of(number)] > 1 for number in range(1, soaked.done["sent"] + 1))
    twice += sum(lessons[text] > 1 for text in soaked.lessons)
    return Outcome(minutes, len(written), written.count(0), twice, len(wrong) + soaked.alarms.total())
