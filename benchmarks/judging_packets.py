"""What somebody else judges, written without being shown: error lines, and fixes with both ends.

    python -m benchmarks.judging_packets OUT [--tune] [--seed N] [--most N]

Each look-once project (`--tune`: each of the others) is harvested whole, as the user's own, into a store that is thrown
away. OUT/errors/packet.jsonl has at most `--most` (200) error lines as a briefing tells them, evenly from the projects:
the line, its command, and the end of the output that it is from, with what stands around it further above.
OUT/fixes/packet.jsonl has every fix that is told and, marked apart, every one that is held back: the error, the fix as
it is told, the failing call and the end of what it printed, all that was done until the passing call, and that call.
Only counts are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.benign import projects
from benchmarks.error_lines import _as_told, _calls
from hardwon.api import Hardwon
from hardwon.briefing.foreseen import _not_told, best_fix
from hardwon.failures.turns import Turn
from hardwon.store import failures
from hardwon.store.database import Database
from hardwon.text.shown import remedy

_END_CHARACTERS, _AROUND_CHARACTERS, _COMMAND_CHARACTERS = 2_500, 600, 600
_STEP_CHARACTERS, _MOST_STEPS = 240, 30

Packet = dict[str, Any]


def of_project(folder: Path) -> tuple[list[Packet], list[Packet]]:
    """(error lines, fixes)"""
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest([folder], mine=True)
        db = memory.reading()
        names = [project for (project,) in db.query("SELECT id FROM project ORDER BY id")]
        lines = [one for project in names for one in _lines(db, project)]
        fixes = [one for project in names for one in _fixes(db, project)]
    return lines, fixes


def _lines(db: Database, project: str) -> Iterator[Packet]:
    for one in failures.likely(db, project, 100_000):
        if _not_told(one.row.error, one.row.signature, one.row.family, one.row.command):
            continue
        source, path, position, excerpt, command = db.query(
            "SELECT o.source, s.path, o.position, o.excerpt, o.command FROM occurrence o "
            "JOIN session s ON s.id = o.source WHERE o.failure = ? AND o.project = ? "
            "ORDER BY o.words = ? DESC, o.at DESC, o.position DESC LIMIT 1",
            (one.row.id, project, one.row.error),
        )[0]
        calls = _calls(str(Path(path).expanduser()), source)
        raw = calls[position].output if position < len(calls) else excerpt
        shown = _as_told(one.row)
        yield {
            "id": _id(project, one.row.id, shown),
            "shown": shown,
            "command": command[:_COMMAND_CHARACTERS],
            "output": _end(raw, excerpt),
        }


def _end(raw: str, excerpt: str) -> str:
    at = max((raw.find(line.strip()[:60]) for line in excerpt.strip().split("\n") if line.strip()), default=-1)
    end = raw[-_END_CHARACTERS:]
    if 0 <= at < len(raw) - _END_CHARACTERS:
        start = max(0, at - _AROUND_CHARACTERS // 2)
        end = f"{raw[start : start + _AROUND_CHARACTERS]}\n[…]\n{end}"
    return end.strip()


def _fixes(db: Database, project: str) -> Iterator[Packet]:
    known = failures.likely(db, project, 100_000)
    fixes = failures.fixes(db, [one.row.id for one in known], project)
    for one in known:
        told = best_fix(fixes[one.row.id])
        for fix in fixes[one.row.id]:
            for source, position, passing in db.query(
                "SELECT source, position, passing FROM fix_evidence WHERE fix = ? ORDER BY at DESC, source LIMIT 1",
                (fix.id,),
            ):
                path = db.query("SELECT path FROM session WHERE id = ?", (source,))[0][0]
                calls = _calls(str(Path(path).expanduser()), source)
                failed = calls[position]
                passed = next((at for at in range(position + 1, len(calls)) if _is(calls[at], passing)), position)
                yield {
                    "id": _id(project, one.row.id, fix.id),
                    "told": fix is told,
                    "held back because": "" if fix is told else fix.untrusted or fix.status,
                    "sessions": fix.confirmed,
                    "error": _as_told(one.row),
                    "fix as told": remedy(fix.steps, fix.succeeded_as),
                    "failing call": _said(failed)[: 4 * _STEP_CHARACTERS],
                    "failing output tail": failed.output[-_END_CHARACTERS:],
                    "steps": [_step(turn) for turn in calls[position + 1 : passed]][-_MOST_STEPS:],
                    "passing call": passing[: 4 * _STEP_CHARACTERS],
                }


def _is(turn: Turn, command: str) -> bool:
    return turn.succeeded and " ".join(turn.call.command.split())[:80] == " ".join(command.split())[:80]


def _step(turn: Turn) -> str:
    return f"{turn.result.outcome if turn.result else 'none'}: {_said(turn)[:_STEP_CHARACTERS]}"


def _said(turn: Turn) -> str:
    return " ".join((turn.call.command or f"{turn.call.action} {turn.call.target} {turn.call.detail}").split())


def _id(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=5).hexdigest()


def evenly(lanes: Iterable[list[Packet]], most: int, seed: int) -> list[Packet]:
    chance = random.Random(seed)
    mixed = [chance.sample(lane, len(lane)) for lane in lanes]
    chosen = [one for row in itertools.zip_longest(*mixed) for one in row if one is not None][:most]
    return chance.sample(chosen, len(chosen))


def _write(folder: Path, packets: list[Packet]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "packet.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in packets))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=200)
    asked = parser.parse_args()
    found = [of_project(folder) for folder in projects("tune" if asked.tune else "look-once")]
    lines = evenly((lines for lines, _ in found), asked.most, asked.seed)
    fixes = [one for _, each in found for one in each]
    _write(asked.out / "errors", lines)
    _write(asked.out / "fixes", fixes)
    told = sum(one["told"] for one in fixes)
    every = sum(len(each) for each, _ in found)
    print(
        f"{len(lines)} error lines of {every}; {told} fixes told, {len(fixes) - told} held back; {len(found)} projects"
    )


if __name__ == "__main__":
    main()
