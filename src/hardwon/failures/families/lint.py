"""Linters of Python and others: ruff, flake8, pylint, mypy, pyright, ty, black, isort, shellcheck; and pre-commit."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import tail

_CODE = r"(?P<code>[A-Z]{1,4}\d{2,5})"
_RULES: tuple[Rule, ...] = (
    ("", ".py:", rf"^(?P<file>\S+\.pyi?):\d+:\d+:? {_CODE}:? (?:\[\*\] )?(?P<message>.+)$"),
    ("", "--> ",
     (rf"^(?:{_CODE}|(?P<rule>(?:error|invalid)[\w-]*(?:\[[\w-]+\])?):?) (?:\[\*\] )?(?P<message>.+)\n\s+--> "
     rf"(?P<file>\S+?\.pyi?):\d+")),
    ("mypy", ": error: ", r"^(?P<file>\S+\.pyi?):\d+(?::\d+)?: error: (?P<message>.+?)(?:  \[(?P<code>[\w-]+)\])?$"),
    ("pyright", " - error: ",
     r"^[ \t]+(?P<file>\S+\.pyi?):\d+:\d+ - error: (?P<message>.+?)(?: \((?P<code>report\w+)\))?$"),
    ("ruff format", "Would reformat: ", r"^(?P<message>Would reformat): (?P<file>\S+)$"),
    ("black", "would reformat ", r"^(?P<message>would reformat) (?P<file>\S+)$"),
    ("black", "cannot format", r"^error: cannot format (?P<file>\S+): (?P<message>.+)$"),
    ("unsorted", "incorrectly sorted", r"^ERROR: (?P<file>\S+) (?P<message>Imports are incorrectly sorted.*)$"),
    ("shellcheck", "SC", r"^[ \t]*\^-+\^? (?P<code>SC\d+) \(\w+\): (?P<message>.+)$"),
    ("markdownlint", "MD0", r"^(?P<file>\S+\.md):\d+(?::\d+)?:? (?:error )?(?P<code>MD\d+)\S* (?P<message>.+)$"),
    ("mypy", "error: Cannot find impl", r"^(?P<message>error: Cannot find implementation .+)$"),
)  # fmt: skip
_HOOK = re.compile(r"^(\S.*?)\.{3,}(?:\(.*?\))?Failed\n- hook id: (\S+)\n((?:- .+\n)*)", re.MULTILINE)
_ANYWHERE = frozenset(
    ("import-not-found", "import-untyped", "import", "reportMissingImports", "reportMissingModuleSource")
)


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return _hook(text)
    name, match = found
    parts = match.groupdict()
    code = parts.get("code") or parts.get("rule") or name
    message = (parts.get("message") or "").strip()
    frame = "" if code in _ANYWHERE or "unresolved-import" in code else tail(parts.get("file") or "")
    return Span("lint", code, message, frame, match.group().strip())


def _hook(text: str) -> Span | None:
    """A hook that says nothing we know: its name, and the first line after it."""
    found = _HOOK.search(text)
    if not found:
        return None
    if "files were modified" in found.group(3):
        return Span("lint", found.group(2), "files were modified by this hook", "", found.group().strip())
    rest = text[found.end() :].strip().partition("\n")[0]
    return Span("lint", found.group(2), rest if not _HOOK.match(rest) else "", "", f"{found.group(2)}: {rest}")
