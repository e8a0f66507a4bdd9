"""Outputs of tools that we wrote, with the error that each shows, rendered as several machines would print them.

`outputs/*.txt` holds blocks: `@@ family label`, then the text; `@@ or` begins another wording of the same error.
What differs from run to run is written as `«root»`, `«line»`, `«port»`… and filled in when a block is rendered.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "outputs"
HELD_OUT = "heldout"
"""Written before any rule for it was."""

_SLOT = re.compile("«([a-z0-9]+)»")
_HEX = "0123456789abcdef"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Block(NamedTuple):
    """One error, in one wording."""

    family: str
    label: str
    text: str
    file: str


class Labelled(NamedTuple):
    """One output, and the name of the error it shows."""

    family: str
    label: str
    variant: str
    output: str
    file: str


class Machine(NamedTuple):
    user: str
    home: str
    root: str
    tmp: str
    host: str


_MACHINES = (
    Machine("ann", "/home/ann", "/home/ann/src/tide", "/tmp/tmpk3j9x2ab", "tern"),
    Machine(
        "bob.lee", "/Users/bob.lee", "/Users/bob.lee/work/t2", "/var/folders/9x/k2/T/tmp8fja0w", "Bobs-MacBook.local"
    ),
    Machine("runner", "/home/runner", "/home/runner/work/tide/tide", "/tmp/pytest-of-runner/pytest-7", "fv-az1024-331"),
    Machine("root", "/root", "/workspace/checkout-4711", "/tmp/build.Xq81zz", "3f9c1d2e8b7a"),
)


def blocks(file: str = "*") -> list[Block]:
    found: list[Block] = []
    for path in sorted(FOLDER.glob(f"{file}.txt")):
        family = label = ""
        for part in path.read_text(encoding="utf-8").split("@@ ")[1:]:
            head, _, text = part.partition("\n")
            if head != "or":
                family, label = head.split()
            found.append(Block(family, label, text.removesuffix("\n"), path.stem))
    return found


def labelled(file: str = "*") -> list[Labelled]:
    """Every block on every machine, each with another disguise."""
    return [
        Labelled(block.family, f"{block.family}/{block.label}", name, disguise(_filled(block, at)), block.file)
        for block in blocks(file)
        for at, (name, disguise) in enumerate(_disguises(block.family))
    ]


def _filled(block: Block, at: int) -> str:
    chance = random.Random(f"{block.label} {at} {len(block.text)}")
    machine = _MACHINES[at]
    return _SLOT.sub(lambda slot: _value(slot[1], machine, chance), block.text)


def _value(slot: str, machine: Machine, chance: random.Random) -> str:
    if slot in Machine._fields:
        return str(getattr(machine, slot))
    return _VALUES[slot](chance)


def _digits(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda chance: str(chance.randint(low, high))


def _drawn(letters: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(letters, k=length))


def _clock(chance: random.Random) -> str:
    return f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"


def _date(chance: random.Random) -> str:
    return f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def _uuid(chance: random.Random) -> str:
    return "-".join("".join(chance.choices(_HEX, k=length)) for length in (8, 4, 4, 4, 12))


_VALUES: dict[str, Callable[[random.Random], str]] = {
    "line": _digits(2, 900),
    "col": _digits(1, 90),
    "n": _digits(2, 99),
    "big": _digits(1000, 9_000_000),
    "port": _digits(3000, 9999),
    "pid": _digits(300, 99_999),
    "secs": lambda chance: f"{chance.uniform(0.01, 90):.2f}",
    "hex": _drawn(_HEX, 12),
    "sha": _drawn(_HEX, 40),
    "short": lambda chance: "a" + "".join(chance.choices(_HEX, k=5)) + str(chance.randint(0, 9)),
    "sha256": _drawn(_HEX, 64),
    "id": _uuid,
    "id6": _drawn(_LETTERS, 6),
    "id25": lambda chance: "7" + "".join(chance.choices(_LETTERS[:26] + "0123456789", k=24)),
    "clock": _clock,
    "date": _date,
    "time": lambda chance: f"{_date(chance)}T{_clock(chance)}.{chance.randint(100, 999)}Z",
    "stamp": lambda chance: f"{_date(chance)}T{_clock(chance).replace(':', '_')}_{chance.randint(100, 999)}Z",
}


def _as_is(text: str) -> str:
    return text + "\n"


def _coloured(text: str) -> str:
    """As on a terminal of Windows: every line in colour, the ends of lines in two characters."""
    return "\r\n".join(f"\x1b[1m\x1b[31m{line}\x1b[0m\x1b[K" if line.strip() else line for line in text.split("\n"))


def _noisy(text: str) -> str:
    """After warnings, progress bars and good news, in an agent's envelope."""
    return f"Error: Exit code 1\n{_NOISE}{text}\n"


def _cut_short(text: str) -> str:
    """The agent left out the middle of a long output."""
    head = "".join(f"[{at:>3}/400] building part_{at}.o\n" for at in range(1, 30))
    tail = "".join(f"[{at:>3}/400] building part_{at}.o\n" for at in range(390, 401))
    cut = "\n\n... [18345 characters truncated] ...\n\n"
    return f"Exit code: 1\nWall time: 2.4 seconds\nOutput:\n{head}{cut}{tail}{text}\n"


def _wrapped_by_agent(text: str) -> str:
    return text if text.startswith("<") else f"<tool_use_error>{text}</tool_use_error>"


_NOISE = (
    "(node:4242) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.\n"
    "(Use `node --trace-deprecation ...` to show where the warning was created)\n"
    "warning: in the working copy of 'notes.md', LF will be replaced by CRLF the next time Git touches it\n"
    "Fetching  12%\rFetching  57%\rFetching 100%\n"
    "WARN  3 deprecated subdependencies found: abab, glob, rimraf\n"
    "Finished checks: 0 errors, 0 failed\n"
)
_DISGUISES = (("plain", _as_is), ("coloured", _coloured), ("noisy", _noisy), ("cut", _cut_short))
# The agent's own tools speak alone.
_OF_AN_AGENT = (("plain", _as_is), ("wrapped", _wrapped_by_agent), ("exit", _as_is), ("again", _as_is))


def _disguises(family: str) -> tuple[tuple[str, Callable[[str], str]], ...]:
    return _OF_AN_AGENT if family == "agent" else _DISGUISES


class Score(NamedTuple):
    precision: float
    recall: float
    mixed: list[tuple[Labelled, Labelled]]
    """Pairs of different errors with one fingerprint."""
    split: list[tuple[Labelled, Labelled]]
    """Pairs of the same error with two fingerprints."""


def score(outputs: list[Labelled], ids: list[str], family: str = "") -> Score:
    """Over all pairs of which at least one is of the family; an id of "" is never the same as another."""
    same = right = 0
    mixed: list[tuple[Labelled, Labelled]] = []
    split: list[tuple[Labelled, Labelled]] = []
    for (one, one_id), (other, other_id) in _pairs(list(zip(outputs, ids, strict=True))):
        if family and family not in (one.family, other.family):
            continue
        together = one_id == other_id != ""
        if one.label == other.label:
            same += 1
            right += together
            if not together:
                split.append((one, other))
        elif together:
            mixed.append((one, other))
    return Score(right / (right + len(mixed) or 1), right / (same or 1), mixed, split)


def _pairs(rows: list[tuple[Labelled, str]]) -> Iterator[tuple[tuple[Labelled, str], tuple[Labelled, str]]]:
    """Only pairs that can count: of one label or of one id."""
    by_label: dict[str, list[int]] = {}
    by_id: dict[str, list[int]] = {}
    for at, (output, id) in enumerate(rows):
        by_label.setdefault(output.label, []).append(at)
        by_id.setdefault(id, []).append(at)
    wanted = {
        (one, other)
        for group in (*by_label.values(), *(members for id, members in by_id.items() if id))
        for place, one in enumerate(group)
        for other in group[place + 1 :]
    }
    for one, other in sorted(wanted):
        yield rows[one], rows[other]
