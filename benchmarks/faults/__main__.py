"""`python -m benchmarks.faults --write` runs all of it and puts the table into docs/durability.md.

Every trial follows from its seed; `--share 0.1` runs a tenth of them, `--only kill` those with this in their names.
`--add` keeps what earlier shares found and adds to it: the table sums up all shares.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from benchmarks.faults.damage import damaged_stores
from benchmarks.faults.disk import disk_errors
from benchmarks.faults.power import power_failures
from benchmarks.faults.process import clocks, full_disks, kills
from benchmarks.faults.service import contention, restarts, server_crashes
from benchmarks.faults.soak import soak
from benchmarks.faults.trial import REPOSITORY, Outcome

PAGE = REPOSITORY / "docs" / "durability.md"
SHARES = REPOSITORY / "benchmarks" / "data" / "faults.jsonl"
MARKS = ("<!-- faults: begin -->", "<!-- faults: end -->")
CAMPAIGNS: dict[str, tuple[Callable[[int, int], Outcome], int]] = {
    "`kill -9` at any statement": (kills, 1000),
    "power failures, of recorded calls": (power_failures, 1000),
    "errors of the disk (EIO)": (disk_errors, 100),
    "full disks": (full_disks, 200),
    "damaged stores, repaired": (damaged_stores, 300),
    "clocks that jump": (clocks, 100),
    "restarts of the service under load": (restarts, 24),
    "crashes of PostgreSQL": (server_crashes, 20),
    "processes that write at once, 200 times each": (contention, 64),
    "minutes of everything at once": (soak, 20),
}


def keep(name: str, seed: int, outcome: Outcome) -> None:
    """A line for each share that was run."""
    day = datetime.now(UTC).date().isoformat()
    with SHARES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"what": name, "day": day, "seed": seed, **outcome._asdict()}) + "\n")


def table(shares: list[dict[str, object]]) -> str:
    heads = ("what", "seeds", "trials", "acknowledged", "lost", "stored twice", "false alarms", "said to be short")
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name in CAMPAIGNS:
        mine = [share for share in shares if share["what"] == name]
        total = sum((Outcome(*(share[field] for field in Outcome._fields)) for share in mine), Outcome())  # type: ignore[arg-type]
        seeds = ", ".join(dict.fromkeys(str(share["seed"]) for share in mine))
        if mine:
            lines.append(f"| {' | '.join((name, seeds, *(f'{value:,}' for value in total)))} |")
    return "\n".join(lines)


def put_into_page() -> None:
    shares = [json.loads(line) for line in SHARES.read_text(encoding="utf-8").splitlines()]
    begin, end = MARKS
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(f"{before}{begin}\n{table(shares)}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a store goes through, and what is left.")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--share", type=float, default=1.0, help="of the trials of each campaign")
    parser.add_argument("--only", default="", help="campaigns whose names have this in them")
    parser.add_argument("--minutes", type=float, default=90, help="no campaign begins after these")
    parser.add_argument("--write", action="store_true", help="put the table into docs/durability.md")
    parser.add_argument("--add", action="store_true", help="to what earlier shares found, in benchmarks/data")
    asked = parser.parse_args()
    os.environ |= {"HARDWON_EXPERIMENT": "off", "HARDWON_FUSION_WEIGHT": "0"}
    if asked.write and not asked.add:
        SHARES.unlink(missing_ok=True)
    began = time.monotonic()
    failed = False
    for name, (run, trials) in CAMPAIGNS.items():
        if asked.only in name and time.monotonic() - began < 60 * asked.minutes:
            found = run(max(1, round(trials * asked.share)), asked.seed)
            print(f"seed {asked.seed}, {time.monotonic() - began:.0f} s: {name}: {found}", flush=True)
            failed |= bool(found.lost or found.twice or found.alarms)
            if asked.write or asked.add:
                keep(name, asked.seed, found)
            if asked.write:
                put_into_page()
    sys.exit(failed)


if __name__ == "__main__":
    main()
