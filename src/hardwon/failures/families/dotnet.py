""".NET: the compilers, MSBuild, NuGet, and what an unhandled exception prints."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import tail

_RULES: tuple[Rule, ...] = (
    ("", ": error ",
     (r"^[ \t]*(?P<file>\S.*?)(?:\(\d+,\d+\))? ?: error (?P<code>[A-Z]{2,6}\d+): (?P<message>.+?)(?: \["
     r"[^\]\n]+proj\])?$")),
    ("", "Unhandled exception. ", r"^Unhandled exception\. (?:[\w.]+\.)?(?P<code>\w+): (?P<message>.+)$"),
    ("sdk", "SDK", r"^(?P<message>(?:The command could not be loaded|A compatible \.NET SDK was not found).*)$"),
)  # fmt: skip
_FRAME = re.compile(r"^[ \t]+at ([\w.<>`]+)\(.*\) in (\S+):line \d+", re.MULTILINE)


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    frame = tail(parts.get("file") or "")
    if name == "" and not parts.get("file") and (place := _FRAME.search(text)):
        frame = f"{tail(place.group(2))} {place.group(1).rpartition('.')[2]}"
    return Span(
        "dotnet",
        parts.get("code") or name,
        parts["message"],
        "" if frame == "MSBUILD" else frame,
        match.group().strip(),
    )
