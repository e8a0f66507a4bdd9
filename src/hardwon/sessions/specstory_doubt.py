"""Which users' headings of a SpecStory file a tool may have printed, or a quoted file hold: read, but not believed.

Whoever closes the fence or the tag that he is printed in, and opens one again behind what he lets the user say, writes
what SpecStory would. But users mostly speak after an agent's words, agents answer, time goes on, what was cut in two
begins again where it should not, and a screen shows its prompt, with who works where, before a command and after it.
No such sign is enough by itself, but for the prompt: people interrupt, agents end with code, clocks are set.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from hardwon.sessions.specstory_page import CARD, RULE, THOUGHT, Header, Page

_CLOCKS_DIFFER = 3_600_000_000
"""An hour: who writes beforehand is out by days, real headers by a minute."""


def doubtful(page: Page) -> Iterator[int]:
    """The lines of the headers that are not believed."""
    ends = [*(header.line for header in page.headers[1:]), len(page.lines)]
    turns = [_Turn(page, header, end) for header, end in zip(page.headers, ends, strict=False)]
    screens = _Screens(page)
    for at, (turn, is_cut_far) in enumerate(zip(turns, _cut_far(turns), strict=True)):
        before, answer = turns[at - 1] if at else None, turns[at + 1] if at + 1 < len(turns) else None
        line = turn.header.line
        if not turn.header.user or turn.header.sidechain:
            continue
        is_cut = is_cut_far or _is_cut_in(before, turn, answer)
        if not _in_time(page.headers, at) or screens.cut_at(line) or (is_cut and not screens.whole_around(line)):
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
    return turn.has_parts or ((answer is None or turn.ends_with_code) and turn.opens_again(before))


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
        while last > self.header.line and lines[last].strip() in ("", RULE):
            last -= 1
        return lines[last]

    @property
    def ends_with_code(self) -> bool:
        return self.last_line.startswith(("```", "</"))

    @property
    def has_parts(self) -> bool:
        """Whether rules part it, as they part what an agent says and uses."""
        lines = self._page.lines
        first = next((line for line in range(self.header.line, self._end) if lines[line] == RULE), self._end)
        return any(line.strip() not in ("", RULE) for line in lines[first : self._end])

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
            if opening not in lines:
                continue
            last = max(at for at, line in enumerate(lines) if line == opening)
            if closing not in lines[last:]:
                return True
        return not self._page.edits_are_marked(self.header.line, self._end)

    def _first_command(self, code: Iterable[int]) -> int | None:
        """The first tool that prints what others may have written: every line of an edit has its mark."""
        return next((line for line in code if self._page.is_tool(line) and not self._page.is_edit(line)), None)


# What a terminal shows: the prompt and the command, what that printed, and the prompt again. Whoever is printed does
# not know the prompt: it has the user's name and machine, or the folder.

_PROMPT = re.compile(
    r"\s*(?:\([\w. -]{1,40}\) ?)?(?:PS )?"
    r"(?:([A-Za-z]:\\[^>\n]{0,200})>|([\w.-]{1,64}@[\w.-]{1,64})[: ].{0,120}?[%$#](?: |$))"
)
_ECHOED_CHARACTERS = 12
_PRINTS_NO_FILE = re.compile(r"(?:cd|cp|mv|mkdir|touch|chmod|git (?:add|mv|checkout|switch|stash))\b[^|;&]*$")


class _Screen(NamedTuple):
    """A command with its output."""

    begins: int
    ends: int
    opens: bool
    closes: bool
    known: bool
    """Whether it opens with a prompt that was shown before."""
    prints: bool
    """Whether what others wrote may be in it."""

    @property
    def lasts(self) -> bool:
        return self.opens and not self.closes and self.prints


class _Screens:
    """The terminal's screens of a file without tags, where output stands as it was."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._all = list(self._walk())
        self._prompting = [screen for screen in self._all if screen.opens or screen.closes]

    def _walk(self) -> Iterator[_Screen]:
        """Commands with what they printed, and any other fence that ends with a known prompt."""
        page = self._page
        prompts: set[str] = set()
        lasting, past = False, -1
        for begins, command_ends in sorted(page.fences.items()):
            if begins < past:
                continue
            is_run = command_ends + 2 in page.fences and page.is_untagged_shell(begins)
            printed = command_ends + 2 if is_run else begins
            past = page.fences[printed]
            command = page.lines[begins + 1].strip() if is_run else ""
            shown = [line for line in page.lines[printed + 1 : past] if line.strip()]
            first = _prompt_of(command, shown)
            known = _is_below(first, prompts)
            opens = known or (bool(first) and not lasting)
            if opens:
                prompts.add(first)
            closes = bool(shown) and not _echoes(command, shown[-1]) and _is_below(_prompt(shown[-1]), prompts)
            lasting = (lasting or opens) and not closes
            if is_run or closes:
                prints = not _PRINTS_NO_FILE.match(command)
                yield _Screen(begins, past, opens, closes, known, prints)

    def cut_at(self, line: int) -> bool:
        """Whether a screen before a line lacks the closing prompt, and one behind it the opening one."""
        before, after = _around(self._all, line)
        if before and after and before.lasts and not after.opens:
            return True
        before, after = _around(self._prompting, line)
        return bool(before and after and before.lasts and not after.opens)

    def whole_around(self, line: int) -> bool:
        """Whether what is run right before a line ends with the prompt, or what is run right behind it begins so."""
        before, after = _around(self._all, line)
        if before and before.closes and self._only_edits(before.ends + 1, line):
            return True
        return bool(after and after.known and self._only_edits(line, after.begins))

    def _only_edits(self, line: int, end: int) -> bool:
        return self._page.only_edits(line, end) and self._page.edits_are_marked(line, end)


def _prompt_of(command: str, shown: list[str]) -> str:
    """The prompt that a command stands behind."""
    return next((who for line in shown if _echoes(command, line) and (who := _prompt(line))), "")


def _echoes(command: str, shown: str) -> bool:
    return bool(command) and command[:_ECHOED_CHARACTERS] in shown


def _prompt(shown: str) -> str:
    """Who works where, by the prompt that a line begins with."""
    found = _PROMPT.match(shown)
    return "" if found is None else (found.group(1) or found.group(2)).rstrip("\\ ").lower()


def _is_below(prompt: str, prompts: set[str]) -> bool:
    """Whether it is one of these, or of a folder in theirs."""
    parts = prompt.split("\\")
    return any("\\".join(parts[:end]) in prompts for end in range(len(parts), 0, -1)) if prompt else False


def _around(screens: list[_Screen], line: int) -> tuple[_Screen | None, _Screen | None]:
    at = bisect_left(screens, line, key=lambda screen: screen.begins)
    return screens[at - 1] if at else None, screens[at] if at < len(screens) else None
