"""Node, Deno and Bun: errors with their stack, or bare."""

from __future__ import annotations

import re

from hardwon.failures.families.span import LIBRARY, Span, bare, module
from hardwon.text.normalise import tail

_ERROR = re.compile(
    r"^[ \t]*(?:\(node:\d+\) \w+Warning: )?(?:error: (?=Uncaught )|\[cause\]: )?(?:Uncaught )?(?:\(in promise\) )?"
    r"\[?(?!PackagesNotFound)((?:[A-Z]\w*)?Error(?: \[[A-Z_]+\])?): (.+?)\]?(?: \{)?$",
    re.MULTILINE,
)
_FRAME = re.compile(
    r"^[ \t]+at (?:(?:async |new )*(\S+)(?: \[as \w+\])? \()?(?:file://)?([^\s():]+):\d+:\d+\)?,?$", re.MULTILINE
)
_MODULE = re.compile(r"Cannot find (?:module|package) '([^']+)'")
_MEMORY = re.compile(r"JavaScript heap out of memory")
# Any tool writes `Error: …`: Node's has a stack, a name, or a code of the system.
_OURS = re.compile(r"^[ \t]+at .+:\d+:\d+\)?|^Node\.js v|^[ \t]+code: '", re.MULTILINE)
_CODED = re.compile(r"^(?:\w+ )?E[A-Z]{3,}\b|^Cannot find module '")


def find(text: str) -> Span | None:
    if _MEMORY.search(text):
        return Span("node", "FATAL ERROR", "JavaScript heap out of memory", "", "JavaScript heap out of memory")
    stacked = bool(_OURS.search(text))
    found = next(
        (one for one in _ERROR.finditer(text) if stacked or one.group(1) != "Error" or _CODED.match(one.group(2))), None
    )
    if found is None:
        return None
    error_type, message = found.group(1), found.group(2)
    if missing := _MODULE.match(message):
        return _missing(text, error_type, missing.group(1), found)
    frames = [frame for frame in _FRAME.finditer(text, found.end()) if not re.search(LIBRARY, frame.group(2))]
    place = f"{tail(frames[0].group(2))} {frames[0].group(1) or ''}".strip() if frames else ""
    return Span("node", error_type, message, place, found.group().strip())


def _missing(text: str, error_type: str, name: str, found: re.Match[str]) -> Span:
    """A package is missing wherever it is imported; a file, where it is."""
    frame = ""
    if not bare(name) and (
        importer := re.search(r" imported from (\S+)|^- (\S+)$", text[found.start() :], re.MULTILINE)
    ):
        frame = tail(importer.group(1) or importer.group(2))
    return Span("node", error_type, f"Cannot find module {module(name)}", frame, found.group().strip())
