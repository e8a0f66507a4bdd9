"""Tell what the user typed from what a client put in the user's place, and from what was pasted.

Typed is what is shown to be typed. What stands in tags or under a client's heading is the client's (`injected`), from
the first opening to the last closing: what lies between may close the tag itself. What has the shape of something else
(a quotation, a mail, an issue, a log, a diff, code, a document) is `file`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.model.session import Message, Origin, Part
from hardwon.sessions.injected import CLIENTS, IDE_HEADINGS

INTERRUPTED = "[Request interrupted by user]"

_CLIENTS_TAGS = frozenset(tag.lower() for client in CLIENTS for tag in client.tags)
_TAG = re.compile(r"<(?P<closes>/?)(?P<name>permissions instructions|[A-Za-z][\w:.-]*)(?=[\s/<>]|$)(?:[^<>]*>)?")
_HEADING = re.compile(
    rf"^[ \t]*(?:{'|'.join(re.escape(heading) for client in CLIENTS for heading in client.headings)})", re.MULTILINE
)


def user_message(text: str | Sequence[str], at: int | None = None, by: Origin = "user") -> Message:
    """What stands in the user's place, in one text or several: what was typed, and the rest beside it.

    Without anything typed, its text is what was pasted, else what the client put there. `by` is whose words the typed
    ones are: an agent's, in a sub-agent's transcript; the client's, where the format says so; a file's, if in doubt.
    """
    texts = (text,) if isinstance(text, str) else text
    whole = "\n".join(texts).strip()
    if whole.startswith(INTERRUPTED[:-1]):
        return Message(role="user", origin="injected", at=at, text=INTERRUPTED)
    if by == "injected":
        return Message(role="user", origin="injected", at=at, text=whole)
    parts = [part for one in texts for part in parted(one)]
    if by != "user":
        parts = [part if part.origin == "injected" else Part(by, part.text) for part in parts]
    main: Origin = next((who for who in (by, "file") if any(part.origin == who for part in parts)), "injected")
    return Message(
        role="user",
        origin=main,
        at=at,
        text="\n\n".join(part.text for part in parts if part.origin == main),
        beside=tuple(part for part in parts if part.origin != main),
    )


def parted(text: str) -> Iterator[Part]:
    """What a text in the user's role is made of, in order; nothing for one that is empty."""
    before, typed = _unwrapped(text)
    if before.strip():
        yield Part("injected", before.strip())
    yield from _without_tags(typed)


def _unwrapped(text: str) -> tuple[str, str]:
    """What a client put before its mark of what was typed, and what stands behind it.

    Of a mark that stands there twice, one is a file's, and nobody can tell which: then all is the client's.
    """
    mark = IDE_HEADINGS[-1]
    if text.lstrip().startswith(IDE_HEADINGS) and text.count(mark) == 1:
        before, _, typed = text.partition(mark)
        return before, typed
    return "", text


def _without_tags(text: str) -> Iterator[Part]:
    heading = _HEADING.search(text)
    end = heading.start() if heading else len(text)
    at = 0
    for origin, start, stop in _blocks(text[:end]):
        yield from _without_pastes(text[at:start])
        yield Part(origin, text[start:stop].strip())
        at = stop
    yield from _without_pastes(text[at:end])
    if heading:
        yield Part("injected", text[end:].strip())


def _blocks(text: str) -> Iterator[tuple[Origin, int, int]]:
    """Stretches in tags, each from its first opening to its last closing."""
    tags = list(_TAG.finditer(text)) if "<" in text else []
    last = {tag["name"].lower(): tag.end() for tag in tags if tag["closes"]}
    opened: set[str] = set()
    at = 0
    for tag in tags:
        name, start = tag["name"].lower(), tag.start()
        if start < at:
            continue
        is_clients = name in _CLIENTS_TAGS
        end = last.get(name, 0)
        if tag["closes"]:
            if is_clients and name not in opened:  # its opening is in a part that is not here
                yield "injected", at, tag.end()
                at = tag.end()
            continue
        before = start
        while before > at and text[before - 1] in " \t":
            before -= 1
        begins_a_line = before == at or text[before - 1] == "\n"
        if is_clients and (end > start or begins_a_line) and text[start - 1 : start] != "`":
            stop = end if end > start else len(text)
        elif end > start and (begins_a_line or text.startswith("\n", tag.end())):
            stop = end
        else:
            continue
        opened.add(name)
        yield "injected" if is_clients else "file", start, stop
        at = stop


# What was pasted, told by its shape, line by line.

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_TO_THE_END = re.compile(
    r"^(?:.{0,120}\bwrote:[ \t]*$|-{2,}[ \t]*(?:Original|Forwarded) [Mm]essage|Begin forwarded message"
    r"|#{1,6}[ \t]+\S|<<<<<<< |_\*\*(?:User|Agent|Assistant)\b[^\n]*\*\*_[ \t]*$|"  # the last is SpecStory's
    r"For the code present, we get this error:|"  # Cursor's button, of 2025
    r"\W{0,4}(?:Describe the (?:bug|issue|feature)|Steps to reproduce|To reproduce|Expected behaviou?r|"
    r"Actual behaviou?r|Bug report|Feature request)\b)",
    re.IGNORECASE,
)
"""What opens a document, whose end shows nowhere."""
_MAIL = re.compile(r"^(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID):[ \t]+\S", re.IGNORECASE)
_QUOTED = re.compile(r"^[ \t]*(?:>|\|.*\|[ \t]*$)")
_PRINTED = re.compile(
    r"^[ \t]*(?:"
    r"\W{0,3}\d{4}[-/]\d\d[-/]\d\d[T \d]|\W?\d\d?:\d\d:\d\d\b|"  # times
    r"\W?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|FAIL|FAILED|PASS|npm ERR!)\b(?:[\]:]|[ \t]+\S)|"
    r"(?:\w+\.)*\w*(?:Error|Exception|Warning)\b[^\n]{0,40}:|"
    r"(?:error|warning|fatal|panic)(?:\[\w+\]| \w+\d+)?: |"
    r"Traceback \(|File \"[^\"]+\", line \d|at [\w.$<>\[\]/ ]+[(:]|Caused by:|Exception in thread|\^[~^]*[ \t]*$|"
    r"diff --git |index [0-9a-f]{6,}|@@ |\+\+\+ |--- [ab]/|"
    r"(?:PS )?[A-Z]:\\[^\n]*>|[\w.-]+@[\w.-]+:\S*[$#]|[$❯➜][ \t]+\S|"
    r"[│┃┌┐└┘├┤─━═╔╗╚╝║]|"
    r"</?[A-Za-z][^<>]*>[ \t]*$|\"[\w$@/. -]+\"[ \t]*:|[\[\]{}()]+[,;]?[ \t]*$|"
    r"(?:import|export|from|def|class|function|const|let|var|public|private|return|using|package)\b[^\n]*[;{(:=][^\n]*$(?<![.!?])"
    r")|[^\w \t][ \t]?[;{][ \t]*$|[\w\])]\.\w{1,5}[:(]\d+[,:]\d+|\berror (?:TS|CS|C|E)\d{3,}"
)
"""A line of a log, a trace, a diff, a terminal or of code."""


def _without_pastes(text: str) -> Iterator[Part]:
    """Pasted from the first line of a shape to the end of the paragraph of the last; quotations by themselves."""
    if not text.strip():
        return
    lines = text.split("\n")
    pasted = _pasted(lines)
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and pasted[end] == pasted[at]:
            end += 1
        if piece := "\n".join(lines[at:end]).strip():
            yield Part("file" if pasted[at] else "user", piece)
        at = end


def _pasted(lines: list[str]) -> list[bool]:
    marks = [False] * len(lines)
    fence = ""
    printed: list[int] = []
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            marks[at] = True
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark and "`" not in line[mark.end() :]:
            marks[at], fence = True, mark[1]
        elif _TO_THE_END.match(line) or (_MAIL.match(line) and at + 1 < len(lines) and _MAIL.match(lines[at + 1])):
            marks[at:] = [True] * (len(lines) - at)
            break
        elif _QUOTED.match(line) or (at and marks[at - 1] and line.strip() and _QUOTED.match(lines[at - 1])):
            marks[at] = True
        elif _PRINTED.search(line):
            printed.append(at)
    if printed:
        end = next((at for at in range(printed[-1], len(lines)) if not lines[at].strip()), len(lines))
        marks[printed[0] : end] = [True] * (end - printed[0])
    return marks
