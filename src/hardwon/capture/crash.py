"""Crash files: fifteen known keys, and of each only a value that is what the key says.

A list of allowed keys alone would let any text through as a value. Here every value has a form of its own; what
does not fit is refused field by field, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hardwon.clock import microseconds, now
from hardwon.errors import NotAllowed
from hardwon.failures.fingerprint import Fingerprint
from hardwon.failures.signature import MAX_SIGNATURE_CHARACTERS

MAX_FILE_BYTES = 64 * 1024
PHASES = ("REASON", "ACT", "REFLECT", "VERIFY")
FRICTIONS = ("retry_loop", "rate_limit_loop", "gate_failure")
UNCLASSED = "IterationError"
NO_STORY = "iteration failed"

_MAX_FRAMES = 5
_MAX_SYMBOL_WORDS = 5
_MAX_SYMBOL_CHARACTERS = 48
_SYSTEMS = frozenset("linux darwin macos windows win32 freebsd openbsd netbsd sunos aix android cygwin".split())
_MACHINES = frozenset(
    "x86_64 amd64 x64 x86 i386 i686 ia32 arm64 aarch64 arm armv6l armv7l ppc64 ppc64le s390x riscv64 loong64".split()
)
_VERSION = re.compile(r"v?\d{1,5}(?:\.\d{1,6}){0,3}(?:-(?:alpha|beta|rc|dev|next|canary|nightly)(?:\.?\d{1,6})?)?")
_HEX = re.compile(r"[0-9a-f]{8,64}")
_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_SYMBOL = re.compile(r"[A-Za-z_$<][\w$.:<>-]*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(r"[A-Za-z][\w-]{0,31}", re.ASCII)
_MICROSECONDS_PER_DAY = 86_400_000_000


class Crash(Struct, frozen=True, kw_only=True):
    """What is left of a crash file. Empty is what was not there, or refused."""

    os: str = ""
    arch: str = ""
    loki_version: str = ""
    node_version: str = ""
    bun_version: str = ""
    error_class: str = ""
    stack_signature: tuple[str, ...] = ()
    rarv_phase: str = ""
    exit_code: int | None = None
    friction_kind: str = ""
    project_id_hash: str = ""
    fingerprint: str = ""
    rules_version: str = ""
    redactions_count: int | None = None
    captured_at: int | None = None
    unknown: int = 0
    """How many keys were dropped because nobody knows them."""
    refused: tuple[str, ...] = ()
    """The keys whose values, or parts of them, were not what they should be."""

    @property
    def kind(self) -> str:
        return self.error_class or self.friction_kind or UNCLASSED

    @property
    def story(self) -> str:
        """`phase=ACT; friction=gate_failure; signature: handler > parse; fp=0123456789ab`."""
        parts = [
            f"phase={self.rarv_phase}" if self.rarv_phase else "",
            f"friction={self.friction_kind}" if self.friction_kind else "",
            f"signature: {' > '.join(self.stack_signature)}" if self.stack_signature else "",
            f"exit code {self.exit_code}" if self.exit_code is not None and not self.stack_signature else "",
            f"fp={self.fingerprint[:12]}" if self.fingerprint else "",
        ]
        return "; ".join(part for part in parts if part) or NO_STORY

    @property
    def identity(self) -> Fingerprint:
        """Without a stack, phase, friction and exit code tell crashes apart: the class alone would make them one."""
        story = msgspec.structs.replace(self, fingerprint="").story
        return Fingerprint("crash", self.kind, story, "", f"{self.kind}: {self.story}")

    @property
    def shown(self) -> str:
        text = f"{self.kind}: {self.story}"
        return text if len(text) <= MAX_SIGNATURE_CHARACTERS else text[: MAX_SIGNATURE_CHARACTERS - 1].rstrip() + "…"


def read(content: bytes) -> Crash:
    """A crash file's content; what it cannot vouch for is left out. Raises NotAllowed where nothing is left."""
    if len(content) > MAX_FILE_BYTES:
        raise NotAllowed(f"not a crash file: larger than {MAX_FILE_BYTES // 1024} KB")
    try:
        given = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise NotAllowed("not a crash file: it is not a JSON object") from error
    values: dict[str, Any] = {}
    refused = []
    for key, check in _CHECKS.items():
        if given.get(key) in (None, "", []):
            continue
        values[key] = check(given[key])
        if values[key] is None or (key == "stack_signature" and len(values[key]) < len(_frames(given[key]))):
            refused.append(key)
    known = {key: value for key, value in values.items() if value is not None}
    if not known:
        raise NotAllowed("not a crash file: none of the known keys has a valid value")
    return Crash(**known, unknown=len(given.keys() - _CHECKS.keys()), refused=tuple(refused))


def read_file(path: Path) -> Crash:
    """The same for a file; when it was written stands for the time it does not tell."""
    with path.open("rb") as file:
        found = read(file.read(MAX_FILE_BYTES + 1))
    written = path.stat().st_mtime_ns // 1000
    return found if found.captured_at else msgspec.structs.replace(found, captured_at=written)


def plain(phase: str, exit_code: int | None) -> Crash:
    """What is known without a crash file."""
    return Crash(rarv_phase=phase if _NAME.fullmatch(phase) else "", exit_code=exit_code)


def _one_of(allowed: frozenset[str]) -> Callable[[Any], str | None]:
    return lambda value: value.lower() if isinstance(value, str) and value.lower() in allowed else None


def _like(pattern: re.Pattern[str]) -> Callable[[Any], str | None]:
    return lambda value: value if isinstance(value, str) and pattern.fullmatch(value) else None


def _number(lowest: int, highest: int) -> Callable[[Any], int | None]:
    def check(value: Any) -> int | None:
        return value if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest else None

    return check


def _phase(value: Any) -> str | None:
    return value.upper() if isinstance(value, str) and value.upper() in PHASES else None


def _class(value: Any) -> str | None:
    """The first word, if it is a name."""
    first = value.split(maxsplit=1)[0] if isinstance(value, str) and value.strip() else ""
    return first if _CLASS.fullmatch(first) and _is_short(first) else None


def _stack(value: Any) -> tuple[str, ...] | None:
    found = tuple(frame for frame in _frames(value) if _SYMBOL.fullmatch(frame) and _is_short(frame))
    return found or None


def _frames(value: Any) -> list[str]:
    parts = value.split(" > ") if isinstance(value, str) else value if isinstance(value, list) else []
    return [part if isinstance(part, str) else "" for part in parts[:_MAX_FRAMES]]


def _is_short(symbol: str) -> bool:
    """A name of a few words; a sentence without spaces is none."""
    return len(symbol) <= _MAX_SYMBOL_CHARACTERS and len(_WORD.findall(symbol)) <= _MAX_SYMBOL_WORDS


def _version(value: Any) -> str | None:
    return _like(_VERSION)(str(value) if isinstance(value, int | float) else value)


def _time(value: Any) -> int | None:
    stamp = microseconds(value)
    return stamp if stamp is not None and stamp <= now() + _MICROSECONDS_PER_DAY else None


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "os": _one_of(_SYSTEMS),
    "arch": _one_of(_MACHINES),
    "loki_version": _version,
    "node_version": _version,
    "bun_version": _version,
    "error_class": _class,
    "stack_signature": _stack,
    "rarv_phase": _phase,
    "exit_code": _number(-(2**31), 2**32),
    "friction_kind": _one_of(frozenset(FRICTIONS)),
    "project_id_hash": _like(_HEX),
    "fingerprint": _like(_HEX),
    "rules_version": _version,
    "redactions_count": _number(0, 10**9),
    "captured_at": _time,
}
