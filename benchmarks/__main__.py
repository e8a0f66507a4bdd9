"""`make bench`: every benchmark, one table each; `--write` puts them into docs/benchmarks.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import (
    cold_start,
    concurrency,
    journal,
    large_session,
    merging,
    metrics,
    pages,
    quality,
    scan,
    scrub,
    search,
    service,
    stages,
    store,
    throughput,
    worlds,
    writers,
)

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

Written by `python -m benchmarks --write`. Machines are noisy: only the ratios inside one run mean something.
"""


def main() -> None:
    writing = (scan, scrub, store, concurrency, writers, journal, merging)
    parts = (cold_start, throughput, stages, large_session, *writing, search, quality, metrics, worlds, service, pages)
    tables = [benchmark.table() for benchmark in parts]
    print("\n\n".join(tables))
    if "--write" in sys.argv[1:]:
        PAGE.write_text("\n".join([INTRODUCTION, *(table + "\n" for table in tables)]), encoding="utf-8")


if __name__ == "__main__":
    main()
