"""pytest: the first `E` line, and the first failed test."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span
from oldhand.text.paths import base_name

_MARKS = re.compile(
    r"^(?:=+ (?:FAILURES|ERRORS|short test summary info|test session starts) =+|FAILED \S+::|ERROR \S+\.py)",
    re.MULTILINE,
)
_LINE = re.compile(r"^E {2,}(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Warning|Failed)): ?(.*)$", re.MULTILINE)
_ASSERTED = re.compile(r"^E {2,}(.+)$", re.MULTILINE)
_SUMMARY = re.compile(
    r"^(?:FAILED|ERROR) (\S+?)(?: - (?:[\w.]+\.)?(?:(\w+(?:Error|Exception|Exit|Failed))(?:: ?(.*))?|.*))?$",
    re.MULTILINE,
)


def find(text: str) -> Span | None:
    if not _MARKS.search(text):
        return None
    summary = _SUMMARY.search(text)
    line = _LINE.search(text)
    if line:
        error_type, message = line.group(1), line.group(2)
    elif summary and summary.group(2):
        error_type, message = summary.group(2), summary.group(3) or ""
    elif asserted := _ASSERTED.search(text):
        error_type, message = "AssertionError", asserted.group(1)
    elif summary:
        error_type, message = "failed", ""
    else:
        return None
    # An import fails wherever it is imported first: the test it hits says nothing.
    anywhere = error_type in ("ModuleNotFoundError", "ImportError")
    frame = "" if anywhere or not summary else _test_name(summary.group(1))
    shown = line.group() if line else f"{error_type}: {message}".rstrip(": ")
    return Span("pytest", error_type, message, frame, f"{shown}\n{summary.group() if summary else ''}".strip())


def _test_name(test: str) -> str:
    path, _, name = test.partition("::")
    return f"{base_name(path)} {name.split('[')[0]}".strip()
