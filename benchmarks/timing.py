"""Median times of things run in turn, so that noise hits all of them alike."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def medians(
    subjects: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """With `time.process_time` as the clock, what other processes take does not count."""
    taken: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            began = clock()
            run()
            taken[name].append(clock() - began)
    return {name: statistics.median(times) for name, times in taken.items()}


def markdown(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> str:
    lines = [f"## {title}", ""]
    lines += ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([*lines, "", note] if note else lines)


def private_megabytes(process: int) -> int:
    """What this process alone holds in memory, by the kernel of Linux."""
    told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(found[1]) for found in re.finditer(r"Private_\w+:\s+(\d+) kB", told)) // 1024
