"""Any other tool: the first line that says it failed, else the first that speaks of failure."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Span

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
    r"^[ \t]*(?:npm )?warn(?:ing)?\b|Warning: "
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
_CODE = re.compile(
    r"[{};,(]$|:=|=>|^(?:var|const|let|func|def|import|return|type|if|//|#)\b|^[ \t]*//|\) \{|^\d+[:→\t|-]"
)
_STAMP = re.compile(r"^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?|\[\d\d:\d\d:\d\d\S*\])\s+")
_LOGGED = re.compile(r"\blevel=(?:error|fatal)\b.*?\bmsg=\"(.+?)(?<!\\)\"")
_BOX = "│┃|╷╵╭╰─ \t"
_WORD = re.compile(r"[^\W\d_]{2,}")
_STEMS = (
    "error fatal fail exception cannot can't could unable denied refused found such missing invalid unexpected "
    "unrecogn unknown timed timeout panic abort undefined exist support conflict issue elifecycle husky *** exit recipe"
).split()
_MAX_SHORT_OUTPUT_LINES = 3
_MAX_LINE_CHARACTERS = 400


def find(text: str) -> Span | None:
    """The plainest line that speaks of failure, or the last of a short output; else nothing to go by."""
    lines = _speaking(text)
    chosen = _plainest(lines) or next((bare for line in lines if _WRAPPER.search(line) and (bare := _bare(line))), None)
    chosen = chosen or _last_of_few(text)
    if chosen is None:
        return None
    chosen = chosen[:_MAX_LINE_CHARACTERS]
    if logged := _LOGGED.search(chosen):
        return Span("generic", "error", logged.group(1), "", chosen)
    typed = _TYPED.match(chosen)
    if typed and typed.group(2):
        name = typed.group(1)
        return Span("generic", name.lower() if name.isupper() else name, typed.group(2), "", chosen)
    return Span("generic", "error", chosen, "", chosen)


def _plainest(lines: list[str]) -> str | None:
    worrying: str | None = None
    for line in lines:
        plain = _PLAIN_ERROR.match(line)
        if not plain and (worrying or not _WORRYING.search(line) or _CODE.search(line)):
            continue
        if not _WRAPPER.search(line) and (bare := _bare(line)):
            if plain:
                return bare
            worrying = bare
    return worrying


def _speaking(text: str) -> list[str]:
    """Lines with a word that may be about a failure; most outputs have few, so that patterns see little."""
    low = text.lower()
    stems = [stem for stem in _STEMS if stem in low]
    found: list[str] = []
    for line in text.splitlines():
        lowered = line.lower()
        for stem in stems:
            if stem in lowered:
                found.append(_STAMP.sub("", line.strip(_BOX)))
                break
    return found


def _last_of_few(text: str) -> str | None:
    few = [bare for line in text.splitlines()[: 4 * _MAX_SHORT_OUTPUT_LINES] if (bare := _bare(line))]
    return (
        few[-1] if 0 < len(few) <= _MAX_SHORT_OUTPUT_LINES and text.count("\n") < 4 * _MAX_SHORT_OUTPUT_LINES else None
    )


def _bare(line: str) -> str:
    """A line of at least two words without its box and its time, unless it says that all is well."""
    bare = _STAMP.sub("", line.strip(_BOX))
    return bare if len(_WORD.findall(bare)) > 1 and not _REASSURING.search(bare) else ""
