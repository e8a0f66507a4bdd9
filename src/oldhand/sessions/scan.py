"""Count every session of many files: on all cores, and only of files that changed since the last time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import IO

import msgspec
from msgspec import Struct

from oldhand.errors import NotASession, NotFound
from oldhand.model.session import Summary
from oldhand.sessions.summary import summaries
from oldhand.text.paths import tilde

CACHE = "scan.cache"
_VERSION = 1
_SMALL = 24 * 1024 * 1024
"""Bytes that are counted before a second process would have started."""


class Scanned(Struct, array_like=True):
    """What a file holds, as of its size and time; `refused` says why it is no session."""

    size: int
    modified: int
    sessions: list[Summary] = []
    refused: str = ""


class _Cache(Struct, array_like=True):
    version: int
    files: dict[str, Scanned]


Progress = Callable[[str, int, int], None]


def scan(paths: Iterable[Path], cache: Path | None = None, progress: Progress | None = None) -> dict[str, Scanned]:
    """Path → what it holds, for every path that is a file. `cache` is read, and written when it changed."""
    known = _load(cache) if cache else {}
    stamps = {str(path): stamp for path in paths if (stamp := _stamp(path)) is not None}
    found = {}
    for path, stamp in stamps.items():
        kept = known.get(tilde(path))
        if kept is not None and (kept.size, kept.modified) == stamp:
            found[path] = kept
    fresh = [path for path in stamps if path not in found]
    found |= _scan_fresh(fresh, stamps, progress or (lambda *_: None))
    if cache and fresh:
        _save(cache, _elsewhere(known, found) | {tilde(path): scanned for path, scanned in found.items()})
    return found


def _elsewhere(known: dict[str, Scanned], found: dict[str, Scanned]) -> dict[str, Scanned]:
    """What is known of other folders; what is gone from the folders just looked at is forgotten."""
    looked_at = {os.path.dirname(tilde(path)) for path in found}
    return {path: scanned for path, scanned in known.items() if os.path.dirname(path) not in looked_at}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _scan_fresh(paths: list[str], stamps: dict[str, tuple[int, int]], told: Progress) -> dict[str, Scanned]:
    found: dict[str, Scanned] = {}

    def take(path: str, scanned: Scanned) -> None:
        found[path] = scanned
        told("counting", len(found), len(paths))

    workers = min(os.cpu_count() or 1, 1 + sum(stamps[path][0] for path in paths) // _SMALL)
    shares = [paths[start::workers] for start in range(workers)]
    helpers = [_Worker(share, take) for share in shares[1:]]
    for path in shares[0]:
        take(path, scan_file(path))
    for helper in helpers:
        helper.join()
    return {path: _stamped(found.get(path) or scan_file(path), stamps[path]) for path in paths}


def scan_file(path: str) -> Scanned:
    try:
        return Scanned(0, 0, summaries(Path(path)))
    except (NotASession, NotFound, OSError) as error:
        return Scanned(0, 0, refused=str(error).partition("is not a session: ")[2] or "it cannot be read")


def _stamped(scanned: Scanned, stamp: tuple[int, int]) -> Scanned:
    return Scanned(*stamp, scanned.sessions, scanned.refused)


class _Worker(Thread):
    """A process of our own that counts a share of the files; what it does not answer is counted here."""

    def __init__(self, paths: list[str], take: Callable[[str, Scanned], None]) -> None:
        super().__init__(daemon=True)
        self._paths = paths
        self._take = take
        self._process = subprocess.Popen(
            [sys.executable, "-m", "oldhand.sessions.scan"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.start()

    def run(self) -> None:
        process = self._process
        assert process.stdin
        assert process.stdout
        Thread(target=_send, args=(process.stdin, self._paths), daemon=True).start()
        decoder = msgspec.json.Decoder(tuple[str, Scanned])
        for line in process.stdout:
            self._take(*decoder.decode(line))
        process.stdout.close()
        process.wait()


def _send(stdin: IO[bytes], paths: list[str]) -> None:
    with stdin:
        stdin.writelines(msgspec.json.encode(path) + b"\n" for path in paths)


def _serve() -> None:
    """What a worker does: paths in, counts out, one a line."""
    for line in sys.stdin.buffer:
        path = msgspec.json.decode(line, type=str)
        sys.stdout.buffer.write(msgspec.json.encode((path, scan_file(path))) + b"\n")


def _load(cache: Path) -> dict[str, Scanned]:
    """The last scan; a cache that cannot be read is as good as none."""
    try:
        kept = msgspec.msgpack.decode(cache.read_bytes(), type=_Cache)
    except (OSError, msgspec.DecodeError, ValueError):
        return {}
    return kept.files if kept.version == _VERSION else {}


def _save(cache: Path, files: dict[str, Scanned]) -> None:
    temporary = cache.with_suffix(f".{os.getpid()}.new")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary.write_bytes(msgspec.msgpack.encode(_Cache(_VERSION, files)))
        temporary.replace(cache)
    except OSError:
        temporary.unlink(missing_ok=True)  # it is only a cache


if __name__ == "__main__":
    _serve()
