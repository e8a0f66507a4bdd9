"""Patterns as Python's engine compiled them, kept beside the bytecode of the modules that have them.

To compile the thousand that a harvest needs takes an eighth of a second in each of its processes, and what hyperscan
makes of our words half as long; to read them again takes a hundredth. Only patterns of our own source are kept, never
one that was made of somebody's text.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from array import array
from contextlib import suppress
from importlib.util import cache_from_source
from typing import Any
from zlib import crc32

from hardwon.text import normalise

_WORTH_KEEPING = 50
"""So many new ones: a process more or less has met others."""

_OF_ANOTHER_ENGINE = -1
"""In place of flags."""

_kept: dict[tuple[str, int], Any] = {}
"""(source, flags) → what `_sre.compile` takes besides."""
_new = 0


def compiled(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, from what is kept; by it, where Python has other innards than those used here."""
    global _new  # noqa: PLW0603
    try:
        import _sre  # type: ignore[import-not-found] # noqa: PLC0415 - of CPython, as are the others here

        known = _kept.get((source, int(flags)))
        if known is None:
            _kept[source, int(flags)] = known = _made(source, int(flags))
            _new += 1
        all_flags, code, *others = known
        found: re.Pattern[str] = _sre.compile(source, all_flags, memoryview(code).cast("I").tolist(), *others)
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        return re.compile(source, flags)
    return found


def known(name: str) -> bytes | None:
    """What another engine made of words of ours, and was noted under this name."""
    found: bytes | None = _kept.get((name, _OF_ANOTHER_ENGINE))
    return found


def note(name: str, made: bytes) -> None:
    global _new  # noqa: PLW0603
    _kept[name, _OF_ANOTHER_ENGINE] = made
    _new += _WORTH_KEEPING


def use_kept() -> None:
    """From now on, in this process: worth it where hundreds are needed. Another Python than CPython compiles on."""
    if normalise.compiled is compiled or sys.implementation.name != "cpython":
        return
    normalise.compiled = compiled  # type: ignore[assignment]
    try:
        with open(_place(), "rb") as file:
            about, check, content = marshal.load(file)  # noqa: S302 - who may write there may write bytecode
        if about == _this_python() and check == crc32(content):
            _kept.update(marshal.loads(content))  # noqa: S302
    except (OSError, ValueError, TypeError, EOFError):  # not there yet, or damaged
        pass


def keep() -> None:
    """Keep what was compiled since, if it is worth it, where Python may keep bytecode."""
    global _new  # noqa: PLW0603
    if _new < _WORTH_KEEPING or sys.dont_write_bytecode:
        return
    _new = 0
    content = marshal.dumps(dict(_kept))
    path = _place()
    part = f"{path}.{os.getpid()}"
    try:
        with open(part, "wb") as file:
            marshal.dump((_this_python(), crc32(content), content), file)
        os.replace(part, path)
    except OSError:  # a folder of somebody else's, or a full disk
        with suppress(OSError):
            os.unlink(part)


def _place() -> str:
    """Beside the bytecode of this module, where no other version of Python looks."""
    return f"{cache_from_source(__file__).removesuffix('.pyc')}.kept"


def _this_python() -> str:
    """What makes the compiler another one."""
    import _sre  # noqa: PLC0415

    return f"{sys.version} {_sre.MAGIC} {_sre.CODESIZE}"


def _made(source: str, flags: int) -> tuple[Any, ...]:
    """As `re.compile` has it made, short of the last step."""
    from re import _compiler, _parser  # type: ignore[attr-defined] # noqa: PLC0415

    parsed = _parser.parse(source, flags)
    code = _compiler._code(parsed, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    return int(flags | state.flags), array("I", code).tobytes(), state.groups - 1, dict(state.groupdict), tuple(names)
