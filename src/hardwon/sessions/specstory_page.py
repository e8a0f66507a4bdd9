"""Which lines of a SpecStory file SpecStory wrote itself: its headers, and where what a tool printed ends.

What a tool printed, a file held or somebody quoted can look like anything, a header too. So one counts only

* between blank lines, under a rule or the head of the file; without a rule only where the user does not begin to speak;
* written as the file's first one of its kind is: with a time or without, `Agent` or `Assistant`;
* in files whose times have seconds, which are the agent's own: not before all of them;
* outside tools, thoughts and fences.

Tags and fences are paired, so that what is quoted whole stays inside. Output is often fenced by three backticks
whatever it holds, and may close its fence or its tag itself: that shows by the true end, which is then one too many
and ends what it belongs to after all. Where the output opens one again as well, a header is at least doubtful; where
an agent's own fence of three backticks holds tools, a forgery cannot be told.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from hardwon.clock import microseconds

FENCE = re.compile(r"(`{3,})([\w.+-]*)\s*$")
UNTAGGED = re.compile(r"Tool use: \*\*([^*]{1,80})\*\*")
OPENING = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">(<details>)?')
CARD = "<details>"
SHELLS = frozenset("bash sh shell zsh powershell pwsh cmd".split())
RULE = "---"

_CLOSING, _CURSOR_CLOSING, _CARD_CLOSING = "</details></tool-use>", "</tool-use>", "</details>"
THOUGHT, _THOUGHT_END = "<think><details>", "</details></think>"
_HEADER = re.compile(r"_\*\*(User|Agent|Assistant|)( - sidechain)?(?: \(([^)]{1,200})\))?( \(sidechain\))?\*\*_")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$")
_OPENS_A_FENCE = re.compile(r"(`{3,})([^`]*)$")
_MARKS = frozenset("`_<")  # what fences, headers and tags begin with
_EDIT_MARKS = frozenset(("", " ", "+", "-", "@", "\\"))
_BLANK_LINES_PASSED = 3
_LINES_COMPARED = 4
_RUN = "a command and its output"


class Header(NamedTuple):
    line: int
    user: bool
    sidechain: bool
    model: str
    at: int | None
    form: str
    """How it is written: who, and how exactly when."""
    ruled: bool


class _Open(NamedTuple):
    line: int
    ticks: int
    shell: bool = False
    output: bool = False


class Page:
    """The lines of a file, and which of them SpecStory wrote itself."""

    def __init__(self, text: str, started: int | None, *, tagged: bool) -> None:
        self.lines = text.split("\n")
        self.headers: list[Header] = []
        self.quoted: list[int] = []
        """Headers of another session, or made up: what follows them is text."""
        self.fences: dict[int, int] = {}
        """Where each fence ends that stands in a message itself."""
        marks = [number for number, line in enumerate(self.lines) if line[:1] in _MARKS]
        self._fence_lines = self._beginning(marks, "```")
        thoughts = self._beginning(marks, THOUGHT)
        self._thought_ends = _lines_ending(_THOUGHT_END, text) if thoughts else []
        self._tagged = tagged
        own = self._own_headers(self._beginning(marks, "_**"), started)
        self._own = {header.line: header for header in own}
        self._tools = self._tool_ends(marks)
        self._walk(thoughts)
        self._header_lines = [header.line for header in self.headers]

    def _beginning(self, numbers: list[int], words: str) -> list[int]:
        return [number for number in numbers if self.lines[number].startswith(words)]

    def end_of_message(self, line: int) -> int:
        return following(self._header_lines, line, len(self.lines))

    def end_of_thought(self, line: int, limit: int) -> int:
        return min(following(self._thought_ends, line, limit), limit)

    def end_of_tool(self, line: int, limit: int) -> int:
        """The line of the tag that closes what is opened here."""
        return self._tools.get(line, limit)

    def end_of_part(self, line: int, limit: int) -> int:
        """Where a tool without tags ends: at the rule before the next part, if no fence or card holds that rule."""
        while line < limit:
            text = self.lines[line]
            if text.startswith("```"):
                line = self.fences.get(line, line)
            elif line in self._tools:
                line = self._tools[line]
            elif text == RULE or UNTAGGED.match(text):
                return line
            line += 1
        return min(line, limit)

    def begins_a_part(self, line: int) -> bool:
        """Whether a line is the first below a rule or a header, or what a tool without tags stands over."""
        above = self._nearest(line, -1)
        return above < 0 or self.lines[above] == RULE or above in self._own or bool(UNTAGGED.match(self.lines[above]))

    def ends_a_part(self, line: int) -> bool:
        """Whether nothing but a rule, a header or the end of the file follows a line."""
        if any(self.lines[line + 1 : line + 2]):
            return False
        below = self._nearest(line, 1)
        return below >= len(self.lines) or self.lines[below] == RULE or below in self._own

    def _nearest(self, line: int, step: int) -> int:
        """The next line that is not blank, or one that is if there are many."""
        end = line + step * (_BLANK_LINES_PASSED + 1)
        line += step
        while line != end and 0 <= line < len(self.lines) and not self.lines[line].strip():
            line += step
        return line

    def _own_headers(self, numbers: Iterable[int], started: int | None) -> list[Header]:
        """Those that are written as this file's own are, wherever they stand."""
        forms: dict[bool, str] = {}
        own: list[Header] = []
        for number in numbers:
            header = self._header(number, first=not own)
            if header is None:
                continue
            if not own and header.at is not None:
                started = header.at if started is None else min(started, header.at)
            form = header.form if header.user else header.form.partition(" ")[0]
            early = header.form.endswith(" s") and (header.at or 0) < (started or 0)
            if early or forms.setdefault(header.user, form) != form:
                self.quoted.append(number)
            else:
                own.append(header)
        return own

    def _header(self, number: int, *, first: bool) -> Header | None:
        found = _HEADER.fullmatch(self.lines[number].rstrip())
        if found is None or (number and self.lines[number - 1].strip()) or any(self.lines[number + 1 : number + 2]):
            return None
        who, sidechain, described, old_sidechain = found.groups("")
        time = _TIME.search(described)
        at = microseconds(time.group()) if time else None
        model = described[: time.start()].strip() if time else described
        form = f"{who or 'Assistant'} {'' if time is None else 's' if time.group(1) else 'm'}"
        above = self._nearest(number, -1)
        ruled = first or above < 0 or self.lines[above] == RULE
        return Header(number, who == "User", bool(sidechain or old_sidechain), model, at, form, ruled)

    def _tool_ends(self, numbers: list[int]) -> dict[int, int]:
        """Where each tool and card ends, by its first line. One that is never closed is not in it."""
        marks: dict[int, str] = {}
        for number in self._beginning(numbers, "<tool-use "):
            if (found := OPENING.fullmatch(self.lines[number])) and not self.lines[number - 1]:
                marks[number] = _CLOSING if found.group(3) else _CURSOR_CLOSING
        if not self._tagged:
            for number in self._beginning(numbers, CARD):
                if self.begins_a_part(number):
                    marks[number] = _CARD_CLOSING
        if not marks:
            return {}
        opened = frozenset(marks)
        openings = sorted(opened)
        closings = frozenset(marks.values())
        for number in self._beginning(numbers, "</"):
            text = self.lines[number]
            if text not in closings:
                continue
            if self.ends_a_part(number) or self._nearest(number, 1) in opened:
                marks[number] = text
            elif end := self._end_of_answer_below(number, openings):
                marks[end] = text
        marks.update((number, "```") for number in self._fence_lines if self.lines[number].startswith("````"))
        marks.update((number, _RUN) for number in self._fence_lines if self.is_untagged_shell(number))
        return self._paired(marks, opened)

    def _end_of_answer_below(self, number: int, openings: list[int]) -> int:
        """Where the fence right below a closing tag ends, if the tool holds none: v2.0 writes the answer to a list of
        tasks so. 0 if it is none."""
        opening, fence = bisect_left(openings, number) - 1, bisect_left(self._fence_lines, number)
        below = self._fence_lines[fence : fence + 2]
        is_answer = len(below) == 2 and below[0] == number + 1 and opening >= 0
        if is_answer and (not fence or self._fence_lines[fence - 1] < openings[opening]) and self.ends_a_part(below[1]):
            return below[1]
        return 0

    def _paired(self, marks: dict[int, str], opened: frozenset[int]) -> dict[int, int]:
        ends: dict[int, int] = {}
        firsts: dict[str, list[int]] = defaultdict(list)
        waiting: list[int] = []
        last, past = -1, -1
        for number in sorted(marks):
            kind = marks[number]
            if number < past:
                continue
            if kind == "```":
                if waiting:
                    past = self._end_of_long_fence(number)
            elif kind == _RUN:
                last = last if waiting else -1  # what a command prints ends nothing before it
            elif number in opened:
                waiting.append(number)
            else:
                firsts[kind].append(number)
                if waiting and marks[waiting[-1]] == kind:
                    last = waiting.pop()
                    ends[last] = number
                elif not waiting and last >= 0 and marks[last] == kind:
                    ends[last] = number
        for number in waiting:
            end = following(firsts[marks[number]], number, -1)
            if end >= 0:
                ends[number] = end
        return ends

    def _end_of_long_fence(self, number: int) -> int:
        """One of more than three backticks is closed by its own length alone."""
        fence = FENCE.match(self.lines[number])
        return following(self._long_fences[len(fence.group(1))], number + 1, number) if fence else number

    @cached_property
    def _long_fences(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for number in self._fence_lines:
            if not self.lines[number].strip("`"):
                found[len(self.lines[number])].append(number)
        return found

    def _walk(self, thoughts: list[int]) -> None:
        """Go through all marks in order, past what tools and thoughts hold, and see which headers are in no fence."""
        fences = _Fences(self)
        past, user, thought, foreign = -1, True, frozenset(thoughts), frozenset(self.quoted)
        quoting = False
        for number in sorted({*self._fence_lines, *self._own, *self._tools, *thoughts, *foreign}):
            if number <= past:
                continue
            if header := self._own.get(number):
                if (header.ruled or not header.user or user) and not fences.hold(header):
                    user, quoting = header.user, False
                    self.headers.append(header)
                else:
                    self.quoted.append(number)
            elif number in foreign:
                quoting = True
            elif self.lines[number].startswith("```"):
                if fences.add(number, user=user):
                    user = self._take_back(fences.last_output)
            elif not (user or quoting or fences.outlast(number)):
                past = self._tools.get(number, past)
                if number in thought:
                    end = following(self._thought_ends, number, past)
                    past = end if following(thoughts, number + 1, end + 1) > end else past
        self.quoted.sort()

    def _take_back(self, output: int) -> bool:
        """Headers that have proved to be in an output were not SpecStory's; who speaks is the agent, as before them."""
        while self.headers[-1].line > output:
            self.quoted.append(self.headers.pop().line)
        return False

    def is_untagged_shell(self, number: int) -> bool:
        """A shell's fence that begins a part of its own is a command that was run."""
        fence = FENCE.match(self.lines[number])
        return not self._tagged and fence is not None and fence.group(2) in SHELLS and self.begins_a_part(number)

    def is_tool(self, number: int) -> bool:
        """Whether a tool's use begins at a line, rather than a fence of somebody's words."""
        if not self.lines[number].startswith("```"):
            return True
        return self.is_untagged_shell(number) or (self.lines[number] == "```diff" and self.begins_a_part(number))

    def is_edit(self, number: int) -> bool:
        """Whether a fence or a tool shows what was changed."""
        opening = OPENING.match(self.lines[number])
        return self.lines[number].startswith("```diff") or (opening is not None and opening.group(1) == "write")

    def paragraph(self, line: int) -> list[str]:
        """A tool's first: which it is, and what it is used for."""
        end = line + 1
        while end < len(self.lines) and self.lines[end]:
            end += 1
        return self.lines[line:end]

    def printed_first(self, line: int) -> list[str] | None:
        """The first lines of what a tool printed, if it has an output."""
        opened = bisect_left(self._fence_lines, self._tools.get(line, 0)) - 2  # the last pair of those in its tags
        start = self._fence_lines[opened] if line in self._tools else self.fences.get(line, line) + 2
        if start <= line or not any(text.startswith("```") for text in self.lines[start : start + 1]):
            return None
        found: list[str] = []
        for number in range(start + 1, len(self.lines)):
            text = self.lines[number].strip()
            if len(found) == _LINES_COMPARED or text.startswith("```"):
                break
            if text:
                found.append(text)
        return found

    def is_plain(self, line: int) -> bool:
        return self.lines[line].startswith("```") and not self.lines[line].strip("` ")

    def fences_between(self, line: int, end: int) -> list[int]:
        """Where any begins or ends."""
        return self._fence_lines[bisect_left(self._fence_lines, line) : bisect_left(self._fence_lines, end)]

    def only_edits(self, line: int, end: int) -> bool:
        """Whether all fences between two lines show what was changed."""
        return _count(self._fence_lines, line, end) == 2 * _count(self._edits, line, end)

    def edits_are_marked(self, line: int, end: int) -> bool:
        """Whether every line of what was changed has its mark."""
        return not _count(self._unmarked_edits, line, end)

    @cached_property
    def _edits(self) -> list[int]:
        return sorted(number for number in self.fences if self.is_edit(number))

    @cached_property
    def _unmarked_edits(self) -> list[int]:
        return [
            number
            for number in self._edits
            if any(text[:1] not in _EDIT_MARKS for text in self.lines[number + 1 : self.fences[number]])
        ]

    def code_between(self, line: int, end: int) -> list[int]:
        """Where the fences and tools begin that are in no other, but for the empty ones amid Copilot's words."""
        found: list[int] = []
        for number in self._code[bisect_left(self._code, line) : bisect_left(self._code, end)]:
            if number >= line:
                last = max(self._tools.get(number, number), self.fences.get(number, number))
                if (
                    last == number
                    or any(self.lines[number + 1 : last])
                    or self.lines[self._nearest(number, -1)] == RULE
                ):
                    found.append(number)
                line = last + 1
        return found

    @cached_property
    def _code(self) -> list[int]:
        return sorted({*self._fence_lines, *self._tools})

    @cached_property
    def _strays(self) -> dict[int, tuple[bool, bool]]:
        """By header: whether the next message that does not close all its fences has closed one too many, surely and
        maybe. Up to the next tool: nobody's fence holds real ones."""
        follows: dict[int, tuple[bool, bool]] = {}
        numbers = sorted(self._own)
        tools = sorted({*self._tools, *filter(self.is_untagged_shell, self._fence_lines)})
        stray = False, False
        for start, end in reversed(list(zip(numbers, [*numbers[1:], len(self.lines)], strict=True))):
            tool = following(tools, start, end)
            first, last = bisect_left(self._fence_lines, start), bisect_left(self._fence_lines, min(tool, end))
            closes = self._closes_too_many(self._fence_lines[first:last])
            if closes is not None or tool < end:
                stray = closes or (False, False)
            follows[start] = stray
        return follows

    def _closes_too_many(self, fences: list[int]) -> tuple[bool, bool] | None:
        """Whether one of these ends what none of them began, surely and maybe; None if they are in pairs."""
        waiting: list[int] = []
        for number in fences:
            found = _OPENS_A_FENCE.match(self.lines[number])
            if found is None:
                continue
            plain = not found.group(2).strip()
            if plain and waiting:
                waiting.pop()
            elif plain and self._looks_like_an_end(number):
                return True, True
            else:
                waiting.append(number)
        if not waiting:
            return None
        first = waiting[0]
        is_plain = not self.lines[first].strip("` ")
        surely = is_plain and not any(self.lines[first + 1 : first + 2])
        return surely, surely or (is_plain and bool(self.lines[first - 1]))  # one that begins has a blank above

    def _looks_like_an_end(self, number: int) -> bool:
        """Text above and a blank below, if it is not the first of an empty pair, which Copilot writes for its edits."""
        below = [*self.lines[number + 1 : number + 3], "", ""]
        return bool(self.lines[number - 1]) and not below[0] and not below[1].startswith("```")

    def in_order(self, header: Header) -> bool:
        """Whether its time, to the second, is not after a later header's: nobody else can know that."""
        return header.form.endswith(" s") and header.at == self._earliest_from[header.line]

    @cached_property
    def _earliest_from(self) -> dict[int, int]:
        """By header: the earliest time from it on."""
        found: dict[int, int] = {}
        earliest = sys.maxsize
        for line, header in reversed(self._own.items()):
            earliest = found[line] = min(earliest, header.at or 0)
        return found

    def closed_later(self, header: Header, *, is_open: bool) -> bool:
        """Whether a fence ends behind it that began before. Where one is open, what may be its end is taken for it:
        that two were forgotten, one after the other, is the rarer thing."""
        surely, maybe = self._strays[header.line]
        return surely or (maybe and is_open)


class _Fences:
    """The fences that are open, of messages themselves and of what untagged tools printed."""

    def __init__(self, page: Page) -> None:
        self.waiting: list[_Open] = []
        self._page = page
        self._closed: list[_Open] = []
        """Those that were closed in this message; the last of them, maybe, by what it held."""
        self._closed_shell = -1
        self.last_output = -1
        self._part_ends = [
            number
            for number in page._fence_lines
            if not page._tagged and not page.lines[number].strip("`") and page.ends_a_part(number)
        ]

    def hold(self, header: Header) -> bool:
        """Whether a header stands in a fence. People and agents forget to close theirs; SpecStory does not."""
        if any(fence.output for fence in self.waiting):
            return True
        is_later = (self.waiting or self._closed) and self._page.closed_later(header, is_open=bool(self.waiting))
        if is_later and not self._page.in_order(header):
            self.waiting = self.waiting or [self._closed[-1]]
            return True
        self.waiting.clear()
        self._closed.clear()
        return False

    def outlast(self, number: int) -> bool:
        """Whether a tool or a thought stands in a fence. One that begins a part ends those that were forgotten."""
        if self.waiting and not self.waiting[-1].output and self._page.begins_a_part(number):
            self.waiting.clear()
        if not self.waiting:
            self.last_output = -1
        return bool(self.waiting)

    def add(self, number: int, *, user: bool) -> bool:
        """Open or close one. Whether it turns out to be the true end of the last output."""
        found = _OPENS_A_FENCE.match(self._page.lines[number])
        if found is None:
            return False
        ticks, info = len(found.group(1)), found.group(2).strip()
        top = self.waiting[-1] if self.waiting else None
        if top and top.ticks > ticks:
            return False
        if info:
            shell = not user and self._page.is_untagged_shell(number)
            if shell or top is None or not top.output:
                self.waiting.append(_Open(number, ticks, shell=shell))
            if info == "diff" and top is None and self._page.begins_a_part(number):
                self.last_output = -1
        elif number == self._closed_shell + 2 and not self._page.lines[number - 1] and self._is_closed(number):
            self.waiting.append(_Open(number, ticks, output=True))
        elif top is not None:
            if not top.output or self._page.ends_a_part(number):
                self._close(number)
        elif self.last_output >= 0 and self._page.ends_a_part(number):
            self._page.fences[self.last_output] = number
            return True
        else:
            self.waiting.append(_Open(number, ticks))
        return False

    def _is_closed(self, number: int) -> bool:
        return following(self._part_ends, number + 1, -1) >= 0

    def _close(self, number: int) -> None:
        fence = self.waiting.pop()
        self._page.fences[fence.line] = number
        if not (fence.shell or fence.output):
            self._closed.append(fence)
        if fence.shell:
            self._closed_shell = number
        if fence.output:
            self.last_output = fence.line
            self._closed.clear()  # nobody's fence holds real tools


def _lines_ending(words: str, text: str) -> list[int]:
    """The numbers of the lines that end so. A search over the whole text is many times faster than line by line."""
    words, text = words + "\n", text + "\n"
    numbers: list[int] = []
    line = done = 0
    at = text.find(words)
    while at >= 0:
        line += text.count("\n", done, at)
        numbers.append(line)
        done = at
        at = text.find(words, at + 1)
    return numbers


def _count(numbers: list[int], line: int, end: int) -> int:
    return bisect_left(numbers, end) - bisect_left(numbers, line)


def following(numbers: list[int], line: int, otherwise: int) -> int:
    position = bisect_left(numbers, line)
    return numbers[position] if position < len(numbers) else otherwise
