"""Python: tracebacks, the bare last line of one, and what the interpreter itself says."""

from __future__ import annotations

import re

from hardwon.failures.families.span import LIBRARY, Span
from hardwon.text.normalise import tail

_HEAD = "Traceback (most recent call last):"
_RAISED = re.compile(r"^(?:[\w.]+\.)?([A-Za-z_]\w*)(?:: ?(.*)|$)", re.MULTILINE)
_BARE = re.compile(
    r"^(?!PackagesNotFound)(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|NotFound|"
    r"DoesNotExist)|StopIteration)(?:: ?(.*))?$",
    re.MULTILINE,
)
_FRAME = re.compile(r'^ *File "([^"\n]+)", line \d+(?:, in (.+))?\n((?: {2,}(?!File ").*\n)?)', re.MULTILINE)
_INTERPRETER = r"^\S*python[\d.]*(?:\.exe)?: (No module named .+|can't open file .+|Error while finding module .+)$"
_OF_GROUP = r"^ *(?:[|+-]+ ?)+"
_JAVASCRIPT = re.compile(
    r"^[ \t]+at .+[(:]|^Node\.js v|is not a function|is not a constructor|Cannot read propert|Unexpected token|"
    r"Unexpected end of JSON"
    r"|^ReferenceError: \S+ is not defined|^RangeError|^(?:\S+ )?\^+$\n\n|Cannot access '|^[ \t]+code: '[A-Z_]+'",
    re.MULTILINE,
)
# Each system numbers its errors in its own way.
_SYSTEM = r"\[(?:Errno|WinError) -?\d+\] "
_SAYS_LITTLE = r"\d+ validation errors? for \w+$"
_ANYWHERE = frozenset(("ModuleNotFoundError",))


def find(text: str) -> Span | None:
    if "Exception Group Traceback" in text:
        text = re.sub(_OF_GROUP, "", text, flags=re.MULTILINE)
    head = text.rfind(_HEAD)
    if head >= 0:
        return _traceback(text[head + len(_HEAD) :])
    if "python" in text and (found := re.search(_INTERPRETER, text, re.MULTILINE)):
        return Span("python", "python", found.group(1), "", found.group())
    errors = list(_BARE.finditer(text))
    if not errors or _JAVASCRIPT.search(text):
        return None
    frame = _FRAME.search(text)
    if len({found.group() for found in errors}) > 1 and not frame:
        return None  # a list of errors
    return _span(text, errors[-1], [frame] if frame else [])


def _traceback(text: str) -> Span | None:
    indent = re.match(r"\n( *)(?=  File )", text)
    if indent and indent.group(1):  # another tool's output holds it
        text = re.sub(rf"^{indent.group(1)}", "", text, flags=re.MULTILINE)
    raised = _RAISED.search(text)
    if not raised:
        return None
    frames = [found for found in _FRAME.finditer(text, 0, raised.start()) if not re.search(LIBRARY, found.group(1))]
    return _span(text, raised, frames)


def _span(text: str, raised: re.Match[str], frames: list[re.Match[str]]) -> Span:
    error_type, message = raised.group(1), raised.group(2) or ""
    if "validation error" in message and re.search(_SAYS_LITTLE, message):
        message = f"{message} {_details(text[raised.end() :])}"
    message = re.sub(_SYSTEM, "", message) if "rr" in message else message
    frame = excerpt = ""
    if frames:
        frame = f"{tail(frames[-1].group(1))} {frames[-1].group(2) or ''}".strip()
        excerpt = frames[-1].group().strip() + "\n"
        message = message or frames[-1].group(3).strip()
    if error_type in _ANYWHERE:
        frame = ""
    return Span("python", error_type, message, frame, excerpt + raised.group())


def _details(text: str) -> str:
    """The first of the lines that pydantic writes below its own."""
    lines = [line.strip() for line in text.split("\n")[1:3]]
    return " ".join(lines).split(" [type=")[0]
