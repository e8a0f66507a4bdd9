"""Any other tool: the first line that speaks of failure."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span

_WORRYING = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure|s)?|exception|cannot|can't|could not|couldn't|unable to|denied|refused|"
    r"not found|no such|missing|invalid|unexpected|unrecognized|unknown|timed? ?out|panic(?:ked)?|aborted|"
    r"not defined|not supported|undefined|does not exist|conflict|issues? found)\b",
    re.IGNORECASE,
)
_REASSURING = re.compile(
    r"\b(?:no|0|zero) (?:errors?|failures?|failed|problems|issues)\b|\bwithout errors?\b|^\s*npm warn"
    # What every failing script ends with says nothing about this one.
    r"|\bELIFECYCLE\b|\bcommand failed with exit code\b|\bhusky - |\bscript failed \(code \d+\)",
    re.IGNORECASE,
)
_TYPED = re.compile(
    r"^\W{0,3}(?:\w+[\w.:/-]*: )?\[?([A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|FATAL|panic)\b[\]:!]*\s*(.*)$"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SHORT_OUTPUT = 3
_LONGEST_LINE = 400


def find(text: str) -> Span | None:
    """The first line that speaks of failure, or the last of a short output; else nothing to go by."""
    lines = [line.strip() for line in text.splitlines() if _WORD.search(line) and "│" not in line]
    lines = [line for line in lines if len(_WORD.findall(line)) > 1]
    chosen = next((line for line in lines if _WORRYING.search(line) and not _REASSURING.search(line)), None)
    if chosen is None and len(lines) <= _SHORT_OUTPUT:
        chosen = lines[-1] if lines else None
    if chosen is None:
        return None
    chosen = chosen[:_LONGEST_LINE]
    typed = _TYPED.match(chosen)
    if typed and typed.group(2):
        name = typed.group(1)
        return Span("generic", name.lower() if name.isupper() else name, typed.group(2), "", chosen)
    return Span("generic", "error", chosen, "", chosen)
