"""Which users' headings of a SpecStory file a tool may have printed, or a quoted file hold: read, but not believed.

Typed is only what is shown to be typed. Where tools have no tags, or tags that hold what was printed as it was, who is
printed can write all that SpecStory can: a heading that may stand in an output is believed only if the terminal's
prompt or, in tags, a time to the second shows that it does not. A fence of the agent's or the user's own words may hold
a heading, too, and their words may without any: of these only what was visibly cut in two is refused.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from hardwon.sessions.specstory_page import CARD, RULE, THOUGHT, Header, Page, count

_CLOCKS_DIFFER = 3_600_000_000
"""An hour: who writes beforehand is out by days, real headers by a minute."""


def doubtful(page: Page) -> Iterator[int]:
    """The lines of the headers that are not believed."""
    ends = [*(header.line for header in page.headers[1:]), len(page.lines)]
    turns = [_Turn(page, header, end) for header, end in zip(page.headers, ends, strict=False)]
    printed = _Printed(page)
    judged = zip(turns, _in_time(page.headers), _cut_far(turns), strict=True)
    for at, (turn, is_in_time, is_cut_far) in enumerate(judged):
        before, answer = turns[at - 1] if at else None, turns[at + 1] if at + 1 < len(turns) else None
        if not turn.header.user or turn.header.sidechain:
            continue
        line = turn.header.line
        if printed.may_hold(line) or not is_in_time or is_cut_far or _is_cut_in(before, turn, answer):
            yield line


def _cut_far(turns: list[_Turn]) -> list[bool]:
    """Of each turn, whether what stands between the agent's nearest turns with code came into the middle of it: there
    may be several, so only what is no usual thing counts."""
    found = [False] * len(turns)
    last: int | None = None
    for at, turn in enumerate(turns):
        if turn.header.user or not turn.has_code:
            continue
        if last is not None and (turn.closes_too_many or turn.leaves_open or turn.runs_again(turns[last])):
            found[last + 1 : at] = [True] * (at - last - 1)
        last = at
    return found


def _is_cut_in(before: _Turn | None, turn: _Turn, answer: _Turn | None) -> bool:
    """Whether a user's turn came into the middle of what stands around it, or another into the middle of its own."""
    is_exact = turn.header.form.endswith(" s")  # the agent's own log: it has what is said meanwhile as messages
    if not is_exact and any(near and near.header.user for near in (before, answer)):
        return True
    if before and before.has_code and (turn.closes_too_many or (answer and answer.closes_too_many)):
        return True
    if before and answer and answer.goes_on_from(before):
        return True
    if before is None or before.header.user or not before.ends_with_code:
        return False
    return (answer is None or turn.ends_with_code) and turn.opens_again(before)


def _in_time(headers: list[Header]) -> Iterator[bool]:
    """Of each header, whether it is dated between those around it, but for the answer, which would be of the same hand.

    An agent's own log, to the second, is in order: between all of them. An editor's times are not: between the next.
    """
    latest = list(accumulate((header.at or 0 for header in headers), max, initial=0))
    later = list(accumulate((header.at or sys.maxsize for header in reversed(headers)), min, initial=sys.maxsize))
    earliest = [*reversed(later), sys.maxsize]
    for at, header in enumerate(headers):
        time = header.at
        if time is None:
            yield True
        elif header.form.endswith(" s"):
            yield latest[at] - _CLOCKS_DIFFER <= time <= earliest[at + 2] + _CLOCKS_DIFFER
        else:
            before = next((found for number in range(at - 1, -1, -1) if (found := headers[number].at)), time)
            after = next((found for number in range(at + 2, len(headers)) if (found := headers[number].at)), time)
            yield before > after or before - _CLOCKS_DIFFER <= time <= after + _CLOCKS_DIFFER


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
        while last > self.header.line and lines[last].strip() in ("", RULE):
            last -= 1
        return lines[last]

    @property
    def ends_with_code(self) -> bool:
        return self.last_line.startswith(("```", "</"))

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
        """Whether a part begins with its first fence and is no tool; or its first command is the last of the one
        before, used in the same way, and does not begin to print as that did, as one does that is run again."""
        page = self._page
        if not self._code or not before.has_code:
            return False
        if not page.is_tool(self._code[0]):
            return page.begins_a_part(self._code[0]) and not page.is_edit(self._code[0])
        return self.runs_again(before)

    def runs_again(self, before: _Turn) -> bool:
        page = self._page
        first, used = self._first_command(self._code), self._first_command(reversed(before._code))
        if first is None or used is None or page.paragraph(first) != page.paragraph(used):
            return False
        printed, printed_before = page.printed_first(first), page.printed_first(used)
        return printed is not None and printed_before is not None and printed[:1] != printed_before[:1]

    @property
    def leaves_open(self) -> bool:
        """Whether it begins a thought or a card and does not end it, or an edit whose lines have no marks."""
        lines = self._page.lines[self.header.line : self._end]
        for opening, closing in ((THOUGHT, "</details></think>"), (CARD, "</details>")):
            last = max((at for at, line in enumerate(lines) if line == opening), default=-1)
            if last >= 0 and closing not in lines[last:]:
                return True
        return not self._page.edits_are_marked(self.header.line, self._end)

    def _first_command(self, code: Iterable[int]) -> int | None:
        """The first tool that prints what others may have written: every line of an edit has its mark."""
        return next((line for line in code if self._page.is_tool(line) and not self._page.is_edit(line)), None)


# What such a tool printed stands as it was. Whoever is printed can end it, let anybody speak and open any other tool,
# byte for byte as SpecStory writes: all from within an output to within what a later fence, card or tag holds may be
# his. Two things he cannot do: show the terminal's prompt, with who works where, as it shows elsewhere, and be longer
# than an output is. So a prompt next to a heading speaks for it that is shown farther away than one output reaches.

_PROMPT = re.compile(
    r"\s*(?:\([\w. -]{1,40}\) ?)?(?:PS )?"
    r"(?:([A-Za-z]:\\[^>\n]{0,200})>|([\w.-]{1,64}@[\w.-]{1,64})[: ].{0,120}?[%$#](?: |$)|"
    r"([\w.-]{1,64}:)\S{1,120} ([\w.-]{1,64}[%$#])(?: |$))"
)
_FOLDERS_COMPARED = 3
_ECHOED_CHARACTERS = 12
_COMMANDS_COMPARED = 20
_PROMPTS_COMPARED = 16
_LONGEST_OUTPUT = 100_000
"""In characters. Cursor cuts off what a terminal printed: of 3,262 outputs the three longest have 99,336 to 99,712."""


class _Printed:
    """Where who is printed can have begun and ended, and where prompts are shown."""

    def __init__(self, page: Page) -> None:
        prompts: dict[str, list[int]] = defaultdict(list)
        starts: list[int] = []
        commands: dict[int, int] = {}
        for begins, ends in sorted(page.fences.items()):
            if ends + 2 in page.fences and page.is_untagged_shell(begins):
                screen = _screen(page.lines, begins, ends + 2, page.fences[ends + 2])
                starts.append(screen.first)
                commands[ends + 2] = screen.command
                for prompt, line in screen.prompts:
                    prompts[prompt].append(line)
        fences = sorted(commands.get(opening, opening) for opening in page.openings_of_parts())
        is_exact = all(header.form.endswith(" s") for header in page.headers if header.user)
        tools = [] if is_exact else page.unescaped_tools()
        self._stretches = ((starts, fences, _LONGEST_OUTPUT), (*page.cards(), sys.maxsize), (tools, tools, sys.maxsize))
        self._prompts = sorted(prompts.values(), key=len)[-_PROMPTS_COMPARED:]
        self._offsets = list(accumulate((len(line) + 1 for line in page.lines), initial=0))

    def may_hold(self, line: int) -> bool:
        return any(
            starts
            and ends
            and starts[0] < line < ends[-1]
            and self._fits(starts[bisect_left(starts, line) - 1], ends[bisect_left(ends, line)], longest)
            for starts, ends, longest in self._stretches
        )

    def _fits(self, start: int, end: int, longest: int) -> bool:
        """Whether the shortest stretch around a line may be one output, and so may each longer one that is not too
        long: none has a prompt that is shown outside of it as well."""
        return self._size(start, end) <= longest and not any(
            count(shown, start, end + 1) and self._size(min(shown[0], start), max(shown[-1], end)) > longest
            for shown in self._prompts
        )

    def _size(self, start: int, end: int) -> int:
        return self._offsets[end] - self._offsets[start]


class _Screen(NamedTuple):
    first: int
    """The first line that who is printed can have written."""
    command: int
    """The line that shows the command behind a prompt, or the first one."""
    prompts: list[tuple[str, int]]


def _screen(lines: list[str], begins: int, printed: int, ends: int) -> _Screen:
    """A command with its output."""
    last = min(printed - 2, begins + 1 + _COMMANDS_COMPARED)
    commands = [line.strip()[:_ECHOED_CHARACTERS] for line in lines[begins + 1 : last] if line.strip()]
    shown = [number for number in range(printed + 1, ends) if lines[number].strip()]
    first = command = printed
    prompts: list[tuple[str, int]] = []
    for number in shown:
        who, typed = _prompt(lines[number])
        if who and any(one in typed for one in commands):
            first = command = number
            break
        if who and number == shown[0] and not typed:
            first = number
    if first > printed:
        prompts.append((_prompt(lines[first])[0], first))
    if shown and shown[-1] > first:
        who, typed = _prompt(lines[shown[-1]])
        if who and not typed:
            prompts.append((who, shown[-1]))
    return _Screen(first + 1, command, prompts)


def _prompt(shown: str) -> tuple[str, str]:
    """Who works where, by the prompt that a line begins with, and what is typed behind it."""
    found = _PROMPT.match(shown)
    if found is None:
        return "", ""
    folder, who, machine, name = found.groups("")
    folders = folder.lower().strip("\\ ").split("\\")
    return "\\".join(folders[:_FOLDERS_COMPARED]) or who or machine + name, shown[found.end() :].strip()
