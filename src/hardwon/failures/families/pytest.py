"""pytest: the first failed test and what it says of it; collection, fixtures and the command line."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span
from hardwon.text.normalise import tail

_MARKS = re.compile(
    r"^(?:=+ (?:FAILURES|ERRORS|short test summary info|test session starts) =+|FAILED \S+::|ERROR \S+\.py"
    r"|pytest: error: |E {3,}\S|ImportError while loading conftest)",
    re.MULTILINE,
)
_USAGE = re.compile(
    r"^(?:(?:\S*pytest|__main__\.py)(?:\.py)?: error: (.+)|ERROR: ((?:file or directory )?not found: .+))$",
    re.MULTILINE,
)
_TYPED = re.compile(
    r"(?:[\w.]+\.)?(Failed|[A-Z]\w*(?:Error|Exception|Exit|Warning|Failed|Interrupt|Timeout|NotFound)): ?(.*)"
)
_LINE = re.compile(r"^E {2,}(\S.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\S+(?:\[.*?\])?)?|\S+::\S+)(?: - (.*))?$", re.MULTILINE)
_PLACE = re.compile(r"^(\S+\.py):\d+: (?:[A-Z]\w+|in \S+)$", re.MULTILINE)
_HEADING = re.compile(r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S+)(?: _{3,})?$", re.MULTILINE)
_NOTHING = re.compile(r"^=* ?(no tests ran|\d+ deselected)\b", re.MULTILINE)


def find(text: str) -> Span | None:
    if usage := _USAGE.search(text):
        message = usage.group(1) or usage.group(2)
        return Span("pytest", "usage", message, "", usage.group())
    if not _MARKS.search(text):
        return None
    summary = _SUMMARY.search(text)
    said = summary.group(2) if summary else ""
    lines = [found.group(1) for found in _LINE.finditer(text)]
    told = _told(lines, said or "")
    if not told:
        nothing = _NOTHING.search(text) if not summary else None
        if nothing:
            return Span("pytest", "nothing", "no tests ran", "", nothing.group())
        if not summary:
            return None
    typed = _TYPED.fullmatch(told)
    error_type, message = (typed.group(1), typed.group(2)) if typed else ("AssertionError" if told else "failed", told)
    if told.startswith("fixture "):
        error_type = "fixture"
    # An import fails wherever it is imported first: the test it hits says nothing.
    frame = "" if error_type in ("ModuleNotFoundError", "ImportError") else _place(text, summary)
    return Span("pytest", error_type, message, frame, f"{told}\n{summary.group() if summary else ''}".strip())


def _told(lines: list[str], said: str) -> str:
    """The summary's words where they are whole; else the line of the report that begins like them, else the first."""
    if said and not said.endswith("..."):
        return said
    start = said.removesuffix("...")
    return next((line for line in lines if line.startswith(start)), start or (lines[0] if lines else ""))


def _place(text: str, summary: re.Match[str] | None) -> str:
    if summary:
        path, _, name = summary.group(1).partition("::")
        return f"{tail(path)} {name.split('[')[0]}".strip()
    heading = _HEADING.search(text)
    place = _PLACE.search(text, heading.end() if heading else 0)
    name = heading.group(1).split("[")[0].replace(".", "::") if heading and place else ""
    return f"{tail(place.group(1))} {name}".strip() if place else ""
