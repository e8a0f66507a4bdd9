"""Runners of JavaScript tests: jest, vitest, mocha, bun, playwright."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span, bare, module
from hardwon.text.normalise import tail

_FILE = re.compile(
    r"^[ \t]*(?:FAIL|❯) +(?:\|[\w-]+\| |[\w-]+ \(\w+\) +)?(\S+\.(?:test|spec)\.\w+|\S+\.[cm]?[jt]sx?)"
    r"(?: > (.+?))?(?: \[.*\]| \(.*\))?$",
    re.MULTILINE,
)
_BULLET = re.compile(r"^ *● (.+)$\n(?:[ \t]*\n)?((?:.+\n){0,20}.*)", re.MULTILINE)
_AFTER = re.compile(r"^(?:[ \t]*(?:→ )?)?((?:[A-Z]\w*Error|Error|TypeError)(?: \[\w+\])?): (.+)$", re.MULTILINE)
_FAILING = re.compile(r"^[ \t]+\d+ failing\n(?:[ \t]*\n)?[ \t]+1\) (?!\[)(.+)$", re.MULTILINE)
_TYPED = re.compile(r"[ \t]*((?:[A-Z]\w*)?Error(?: \[\w+\])?): (.+)")
_PLAYWRIGHT = re.compile(r"^[ \t]+1\) (?:\[[\w -]+\] › )?(\S+?):\d+:\d+ › (.+?)(?: ─+)?\s*$", re.MULTILINE)
_BUN = re.compile(r"^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+\w+\])?$", re.MULTILINE)
_BUN_ERROR = re.compile(r"^((?:[A-Z]\w*)?[Ee]rror): (.+)$", re.MULTILINE)
_NONE = re.compile(r"^(No test files? found|No tests found)\b.*$", re.MULTILINE)
_EDGES = " ─"
_MAX_TITLE_LINES = 12


def find(text: str) -> Span | None:
    if "1) " in text and (found := _PLAYWRIGHT.search(text)):
        error = _AFTER.search(text, found.end())
        return _span(error, f"{tail(found.group(1))} {found.group(2)}", found)
    if " failing" in text and (span := _mocha(text)):
        return span
    if "(fail)" in text and (found := _BUN.search(text)):
        errors = list(_BUN_ERROR.finditer(text, 0, found.start()))
        return _span(errors[0] if errors else None, found.group(1), found)
    if "●" in text and (span := _jest(text)):
        return span
    if file := _FILE.search(text):
        if not re.search(r"^[ \t]*(?:Test Files|Tests|Test Suites)[ :]", text, re.MULTILINE) and "⎯⎯" not in text:
            return None
        headed = next((found for found in _FILE.finditer(text) if "FAIL" in found.group()), file)
        error = _AFTER.search(text, headed.end()) or _AFTER.search(text)
        return _span(error, f"{tail(headed.group(1))} {headed.group(2) or ''}".strip(), headed)
    if none := _NONE.search(text):
        return Span("jest", "nothing", none.group(1), "", none.group())
    return None


def _mocha(text: str) -> Span | None:
    """The titles stand below each other, then the error."""
    failing = _FAILING.search(text)
    if not failing:
        return None
    titles = [failing.group(1)]
    for line in text[failing.end() :].split("\n")[:_MAX_TITLE_LINES]:
        if error := _TYPED.match(line):
            title = " ".join(part.strip().rstrip(":") for part in titles if part.strip())
            return Span("jest", error.group(1), error.group(2), title, line.strip())
        titles.append(line)
    return None


def _jest(text: str) -> Span | None:
    bullet = _BULLET.search(text)
    file = _FILE.search(text)
    if not bullet:
        return None
    title = bullet.group(1).strip()
    if title.startswith(("Console", "Validation", "Deprecation")):
        return None
    said = next((line.strip() for line in bullet.group(2).splitlines() if line.strip()), "")
    typed = re.match(r"((?:[A-Z]\w*)?Error(?: \[\w+\])?): (.+)", said)
    error_type, message = (typed.group(1), typed.group(2)) if typed else ("failed", said.split(" // ")[0])
    where = f"{tail(file.group(1))} " if file else ""
    missing = re.match(r"Cannot find module '([^']+)' from", message)
    if missing and bare(missing.group(1)):
        return Span("jest", error_type, f"Cannot find module {module(missing.group(1))}", "", said)
    name = "" if title == "Test suite failed to run" else title
    return Span("jest", error_type, message, f"{where}{name}".strip(_EDGES), f"{title}\n{said}")


def _span(error: re.Match[str] | None, frame: str, found: re.Match[str]) -> Span:
    if error is None:
        return Span("jest", "failed", "", frame, found.group().strip())
    message = error.group(2).split(" // ")[0]  # which kind of equality
    missing = re.match(r"(Failed to resolve import|Cannot find (?:package|module)) [\"']([^\"']+)[\"']", error.group(2))
    if missing and bare(missing.group(2)):
        return Span("jest", error.group(1), f"{missing.group(1)} {module(missing.group(2))}", "", error.group().strip())
    return Span("jest", error.group(1), message, frame.strip(_EDGES), error.group().strip())
