"""Any other tool: the first line that says it failed, else the first that speaks of failure."""

from __future__ import annotations

import re

from oldhand.failures.families.span import Span

_PLAIN_ERROR = re.compile(
    r"^(?:\w+[\w.:/ -]{0,40}: |\[[\w.:/ -]+\] )?\[?(?:[A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|"
    r"FATAL|[Ff]atal(?: error)?"
    r"|FAILED|panic|E\d{2,5}|PHP (?:Fatal|Parse) error)\b(?: \([^)]*\)| from server \(\w+\)|\[\w+\])?\]?[:!] ?\S"
)
_WORRYING = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure|s)?|exception|cannot|can't|could not|couldn't|unable to|denied|refused|"
    r"not found|no such|missing|invalid|unexpected|unrecognized|unknown|timed? ?out|panic(?:ked)?|aborted|"
    r"not defined|not supported|undefined|does not exist|conflict|issues? found)\b",
    re.IGNORECASE,
)
_REASSURING = re.compile(
    r"\b(?:no|0|zero) (?:errors?|failures?|failed|problems|issues)\b|\bwithout errors?\b|"
    r"^\s*(?:npm )?warn(?:ing)?\b|Warning: "
    r"|\btruncated\b|\bomitted\b|\bdeprecat|\b[1-9]\d* passed\b|^ok\b|^PASS\b",
    re.IGNORECASE,
)
# What every failing script ends with says nothing about this one.
_WRAPPER = re.compile(
    r"\bELIFECYCLE\b|\bcommand failed with exit code\b|\bhusky - |\bscript failed \(code \d+\)|"
    r"^error: script \"|ERR_PNPM_RECURSIVE"
    r"|^(?:g?make)(?:\[\d+\])?: \*\*\*|^exit status \d+$|^npm (?:error|ERR!)|\bexited \(\d+\)|^error: Recipe ",
    re.IGNORECASE,
)
_TYPED = re.compile(
    r"^\W{0,3}(?:\w+[\w.:/-]*: )?\[?([A-Z]\w*(?:Error|Exception|Failure)|[Ee]rror|ERROR|FATAL|[Ff]atal|"
    r"panic)\b[\]:!]*\s*(.*)$"
)
_CODE = re.compile(r"[{};,(]$|:=|=>|^(?:var|const|let|func|def|import|return|type|if|//|#)\b|^\s*//|\) \{|^\d+[:→\t|-]")
_STAMP = re.compile(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[\d\d:\d\d:\d\d\S*\])\s+")
_BOX = "│┃|╷╵╭╰─ \t"
_WORD = re.compile(r"[^\W\d_]{2,}")
_SHORT_OUTPUT = 3
_LONGEST_LINE = 400


def find(text: str) -> Span | None:
    """The plainest line that speaks of failure, or the last of a short output; else nothing to go by."""
    lines = [_STAMP.sub("", line.strip(_BOX)) for line in text.splitlines()]
    lines = [line for line in lines if len(_WORD.findall(line)) > 1 and not _REASSURING.search(line)]
    telling = [line for line in lines if not _WRAPPER.search(line)]
    chosen = (
        next((line for line in telling if _PLAIN_ERROR.match(line)), None)
        or next((line for line in telling if _WORRYING.search(line) and not _CODE.search(line)), None)
        or next((line for line in lines if _WRAPPER.search(line)), None)
    )
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
