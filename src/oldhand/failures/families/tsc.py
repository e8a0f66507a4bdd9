"""The TypeScript compiler: its first error."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span
from oldhand.text.paths import base_name

_ERROR = re.compile(r"^(.+?)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) error (TS\d+): (.+)$", re.MULTILINE)


def find(text: str) -> Span | None:
    found = _ERROR.search(text)
    if not found:
        return None
    return Span("tsc", found.group(2), found.group(3), base_name(found.group(1)), found.group())
