"""Power failures: what SQLite asks of the system is recorded, and images of the disk are made of it."""

from __future__ import annotations

import os
import pickle
import random
from pathlib import Path
from typing import Any

import apsw

from benchmarks.faults.trial import WRITES, Outcome, each, judged, new_home, write
from hardwon import Hardwon

SECTOR = 512


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
    with new_home() as home:
        calls = recorded(home)

    def run(trial: int) -> Outcome:
        chance = random.Random(f"{seed} {trial}")
        cut = chance.randrange(len(calls))
        acknowledged = [call[1] for call in calls[:cut] if call[0] == "done"]
        with new_home() as home:
            home.mkdir()
            for name, content in image(calls, cut, chance).items():
                (home / name).write_bytes(content)
            return judged(home, acknowledged)

    return each(trials, seed, run)
