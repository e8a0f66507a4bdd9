"""Users' headers that a tool may have printed, or a quoted file hold: what stands under them is read, not believed.

Whoever closes the fence or the tag that he is printed in, and opens it again behind what he lets the user say, writes
what SpecStory would. But users mostly speak after an agent's words, agents answer, time goes on, and what was cut in
two begins again where it should not. No such sign is enough by itself: people interrupt, agents end with code, clocks
are set. A forger who also gives the agent last words and opens another tool, at the right time, cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardwon.sessions.specstory_page import Header, Page

_RULE = "---"
_CLOCKS_DIFFER = 3_600_000_000
"""An hour: who writes beforehand is out by days, real headers by a minute."""


def doubtful(page: Page) -> Iterator[int]:
    """The lines of the headers that are not believed."""
    ends = [*(header.line for header in page.headers[1:]), len(page.lines)]
    turns = [_Turn(page, header, end) for header, end in zip(page.headers, ends, strict=False)]
    for at, turn in enumerate(turns):
        before, answer = turns[at - 1] if at else None, turns[at + 1] if at + 1 < len(turns) else None
        if turn.header.user and not turn.header.sidechain:
            amid_code = before and answer and before.has_code and answer.has_code
            if (amid_code and not _in_time(page.headers, at)) or _is_cut_in(before, turn, answer):
                yield turn.header.line


def _is_cut_in(before: _Turn | None, turn: _Turn, answer: _Turn | None) -> bool:
    """Whether a user's turn came into the middle of what stands around it, or another into the middle of its own."""
    is_exact = turn.header.form.endswith(" s")  # the agent's own log: it has what is said meanwhile as messages
    if not is_exact and any(near and near.header.user for near in (before, answer)):
        return True
    if before and before.has_code and (turn.closes_too_many or (answer and answer.closes_too_many)):
        return True
    if before is None or before.header.user or not before.ends_with_code:
        return False
    if answer is None:
        return turn.has_parts or turn.opens_again(before)
    return turn.has_parts or (turn.ends_with_code and turn.opens_again(before)) or answer.goes_on_from(before)


def _in_time(headers: list[Header], at: int) -> bool:
    """Whether a header is dated between those around it, but for the answer, which would be of the same hand."""
    time = headers[at].at
    if time is None:
        return True
    earlier = next((found for number in range(at - 1, -1, -1) if (found := headers[number].at)), None)
    later = next((found for number in range(at + 2, len(headers)) if (found := headers[number].at)), None)
    if earlier and later and earlier > later:
        return True
    return (earlier or time) - _CLOCKS_DIFFER <= time <= (later or time) + _CLOCKS_DIFFER


class _Turn:
    """A message, from its header to the next."""

    def __init__(self, page: Page, header: Header, end: int) -> None:
        self.header = header
        self._page = page
        self._end = end

    @cached_property
    def _code(self) -> list[int]:
        """Where fences and tools begin; not the empty fences that Copilot writes for edits."""
        return self._page.code_between(self.header.line, self._end)

    @property
    def has_code(self) -> bool:
        return bool(self._code or self._page.fences_between(self.header.line, self._end))

    @cached_property
    def last_line(self) -> str:
        lines, last = self._page.lines, self._end - 1
        while last > self.header.line and lines[last].strip() in ("", _RULE):
            last -= 1
        return lines[last]

    @property
    def ends_with_code(self) -> bool:
        return self.last_line.startswith(("```", "</"))

    @property
    def has_parts(self) -> bool:
        """Whether rules part it, as they part what an agent says and uses."""
        lines = self._page.lines
        first = next((line for line in range(self.header.line, self._end) if lines[line] == _RULE), self._end)
        return any(line.strip() not in ("", _RULE) for line in lines[first : self._end])

    @property
    def closes_too_many(self) -> bool:
        """Whether its first fence is an end rather than a beginning, and all of them are no pairs."""
        page, fences = self._page, self._page.fences_between(self.header.line, self._end)
        first = self._code[0] if self._code else 0
        return bool(first and page.is_plain(first) and page.lines[first - 1]) and len(fences) % 2 == 1

    def opens_again(self, before: _Turn) -> bool:
        """Whether a fence in it begins as the last one before ended, or as that began."""
        page, lines = self._page, self._page.lines
        openings = {before.last_line, *(lines[line] for line in before._code[-1:])}
        begun = (line for line in page.fences_between(self.header.line, self._end) if line in page.fences)
        return any(lines[line] in openings for line in begun)

    def goes_on_from(self, before: _Turn) -> bool:
        """Whether a part begins with its first fence and is no tool; or its first tool is the last of the one before,
        used in the same way, and printed nothing of what that printed first, as one does that is run again."""
        page = self._page
        if not self._code:
            return False
        first, used = self._code[0], next((line for line in reversed(before._code) if page.is_tool(line)), None)
        if not page.is_tool(first):
            return page.begins_a_part(first)
        if used is None or page.paragraph(first) != page.paragraph(used):
            return False
        printed, printed_before = page.printed_first(first), page.printed_first(used)
        return printed is not None and printed_before is not None and not set(printed) & set(printed_before)
