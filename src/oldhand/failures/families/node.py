"""Node: errors with their stack, and what npm and pnpm say."""

from __future__ import annotations

import re

from oldhand.failures.families.span import LIBRARY, Span
from oldhand.text.paths import base_name

_ERROR = re.compile(r"^(?:Uncaught )?\[?((?:[A-Z]\w*)?Error(?: \[[A-Z_]+\])?): (.+?)\]?$", re.MULTILINE)
_FRAME = re.compile(r"^\s+at (?:(?:async )?(\S+) \()?(?:file://)?([^\s():]+):\d+:\d+\)?$", re.MULTILINE)
_NPM_CODE = re.compile(r"^npm (?:ERR!|error) code (\w+)$", re.MULTILINE)
_NPM_LINE = re.compile(r"^npm (?:ERR!|error) (?!code |path |A complete log|\s*$)(.+)$", re.MULTILINE)
_PNPM = re.compile(r"^\s?\u2009?(ERR_PNPM_\w+)\u2009?\s+(.+)$", re.MULTILINE)


def find(text: str) -> Span | None:
    if pnpm := _PNPM.search(text):
        return Span("npm", pnpm.group(1), pnpm.group(2), "", pnpm.group().strip())
    if npm := _NPM_LINE.search(text):
        code = _NPM_CODE.search(text)
        return Span("npm", code.group(1) if code else "error", npm.group(1), "", npm.group())
    found = _ERROR.search(text)
    if not found:
        return None
    frames = [frame for frame in _FRAME.finditer(text) if not re.search(LIBRARY, frame.group(2))]
    place = f"{base_name(frames[0].group(2))} {frames[0].group(1) or ''}".strip() if frames else ""
    return Span("node", found.group(1), found.group(2), place, found.group())
