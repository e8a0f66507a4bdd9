"""A text cut at its headings: Markdown, reStructuredText, or plain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Markup = Literal["markdown", "restructuredtext", "text"]

MAX_CHUNK_CHARACTERS = 1_500
"""Characters of a chunk: some paragraphs, that a model can take in whole."""
_MARKUP: dict[str, Markup] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".rst": "restructuredtext",
}
_HEADING = re.compile(r"(#{1,6})\s+(.*?)(?:\s+#+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_UNDERLINE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}")
_MAX_HEADING_CHARACTERS = 200


class Section(NamedTuple):
    heading: str
    """The headings above it, `Install > On Windows`."""
    text: str


def markup_of(suffix: str) -> Markup:
    return _MARKUP.get(suffix.lower(), "text")


def sections(text: str, markup: Markup) -> list[Section]:
    """What stands below each heading, long stretches in several parts; no text is lost but headings and blank ends."""
    found = _under_headings(text.splitlines(), markup)
    return [Section(heading, part) for heading, whole in found for part in _parts(whole)]


def _under_headings(lines: list[str], markup: Markup) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    body: list[str] = []
    levels: list[str] = []
    fenced = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if markup == "markdown" and _FENCE.match(line):
            fenced = not fenced
        found = None if fenced or markup == "text" else _heading(lines, at, markup, levels)
        if found is None:
            body.append(line)
            at += 1
            continue
        level, title, used = found
        if any(map(str.strip, body)):
            yield Section(_joined(path), "\n".join(body).strip("\n"))
        body = []
        path = [*((depth, above) for depth, above in path if depth < level), (level, title[:_MAX_HEADING_CHARACTERS])]
        at += used
    if any(map(str.strip, body)):
        yield Section(_joined(path), "\n".join(body).strip("\n"))


def _heading(lines: list[str], at: int, markup: Markup, levels: list[str]) -> tuple[int, str, int] | None:
    """(level, title, lines taken) of a heading that begins here."""
    line = lines[at].rstrip()
    if markup == "markdown" and (found := _HEADING.fullmatch(line)):
        return len(found[1]), found[2], 1
    below = lines[at + 1].rstrip() if at + 1 < len(lines) else ""
    if markup == "markdown":
        under = line.strip() and re.fullmatch(r"={2,}|-{2,}", below) and not _UNDERLINE.fullmatch(line)
        plain = line[:1] not in " \t-*+>|#" and (at == 0 or not lines[at - 1].strip())
        return ({"=": 1, "-": 2}[below[0]], line.strip(), 2) if under and plain else None
    last = lines[at + 2].rstrip() if at + 2 < len(lines) else ""
    if _UNDERLINE.fullmatch(line) and below.strip() and last == line:
        return _rank(levels, line[0] * 2), below.strip(), 3
    if line.strip() and not line[0].isspace() and _UNDERLINE.fullmatch(below) and len(below) >= len(line):
        return (_rank(levels, below[0]), line, 2) if not _UNDERLINE.fullmatch(line) else None
    return None


def _rank(levels: list[str], mark: str) -> int:
    """Of reStructuredText's headings, the order in which their marks come tells the level."""
    if mark not in levels:
        levels.append(mark)
    return levels.index(mark) + 1


def _joined(path: list[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in path)


def _parts(text: str) -> Iterator[str]:
    """Cut between paragraphs, else between lines, else anywhere."""
    while len(text) > MAX_CHUNK_CHARACTERS:
        head = text[:MAX_CHUNK_CHARACTERS]
        at = max(head.rfind("\n\n"), 0) or max(head.rfind("\n"), 0) or max(head.rfind(" "), 0) or MAX_CHUNK_CHARACTERS
        if text[:at].strip():
            yield text[:at].strip("\n")
        text = text[at:].lstrip("\n ")
    if text.strip():
        yield text
