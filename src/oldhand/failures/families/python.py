"""Python tracebacks, and the bare last line of one."""

from __future__ import annotations

import re

from oldhand.failures.families.span import LIBRARY, Span
from oldhand.text.paths import base_name

_ERROR = re.compile(
    r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Timeout|NotFound|DoesNotExist)"
    r"|StopIteration)(?:: ?(.*))?$",
    re.MULTILINE,
)
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line \d+(?:, in (\S+))?', re.MULTILINE)
_HEAD = "Traceback (most recent call last)"


def find(text: str) -> Span | None:
    errors = list(_ERROR.finditer(text))
    if not errors:
        return None
    whole = _HEAD in text
    if not whole and (re.search(r"^\s+at .+[(:]", text, re.MULTILINE) or not (len(errors) == 1 or _FRAME.search(text))):
        return None  # a JavaScript stack, or a list of errors
    last = errors[-1]
    before = text[: last.start()].rpartition(_HEAD)[2]
    frames = [found for found in _FRAME.finditer(before) if not re.search(LIBRARY, found.group(1))]
    frame = f"{base_name(frames[-1].group(1))} {frames[-1].group(2) or ''}".strip() if frames else ""
    place = frames[-1].group().strip() + "\n" if frames else ""
    return Span("python", last.group(1), last.group(2) or "", frame, place + last.group())
