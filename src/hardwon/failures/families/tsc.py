"""The TypeScript compiler: its first error."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span, bare, module
from hardwon.text.normalise import tail

_ERROR = re.compile(
    r"^(?:(?P<file>\S.*?)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) )?error (?P<code>TS\d+): (?P<message>.+)$", re.MULTILINE
)
_MODULE = re.compile(r"(Cannot find module|Could not find a declaration file for module) '([^']+)'")


def find(text: str) -> Span | None:
    found = _ERROR.search(text)
    if not found:
        return None
    message = found.group("message")
    if missing := _MODULE.match(message):
        name = missing.group(2)
        frame = "" if bare(name) else tail(found.group("file") or "")
        return Span("tsc", found.group("code"), f"{missing.group(1)} {module(name)}", frame, found.group())
    return Span("tsc", found.group("code"), message, tail(found.group("file") or ""), found.group())
