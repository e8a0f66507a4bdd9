"""Damaged stores: every repair ends with what was there, or says what is missing."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

from benchmarks.faults.trial import WRITES, Outcome, attempts, each, new_home, text_of, write
from hardwon import Hardwon, HardwonError
from hardwon.store.integrity import content_hash

SQLITE_PAGE = 4096


def make_sessions(folder: Path, count: int, named: str = "s") -> None:
    """Transcripts enough to fill pages of every table."""
    folder.mkdir(parents=True)
    for number in range(count):
        said = {"sessionId": f"{named}{number}", "cwd": f"/gone/{('reef', 'tide')[number % 2]}", "version": "2.1.19"}
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
            use = {"type": "tool_use", "id": f"t{named}{number}-{call}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": failed}
            lines.append({"type": "assistant", "message": {"id": f"m{call}", "role": "assistant", "content": [use]}})
            lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
        for at, line in enumerate(lines):
            line |= {**said, "uuid": f"{named}{number}-{at}", "timestamp": f"{stamp}:{at:02}Z"}
        (folder / f"{named}{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def damage(raw: bytes, chance: random.Random) -> bytes:
    """A page of zeros or of rubbish, a flipped bit anywhere, one in the first bytes, one in what is said of tables."""
    hurt = bytearray(raw)
    kind = chance.choice(("zeros", "rubbish", "bit", "header", "schema"))
    if kind in ("zeros", "rubbish"):
        at = chance.randrange(1, len(raw) // SQLITE_PAGE) * SQLITE_PAGE
        hurt[at : at + SQLITE_PAGE] = bytes(SQLITE_PAGE) if kind == "zeros" else chance.randbytes(SQLITE_PAGE)
    else:
        said = chance.choice([found.start() for found in re.finditer(rb"CREATE (TABLE|INDEX)", raw)])
        begin, end = {"bit": (0, len(raw)), "header": (0, 100), "schema": (said, said + 200)}[kind]
        hurt[chance.randrange(begin, end)] ^= 1 << chance.randrange(8)
    return bytes(hurt)


def damaged_stores(trials: int, seed: int) -> Outcome:
    """A store of harvested sessions and of what people wrote."""
    with new_home() as home:
        folder = home.parent / "sessions"
        make_sessions(folder, 60)
        with Hardwon(home) as memory:
            memory.harvest([folder], mine=True)
            for number in range(WRITES):
                write(memory, number)
            raw, fresh = Path(memory.store.backup().file).read_bytes(), content_hash(memory.reading())

        def run(trial: int) -> Outcome:
            shutil.rmtree(home)
            home.mkdir()
            (home / "hardwon.db").write_bytes(damage(raw, random.Random(f"{seed} {trial}")))
            return repaired(home, fresh)

        return each(trials, seed, run)


def repaired(home: Path, fresh: str) -> Outcome:
    """What a repair leaves; what it says to be missing is not lost without a word."""
    short: list[str] = []
    with Hardwon(home) as memory:
        try:
            if not memory.store.healthy():
                short = memory.store.repair().short
        except HardwonError as error:
            return Outcome(1, WRITES, said=1) if "restore" in str(error) else Outcome(1, WRITES, alarms=1)
        healthy, same = memory.store.healthy(), content_hash(memory.reading()) == fresh
        written = attempts(memory)
    gone = sum(not written[text_of(number)] for number in range(WRITES))
    silent = 0 if same or short else max(1, gone)
    twice = sum(written[text_of(number)] > 1 for number in range(WRITES))
    return Outcome(1, WRITES, silent, twice, int(not healthy), int(bool(short)))
