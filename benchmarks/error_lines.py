"""A blind sample of error lines for somebody else to judge: the line as it is shown, the command, the raw output.

    python -m benchmarks.error_lines OUT FOLDER... [--seed N] [--most N]

Each folder is harvested whole, as the user's own, into a store that is thrown away. Of every line that a briefing or a
hook could show, at most `--most` (200) are drawn with `--seed` (1), evenly from the folders as far as they have any.
OUT/errors_blind.txt is what the judge reads (an id, LINE, COMMAND, RAW OUTPUT), OUT/errors.jsonl the same for programs.
The questions: would an engineer who was not there understand the line; does it say what failed; is it the cause?
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from hardwon.api import Hardwon
from hardwon.briefing.foreseen import _not_told, _speaker
from hardwon.failures.ledger import read
from hardwon.failures.turns import Turn, turns
from hardwon.store import failures
from hardwon.store.failures import FailureRow
from hardwon.store.sessions import session_id

_RAW_CHARACTERS = 3_000
_COMMAND_CHARACTERS = 600


def told(folder: str) -> Iterator[dict[str, object]]:
    """Every error line of a folder that could be shown, with the newest output that it is taken from."""
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest([folder], mine=True)
        db = memory.reading()
        for (project,) in db.query("SELECT id FROM project ORDER BY id"):
            for one in failures.likely(db, project, 100_000):
                if _not_told(one.row.error, one.row.signature, one.row.family, one.row.command):
                    continue
                source, path, position, excerpt, command = db.query(
                    "SELECT o.source, s.path, o.position, o.excerpt, o.command FROM occurrence o "
                    "JOIN session s ON s.id = o.source WHERE o.failure = ? AND o.project = ? "
                    "ORDER BY o.at DESC, o.position DESC LIMIT 1",
                    (one.row.id, project),
                )[0]
                calls = _calls(str(Path(path).expanduser()), source)
                raw = calls[position].output if position < len(calls) else excerpt
                line = {
                    "line": _as_told(one.row),
                    "command": command[:_COMMAND_CHARACTERS],
                    "output": _around(raw, excerpt),
                }
                id = hashlib.blake2b(json.dumps([folder, line]).encode(), digest_size=5).hexdigest()
                yield {"id": id, "folder": Path(folder).name, **line, "sessions": one.row.sessions}


@lru_cache(maxsize=64)
def _calls(path: str, source: str) -> list[Turn]:
    return next((turns(one) for one in read(Path(path)).sessions if session_id(one) == source), [])


def _as_told(row: FailureRow) -> str:
    """The error behind the command that it is of, as a briefing has it."""
    said = _speaker(row) if not row.error.startswith("`") else ""
    return f"`{said}{' hook' if row.family == 'hook' else ''}`: {row.error}" if said else row.error


def _around(raw: str, excerpt: str) -> str:
    """As much of the output as can be read, about the place that the line is from."""
    at = max((raw.find(line.strip()[:60]) for line in excerpt.strip().split("\n")), default=0)
    start = max(0, min(at - _RAW_CHARACTERS // 3, len(raw) - _RAW_CHARACTERS)) if at > _RAW_CHARACTERS * 2 // 3 else 0
    return raw[start : start + _RAW_CHARACTERS].strip()


def drawn(folders: list[str], most: int, seed: int) -> list[dict[str, object]]:
    chance = random.Random(seed)
    lanes = [list(told(folder)) for folder in folders]
    for lane in lanes:
        chance.shuffle(lane)
    evenly = (line for row in itertools.zip_longest(*lanes) for line in row if line is not None)
    chosen = list(itertools.islice(evenly, most))
    chance.shuffle(chosen)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=200)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    chosen = drawn(asked.folders, asked.most, asked.seed)
    (asked.out / "errors.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in chosen))
    (asked.out / "errors_blind.txt").write_text(
        "".join(
            f"=== {one['id']}\nLINE: {one['line']}\nCOMMAND: {one['command']}\nRAW OUTPUT:\n{one['output']}\n"
            for one in chosen
        )
    )
    print(f"{len(chosen)} lines of {len(asked.folders)} folders in {asked.out}")


if __name__ == "__main__":
    main()
