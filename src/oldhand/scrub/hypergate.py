"""The gate by hyperscan: one pass tells which rules a text can match, a hundred megabytes a second.

Hyperscan is given a simpler form of each pattern, which matches at least wherever the pattern does; the spans are
found by the pattern itself. So the results are those of the keyword gate, which is used where hyperscan is not
installed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from oldhand.scrub.gate import Hits, Page
from oldhand.scrub.personal import EMAIL_PROBE
from oldhand.scrub.rule import Rule
from oldhand.text.paths import HOME_PROBE
from oldhand.text.visible import HIDDEN_PROBE

try:
    import hyperscan
except ImportError:  # no wheel for this machine, or the extra is not installed
    hyperscan = None

AVAILABLE = hyperscan is not None
_POSSESSIVE = re.compile(r"(?<!\\)([*+?}])\+")
_GROUP_NAME = re.compile(r"\?P<\w+>")
_REPETITION = re.compile(r"\{(\d+),(\d+)\}")
_LONGEST_REPETITION = 16
_SPECIAL = (EMAIL_PROBE, HOME_PROBE, HIDDEN_PROBE)
_NOTHING = Hits()


def probe(rule: Rule) -> str:
    """The rule's pattern, made simpler and wider for hyperscan."""
    wider = _POSSESSIVE.sub(r"\1", rule.probe or rule.pattern.pattern)
    wider = wider.replace("(?!(?P=quote))", "").replace("(?P=quote)", "[\"'`]").replace("(?(quote)", "(?:")
    wider = wider.replace("(?(1)", "(?:").replace(r"\Z", "$")
    wider = _GROUP_NAME.sub("", wider)
    return _REPETITION.sub(_open_ended, wider)


def _open_ended(found: re.Match[str]) -> str:
    return found[0] if int(found[2]) <= _LONGEST_REPETITION else f"{{{found[1]},}}"


class HyperscanGate:
    def __init__(self, rules: Sequence[Rule], cache: Path | None = None) -> None:
        self._count = len(rules)
        self._database = _database(tuple(map(_expression, rules)), cache)
        self._scratch = hyperscan.Scratch(self._database)
        self._database.scratch = self._scratch

    def hits(self, page: Page) -> Hits:
        found: set[int] = set()
        try:
            data = page.text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return Hits(hidden=True)
        self._database.scan(data, match_event_handler=lambda number, *_: found.add(number))
        if not found:
            return _NOTHING
        emails, homes, hidden = (self._count + number in found for number in range(len(_SPECIAL)))
        return Hits(sorted(number for number in found if number < self._count), emails, homes, hidden)


def _expression(rule: Rule) -> tuple[str, bool]:
    return probe(rule), rule.any_case


@lru_cache(maxsize=4)
def _database(expressions: tuple[tuple[str, bool], ...], cache: Path | None) -> Any:
    everything = [*expressions, *((pattern, False) for pattern in _SPECIAL)]
    name = hashlib.blake2b(repr((hyperscan.__version__, everything)).encode(), digest_size=8).hexdigest()
    stored = cache / f"scrub-{name}.hs" if cache else None
    if stored and stored.exists():
        try:
            return hyperscan.loadb(stored.read_bytes(), hyperscan.HS_MODE_BLOCK)
        except hyperscan.HyperscanError:  # of another processor, or damaged
            pass
    database = _compiled(everything)
    if stored:
        _keep(stored, hyperscan.dumpb(database))
    return database


def _compiled(expressions: Sequence[tuple[str, bool]]) -> Any:
    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_UTF8
    flags |= hyperscan.HS_FLAG_MULTILINE
    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode() for pattern, _ in expressions],
        ids=list(range(len(expressions))),
        flags=[flags | (hyperscan.HS_FLAG_CASELESS if any_case else 0) for _, any_case in expressions],
    )
    return database


def _keep(path: Path, data: bytes) -> None:
    """All of it or nothing, whoever else is writing the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
