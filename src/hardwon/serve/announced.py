"""Where a service of this home is, for `hardwon open` to find and `uninstall --purge` to end."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hardwon.afterwards import held
from hardwon.durable import write_whole

_FILE = "serving.json"
"""In the home folder; it holds while its process has the lock beside it."""
_SECONDS_TO_END = 8


@contextmanager
def announced(home: Path, address: str) -> Iterator[None]:
    """As long as it runs; the first service of a home does. The address is empty where others than this machine ask."""
    with held(home / f"{_FILE}.lock") as ours:
        if ours:
            write_whole(home / _FILE, json.dumps({"address": address, "process": os.getpid()}))
        yield


def running(home: Path) -> str:
    """The address of a service of this home that runs; empty without one."""
    return str(_told(home).get("address", ""))


def end(home: Path) -> bool:
    """End the service of this home; whether there was one, and is none any more."""
    process = _told(home).get("process")
    if not isinstance(process, int):
        return False
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    until = time.monotonic() + _SECONDS_TO_END
    while _told(home) and time.monotonic() < until:
        time.sleep(0.05)
    return not _told(home)


def _told(home: Path) -> dict[str, Any]:
    if not (home / _FILE).exists():
        return {}
    with held(home / f"{_FILE}.lock") as ours:
        if ours:
            return {}  # whoever wrote it has ended
    try:
        told = json.loads((home / _FILE).read_text())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
