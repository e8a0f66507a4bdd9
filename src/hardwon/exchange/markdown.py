"""One lesson, one line of Markdown: any text can stand in it, reads as it was meant, and comes back the same."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_READ_BACK = re.compile(r"\\(?![A-Za-z0-9])|<(?=br>)|&(?=#\d+;)")
"""What `unescaped` would take for something else; it does not know about code."""
_MARKUP = re.compile(r"\\(?![A-Za-z0-9])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|!(?=\[)|(?<=\])[(\[]")
"""The same, and what Markdown would take for a tag, an entity, a picture or a link."""
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|<br>|&#(\d{1,7});")
_UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp"))
_LARGEST = 0x10FFFF

_LINE = re.compile(r"`(L\w+) ([a-z]+) ([0-9.]+) (\S+)`(?: (.*))?")


class Line(NamedTuple):
    """A lesson as it stands in a file. A person who adds one gives its text alone."""

    text: str
    id: str = ""
    status: str = ""
    confidence: str = ""
    source: str = ""


def written(line: Line) -> str:
    return f"- `{line.id} {line.status} {line.confidence} {line.source}` {escaped(line.text)}".rstrip(" ")


def read(item: str) -> Line:
    """What stands behind the bullet of a list."""
    known = _LINE.fullmatch(item)
    if known is None:
        return Line(unescaped(item))
    id, status, confidence, source, text = known.groups()
    return Line(unescaped(text or ""), id, status, confidence, source)


def escaped(text: str) -> str:
    """A text that keeps to one line and makes no markup but code and emphasis."""
    pieces: list[str] = []
    done = 0
    for code in _CODE.finditer(text):
        pieces += (_MARKUP.sub(r"\\\g<0>", text[done : code.start()]), _READ_BACK.sub(r"\\\g<0>", code[0]))
        done = code.end()
    pieces.append(_MARKUP.sub(r"\\\g<0>", text[done:]))
    seen = "".join(map(_seen, "".join(pieces)))
    if seen.endswith(" "):  # editors cut it off
        seen = seen[:-1] + _number(" ")
    return _number(" ") + seen[1:] if seen.startswith(" ") else seen


def unescaped(text: str) -> str:
    return _WRITTEN.sub(_meant, text)


def _seen(character: str) -> str:
    if character == "\n":
        return "<br>"
    return _number(character) if unicodedata.category(character) in _UNSEEN else character


def _number(character: str) -> str:
    return f"&#{ord(character)};"


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[2]:
        return chr(int(found[2])) if int(found[2]) <= _LARGEST else found[0]
    return "\n"
