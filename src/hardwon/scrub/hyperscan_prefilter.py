"""The prefilter by hyperscan: one pass tells which rules a text can match, however many rules there are.

Hyperscan is given a simpler form of each pattern, which matches at least wherever the pattern does; the spans are
found by the pattern itself. So the results are those of the keyword prefilter, which is used where hyperscan is not
installed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from hardwon.scrub.marks import MARK_ENDS
from hardwon.scrub.prefilter import NOTHING, Hits, Settled
from hardwon.scrub.rule import Rule
from hardwon.text.paths import HOME_PROBE
from hardwon.text.visible import HIDDEN_PROBE

_POSSESSIVE = re.compile(r"(?<!\\)([*+?}])\+")
_BUT_MARKS = re.compile(rf"(\[\^(?:\\.|[^\]\\{MARK_ENDS}])*){MARK_ENDS}")
_GROUP_NAME = re.compile(r"\?P<\w+>")
_REPETITION = re.compile(r"\{(\d+),(\d+)\}")
_MAX_REPETITIONS = 16
_ATOM = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\x\{\w+\}|\\.|.", re.S)
_OPEN_END = re.compile(r"[*+]|\{\d+,\}")
_SPECIAL = (HOME_PROBE, HIDDEN_PROBE)
_NONE: set[int] = set()
_ONLY_EMAILS = Hits(emails=True)
_HIDDEN, _HOMES = Hits(hidden=True), Hits(homes=True)


def probe(rule: Rule) -> str:
    """The rule's pattern, made simpler and wider for hyperscan."""
    if rule.probe:
        return rule.probe
    wider = _POSSESSIVE.sub(r"\1", rule.source)
    wider = wider.replace("(?!(?P=quote))", "").replace("(?P=quote)", "[\"'`]").replace("(?(quote)", "(?:")
    wider = wider.replace("(?(1)", "(?:").replace(r"\Z", "$")
    wider = _BUT_MARKS.sub(r"\1", _GROUP_NAME.sub("", wider))
    return _REPETITION.sub(_open_ended, wider)


def _open_ended(found: re.Match[str]) -> str:
    return found[0] if int(found[2]) <= _MAX_REPETITIONS else f"{{{found[1]},}}"


@cache
def installed() -> bool:
    """Whether there is a hyperscan: an extra, and not every machine has a wheel of it."""
    return find_spec("hyperscan") is not None


def file_name(rules: Sequence[Rule]) -> str:
    """What the compiled patterns of these very rules are called in a cache."""
    return f"scrub-{hashlib.blake2b(repr(_expressions(rules)).encode(), digest_size=8).hexdigest()}.hs"


class HyperscanPrefilter:
    """Compiles the patterns (seconds), or loads them from `kept_in` (milliseconds), where they are then kept."""

    def __init__(self, rules: Sequence[Rule], kept_in: Path | None = None) -> None:
        import hyperscan

        self._homes, self._hidden = len(rules), len(rules) + 1
        self._database = _database(rules, kept_in / file_name(rules) if kept_in else None)
        self._database.scratch = hyperscan.Scratch(self._database)
        self._lock = Lock()  # a scratch space serves one scan at a time
        self._found: set[int] = set()
        # Most texts are short, and to look these up for each of them takes as long as to scan a hundred bytes.
        self._scan = self._database.scan
        self._notes = {"": self._note_until_unsettled, "homes": self._note_until_hidden, "all": self._note}
        self._stopped: type[Exception] = hyperscan.ScanTerminated

    def hits(self, text: str, settled: Settled = "") -> Hits:
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return _HIDDEN
        found = _NONE
        with self._lock:
            try:
                self._scan(data, self._notes[settled])
            except self._stopped:
                found, self._found = self._found, set()
                return _HIDDEN if self._hidden in found else _HOMES
            if self._found:
                found, self._found = self._found, set()
        emails = "@" in text
        if not found:
            return _ONLY_EMAILS if emails else NOTHING
        return Hits(sorted(number for number in found if number < self._homes), emails)

    def _note(self, number: int, *_: object) -> None:
        self._found.add(number)

    def _note_until_unsettled(self, number: int, *_: object) -> bool:
        """True stops the scan: what is to be cleaned first is scanned again anyway."""
        self._found.add(number)
        return number >= self._homes

    def _note_until_hidden(self, number: int, *_: object) -> bool:
        self._found.add(number)
        return number == self._hidden


Expressions = tuple[tuple[str, bool], ...]


def _expressions(rules: Sequence[Rule]) -> Expressions:
    """(pattern, whether case does not matter) of every rule, and of what is no rule."""
    return (*((probe(rule), rule.any_case) for rule in rules), *((pattern, False) for pattern in _SPECIAL))


def _database(rules: Sequence[Rule], stored: Path | None) -> Any:
    import hyperscan

    if stored and stored.exists():
        try:
            return hyperscan.loadb(stored.read_bytes(), hyperscan.HS_MODE_BLOCK)
        except hyperscan.error:  # of another version or processor, or damaged
            stored.unlink(missing_ok=True)
    database = _compiled(_expressions(rules))
    if stored:
        _keep(stored, hyperscan.dumpb(database))
    return database


def _compiled(expressions: Sequence[tuple[str, bool]]) -> Any:
    import hyperscan

    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_MULTILINE
    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode() for pattern, _ in expressions],
        ids=list(range(len(expressions))),
        flags=[
            flags
            | (hyperscan.HS_FLAG_CASELESS if any_case else 0)
            | (0 if _reads_bytes(pattern) else hyperscan.HS_FLAG_UTF8)
            for pattern, any_case in expressions
        ],
    )
    return database


def _reads_bytes(pattern: str) -> bool:
    """Whether in bytes it matches at least what it matches in characters; then hyperscan is nearly twice as fast.

    So it does if what can match beyond ASCII may be repeated without end: such a character is several bytes.
    """
    return all(
        not _is_beyond_ascii(atom[0]) or _OPEN_END.match(pattern, atom.end()) for atom in _ATOM.finditer(pattern)
    )


def _is_beyond_ascii(atom: str) -> bool:
    return not atom.isascii() or atom == "." or atom.startswith("[^") or bool(re.search(r"\\[SWDx]", atom))


def _keep(path: Path, data: bytes) -> None:
    """All of it or nothing, whoever else is writing the same; without a place for it, nothing."""
    part = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
