"""The TypeScript compiler: its first error."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span, bare
from oldhand.text.normalise import tail

_ERROR = re.compile(
    r"^(?:(?P<file>\S.*?)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) )?error (?P<code>TS\d+): (?P<message>.+)$", re.MULTILINE
)
_MODULE = re.compile(r"(?:Cannot find module|Could not find a declaration file for module) '([^']+)'")


def find(text: str) -> Span | None:
    found = _ERROR.search(text)
    if not found:
        return None
    message = found.group("message")
    module = _MODULE.match(message)
    if module and bare(module.group(1)):
        return Span("tsc", found.group("code"), module.group(), "", found.group())
    return Span("tsc", found.group("code"), message, tail(found.group("file") or ""), found.group())
