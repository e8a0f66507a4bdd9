"""What was said and done in a session, in passages of some hundred characters that a person finds it by.

Whole outputs are no part of it: of a call its command or file, and what its error says. Each line tells whose it is:
`>` the user's, `$` a command, `!` an error, `~` a file that was changed; the agent's have no mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from hardwon.failures.turns import Turn
from hardwon.model.failure import Occurrence
from hardwon.model.session import Session
from hardwon.store.passages import Passage
from hardwon.text.fence import one_line, unfenced

USER, AGENT, COMMAND, ERROR, FILE = "> ", "", "$ ", "! ", "~ "
LONGEST = 500
"""Characters of a passage."""
_SHARE = 0.042
"""Of the characters of a session that its passages may have; with index and all, a passage takes less than three times
its length."""
_LEAST = 600
"""Characters that every session may have."""
_LONGEST_LINE = {USER: 2_000, AGENT: 2_000, COMMAND: 240, ERROR: 300, FILE: 120}
_SHORTEST_CUT = 60
"""What would have to be cut shorter than this is left out."""
_BEHIND_A_CUT = 300
"""So many characters more are scrubbed than are kept: what a secret is, is told by what stands around it."""


class _Line(NamedTuple):
    mark: str
    message_index: int
    at: int | None
    text: str
    call: int = -1
    """Its place among the calls; before them stands what the message says."""


def passages(
    session: Session, calls: list[Turn], failures: Iterable[Occurrence], characters: int, scrub: Callable[[str], str]
) -> list[Passage]:
    """Of a scrubbed session that has so many characters. What its agent said is scrubbed by `scrub`, as far as it is
    kept."""
    errors = {found.call_index: found.excerpt for found in failures}
    lines = [*_said(session), *_done(calls, errors)]
    room = max(_LEAST, int(characters * _SHARE))
    kept: list[_Line] = []
    for marks in ((USER,), (ERROR,), (COMMAND, FILE), (AGENT,)):
        # What comes first may take no more than two thirds of what is left, or a pasted file would be all there is.
        share = room if marks == (AGENT,) else room * 2 // 3
        fitting = list(_fitted([line for line in lines if line.mark in marks], share, scrub))
        room -= sum(len(line.text) for line in fitting)
        kept += fitting
    kept.sort(key=lambda line: (line.message_index, line.call, line.mark == ERROR))
    return [one._replace(nth=nth) for nth, one in enumerate(_joined(kept))]


def _said(session: Session) -> Iterator[_Line]:
    for index, message in enumerate(session.messages):
        if message.text and (message.is_sent or message.origin == "agent"):
            mark = USER if message.is_sent else AGENT
            text = unfenced(message.text[: _LONGEST_LINE[mark] + _BEHIND_A_CUT]).strip()
            if text:
                yield _Line(mark, index, message.at, text)


def _done(calls: list[Turn], errors: dict[int, str]) -> Iterator[_Line]:
    before = ""
    for turn in calls:
        call = turn.call
        mark = COMMAND if call.command else FILE if call.action == "edit" else ""
        subject = call.command or call.target
        if mark and subject and subject != before:
            yield _Line(mark, turn.message_index, turn.at, subject, turn.position)
            before = subject
        if turn.failed and not turn.stopped and (error := errors.get(turn.position) or _last_line(turn.output)):
            yield _Line(ERROR, turn.message_index, turn.at, error, turn.position)


def _last_line(output: str) -> str:
    return next((line for line in reversed(output[-1_000:].splitlines()) if line.strip()), "")


def _fitted(lines: list[_Line], room: int, scrub: Callable[[str], str]) -> Iterator[_Line]:
    """As many characters of each as all can have; short lines leave what they do not need to the others."""
    left, many = room, len(lines)
    cut = 0
    for length in sorted(min(len(line.text), _LONGEST_LINE[line.mark]) for line in lines):
        if length * many > left:
            cut = max(_SHORTEST_CUT, left // many)
            break
        left -= length
        many -= 1
    for line in lines:
        longest = min(cut or _LONGEST_LINE[line.mark], _LONGEST_LINE[line.mark])
        text = line.text[: longest + _BEHIND_A_CUT]
        text = _cut(one_line(scrub(text) if line.mark == AGENT else text), longest)
        room -= len(text)
        if room < 0:
            return
        if text:
            yield line._replace(text=text)


def _cut(text: str, longest: int) -> str:
    """Between words, where there are any."""
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    space = start.rfind(" ")
    return (start[:space] if space > longest // 2 else start) + "…"


def _joined(lines: list[_Line]) -> Iterator[Passage]:
    """Lines that follow each other, as long as they have room together. What a user says begins a new passage: one
    who goes on with a copied session begins with that."""
    first: _Line | None = None
    some: list[str] = []
    for line in lines:
        for piece in _pieces(line.mark + line.text):
            if first is not None and (line.mark == USER or sum(map(len, some)) + len(some) + len(piece) > LONGEST):
                yield Passage(0, first.message_index, first.at, "\n".join(some))
                some = []
            if not some:
                first = line
            some.append(piece)
    if first is not None and some:
        yield Passage(0, first.message_index, first.at, "\n".join(some))


def _pieces(text: str) -> Iterator[str]:
    while len(text) > LONGEST:
        space = text.rfind(" ", LONGEST // 2, LONGEST)
        end = space if space > 0 else LONGEST
        yield text[:end]
        text = text[end:].lstrip()
    yield text
