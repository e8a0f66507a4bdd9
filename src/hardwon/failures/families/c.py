"""C and C++: the compilers, the linkers, CMake, make and ninja."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import tail

_SOURCE = r"(?P<file>[^\s:]+\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|m|mm|cu|s|S|swift|ixx|proto))"
_RULES: tuple[Rule, ...] = (
    ("missing header", "fatal error: ",
     r"^.*?fatal error: (?P<message>'?[\w./+-]+'?):? (?:No such file or directory|file not found)"),
    ("error", "error: ", rf"^{_SOURCE}:\d+(?::\d+)?: (?:fatal )?error: (?P<message>.+?)(?: \[-W[\w=+-]+\])?$"),
    ("error", "error: ",
     r"^\S*(?:cc|[cg]\+\+|clang)(?:\+\+)?(?:-\d+)?: (?:fatal )?error: (?!linker|ld returned)(?P<message>.+)$"),
    ("link failed", "collect2: error", r"^collect2(?:\.exe)?: error: (?P<message>ld returned \d+ exit status)$"),
    ("undefined reference", "undefined reference", r"undefined reference to [`'‘](?P<message>[^'’\n]+)['’]"),
    ("undefined reference", "Undefined symbols",
     r"^Undefined symbols for architecture \w+:\n\s+\"_?(?P<message>[^\"\n]+)\", referenced"),
    ("undefined reference", "undefined symbol",
     r"(?:ld\.lld|lld|ld64\.lld): error: undefined symbol: (?P<message>.+)$"),
    ("multiple definition", "multiple definition", r"multiple definition of [`'‘](?P<message>[^'’\n]+)['’]"),
    ("missing library", "cannot find -l", r"cannot find (?P<message>-l[\w.+-]+)"),
    ("missing library", "not found for -l", r"ld: library not found for (?P<message>-l[\w.+-]+)"),
    ("missing library", "ld: library '", r"ld: library '(?P<message>[\w.+-]+)' not found"),
    ("CMake Error", "CMake Error at",
     r"^CMake Error at (?P<file>[^:\n]+):\d+ \((?P<frame>\w+)\):\n\s+(?P<message>(?:.+\n){0,40}.*)"),
    ("CMake Error", "CMake Error: ", r"^CMake Error: (?P<message>.+)$"),
    ("no rule to make target", "No rule",
     r"^g?make(?:\[\d+\])?: \*\*\* No rule to make target ['`](?P<message>[^']+)'"),
    ("make", "*** No targets", r"^g?make(?:\[\d+\])?: \*\*\* (?P<message>No targets specified and no makefile found)"),
    ("make", "missing separator", r"^(?P<file>\S+):\d+: \*\*\* (?P<message>missing separator)"),
    ("make", ": *** ", r"^(?P<file>\S+):\d+: \*\*\* (?P<message>.+?)\.\s+Stop\.$"),
    ("ninja", "ninja: error", r"^ninja: error: (?P<message>.+)$"),
)  # fmt: skip
_PACKAGE = re.compile(
    r"package configuration file provided by \"([\w.-]+)\"|Could NOT find (\w+)|"
    r"Could not find a package .*?by \"([\w.-]+)\"",
    re.DOTALL,
)


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = " ".join(parts["message"].split())
    frame = tail(parts.get("file") or "")
    if name == "missing library":
        message = message.removeprefix("-l")
    if name == "missing header":
        message = "<" + message.strip("'") + ">"  # as it is included: the folder belongs to it
    elif name == "CMake Error" and parts.get("frame"):
        package = _PACKAGE.search(match.group())
        message = (
            f"{parts['frame']} '{next(filter(None, package.groups()))}'" if package else f"{parts['frame']}: {message}"
        )
    return Span("c", name, message, frame, match.group().strip())
