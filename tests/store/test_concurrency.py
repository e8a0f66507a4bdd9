"""Processes that write at the same time lose nothing and refuse nothing."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.concurrency import contend

PROCESSES, WRITES = (int(os.environ.get(name, few)) for name, few in (("STORE_PROCESSES", 16), ("STORE_WRITES", 25)))


def test_every_acknowledged_write_of_every_process_is_there(tmp_path: Path) -> None:
    found = contend(tmp_path / "hardwon.db", PROCESSES, WRITES)
    assert (found.refused, found.lost, found.wrong) == ([], 0, [])
    assert len(found.seconds) == PROCESSES * WRITES
