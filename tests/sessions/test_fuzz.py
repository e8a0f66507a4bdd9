"""Damage of every kind, by the thousand: nothing raises, and what is intact is found."""

from __future__ import annotations

import json
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from hardwon import NotASession
from hardwon.failures.ledger import inspected
from hardwon.sessions.discover import below
from hardwon.sessions.reader import Source, read, recognised
from hardwon.sessions.scan import summaries
from tests.conftest import EXAMPLES
from tests.sessions.every_format import WRITERS
from tests.sessions.test_specstory_forgery import LAYOUTS

MUTATED_LINES = int(os.environ.get("FUZZ_LINES", "3000"))
LINES_A_FILE = 200
BROKEN_FILES = 60
LARGEST_BROKEN_BYTES = 100_000


def mutated(line: bytes, chance: random.Random) -> bytes:
    """One of the ways in which lines were seen to break."""
    at = chance.randrange(1, len(line))
    kind = chance.randrange(7)
    if kind == 0:  # a power loss
        return line[:at] + b"\n"
    if kind == 1:  # a flipped bit
        return line[:at] + bytes([line[at] ^ (1 << chance.randrange(8))]) + line[at + 1 :]
    if kind == 2:  # blocks that were never written
        return line[:at] + b"\x00" * chance.randrange(1, 700) + b"\n"
    if kind == 3:  # cut off, and its whole repeat glued behind
        return line[:at] + line
    if kind == 4:  # bytes of a program's output
        return line[:at] + chance.randbytes(chance.randrange(1, 40)).replace(b"\n", b"") + line[at:]
    if kind == 5:  # nesting without end
        return b'{"a":' * chance.randrange(1, 3000) + b"\n"
    return line[:at] + b"\\ud800" + line[at:]


def test_mutated_lines_cost_no_intact_record_and_raise_nothing(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    lines = [
        line + b"\n"
        for path in below(EXAMPLES)
        for line in path.read_bytes().splitlines()
        if 10 < len(line) < 4000 and _is_record(line)
    ]
    intact = found = done = 0
    while done < MUTATED_LINES:
        kept, content = [], []
        for _ in range(LINES_A_FILE):
            line = chance.choice(lines)
            if chance.random() < 0.5:
                content.append(mutated(line, chance))
                done += 1
            else:
                content.append(line)
                kept.append(json.loads(line))
        path = tmp_path / "mutated.jsonl"
        path.write_bytes(b"".join(content))
        records = {json.dumps(record, sort_keys=True) for record in Source(path).records()}
        intact += len(kept)
        found += sum(json.dumps(record, sort_keys=True) in records for record in kept)
        for reading in (read, summaries, inspected):
            try:
                reading(path)
            except NotASession:
                continue
    assert intact > MUTATED_LINES / 2
    assert found / intact >= 0.9999, f"{intact - found} of {intact} intact records lost"


@pytest.mark.parametrize("format", WRITERS)
def test_files_of_every_format_with_broken_bytes_raise_nothing(format: str, tmp_path: Path) -> None:
    path = WRITERS[format](tmp_path, ["look around", "Always use tabs.", "> a\n\n```\nb\n```\n\n<ide_selection>c"])
    assert read(path).sessions[0].user_messages >= 2
    break_and_read(path, random.Random(format))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("head", ["as it is", "of old", "in a conflict", "none"])
def test_every_layout_of_specstory_with_broken_bytes_raises_nothing(layout: str, head: str, tmp_path: Path) -> None:
    written = LAYOUTS[layout]
    tools = "".join(printing(f"low\n---\n{layout}\n") for printing in written.tools.values())
    text = written.file(tools)
    path = tmp_path / "history.md"
    path.write_text(
        {
            "as it is": text,
            "of old": text.replace(written.head, "## SpecStory\n\n# Tides\n\n"),
            "in a conflict": f"<<<<<<< HEAD\n{text}=======\n{text}\n{text}>>>>>>> other\n",
            "none": text.replace(written.head, "# Tides\n\n"),
        }[head]
    )
    with suppress(NotASession):
        assert read(path).sessions[0].user_messages >= 2
    break_and_read(path, random.Random(layout + head))


def test_real_files_of_every_format_with_broken_bytes_raise_nothing(shared: Path, tmp_path: Path) -> None:
    """Also of those that nobody types into: trajectories, databases, exports."""
    smallest: dict[str, Path] = {}
    for path in sorted(below(shared / "transcripts"), key=lambda path: path.stat().st_size):
        if path.stat().st_size < LARGEST_BROKEN_BYTES:
            with suppress(NotASession):
                smallest.setdefault(recognised(Source(path)).NAME, path)
    assert len(smallest) >= 10
    for name, path in smallest.items():
        copy = tmp_path / name / path.name
        copy.parent.mkdir()
        copy.write_bytes(path.read_bytes())
        break_and_read(copy, random.Random(name))


def break_and_read(path: Path, chance: random.Random) -> None:
    whole = path.read_bytes()
    for _ in range(BROKEN_FILES):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(data))
            kind = chance.randrange(4)
            if kind == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                data[at : at + 64] = b"\x00" * 64
            elif kind == 2:
                data[at:at] = chance.randbytes(24)
            else:
                del data[at : at + chance.randrange(1, 200)]
        path.write_bytes(bytes(data or b"x"))
        for reading in (read, summaries, inspected):
            with suppress(NotASession):
                reading(path)


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
