"""SpecStory: Markdown of other agents' sessions, a header line per message, tools in `<tool-use>` tags.

Histories quote histories, so a marker counts only where SpecStory itself can have written it:

* a header stands between blank lines and is no older than the session: an older one is quoted, and all
  that follows it up to the next header of the session is text, even what looks like a tool or a user;
* a tool is used in an agent's message only, never in a user's or in a thought;
* output was long fenced by three backticks whatever it held, so a closing tag ends its tool only where a
  header or the end of the file follows it; a longer fence is closed by its own length alone.

Sub-agents that ran side by side are written as one stream, told apart by nothing: all of a file are one
session, `sidechain`. A session "resumed via SpecStory" begins with a copy of another: its text is kept,
but nobody said or did it again.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.clock import microseconds
from hardwon.model.session import Message, Origin, Role, Session, ToolCall, ToolResult
from hardwon.sessions.origin import INTERRUPTED, user_text
from hardwon.sessions.source import Source
from hardwon.sessions.specstory_tools import FENCE, UNTAGGED, Tool, call_of, parse, result_of
from hardwon.text.paths import base_name

# Which folder a session worked in, where its transcript does not say: told from the paths of its tools.

_RESET_TO = re.compile(r"^Shell cwd was reset to (/.+)\Z", re.MULTILINE)
_RUN_IN = re.compile(r'"workdir": ?"(/[^"\n]+)"|^Directory: `(/[^`\n]+)`', re.MULTILINE)
_ABSOLUTE = re.compile(r"(?<![\w./~:-])/(?:[\w.@+-]+/)+[\w.@+-]+")
_LAYOUT = frozenset("src pkg cmd lib docs doc test tests internal app apps packages scripts node_modules".split())
_MAC_HOME = re.compile(r"/Users/[^/]+")
_TAIL_CHARACTERS_SEARCHED = 400
_LISTING_CHARACTERS_SEARCHED = 4_000
_MAX_NAMESAKES = 40
_MAX_FOLDERS_WEIGHED = 20
_MAX_NEIGHBOURS_READ = 8
_MIN_NEIGHBOURS_AGREEING = 2


class Paths:
    """SpecStory writes a path below the working folder relative to it, and every other path in full."""

    def __init__(self) -> None:
        self._stated: Counter[str] = Counter()
        self._relative: dict[str, set[str]] = defaultdict(set)
        self._absolute: Counter[str] = Counter()
        self._outside: Counter[str] = Counter()

    def add(self, call: ToolCall, tool: Tool) -> None:
        output = tool.output or ""
        if call.action == "run":
            self._stated.update(_RESET_TO.findall(output[-_TAIL_CHARACTERS_SEARCHED:]))
            self._stated.update(quoted or named for quoted, named in _RUN_IN.findall(f"{tool.inputs}\n{tool.fenced}"))
        if call.target.startswith("./"):
            namesakes = self._relative[base_name(call.target)]
            if len(namesakes) < _MAX_NAMESAKES:
                namesakes.add(call.target[1:])
        elif call.action == "read" and call.target.startswith("/"):
            self._outside[call.target] += 1
        listed = output[:_LISTING_CHARACTERS_SEARCHED] if tool.kind in ("search", "write") else ""
        self._absolute.update(_ABSOLUTE.findall(f"{call.command}\n{listed}"))

    def stated(self) -> str:
        """The folder that the agent itself named."""
        return self._stated.most_common(1)[0][0] if self._stated else ""

    def likely(self) -> str:
        """The folder that makes most relative paths one with absolute ones; else the one most paths lie in."""
        votes: Counter[str] = Counter()
        for path, times in self._absolute.items():
            for tail in self._relative.get(base_name(path), ()):
                if path.endswith(tail):
                    votes[path.removesuffix(tail)] += times * tail.count("/")
        for folder, _ in votes.most_common(_MAX_FOLDERS_WEIGHED):
            votes[folder] -= sum(times for path, times in self._outside.items() if path.startswith(folder + "/"))
        if not votes:
            for path, times in self._absolute.items():
                votes[_above_the_layout(path)] += times
        votes.pop("", None)
        return votes.most_common(1)[0][0] if votes else ""


def folder_of_claude(text: str, session_id: str) -> str:
    """Claude Code keeps a session's files below its folder's path written with dashes; the path itself is near."""
    dashed = re.search(rf"/-([A-Za-z0-9-]{{3,250}})/{re.escape(session_id)}\b", text) if session_id else None
    if dashed is None:
        return ""
    found = re.search("/" + r"[^A-Za-z0-9\s]".join(dashed.group(1).split("-")) + r"(?![\w-])", text)
    return found.group() if found else ""


def folder_of_neighbours(path: Path, folder_of: Callable[[Path], str]) -> str:
    """SpecStory keeps a project's histories in one folder: where those that tell theirs agree, it is the project's."""
    try:
        changed = os.stat(path.parent).st_mtime_ns
    except OSError:
        return ""
    told = _told_in(path.absolute().parent, changed, path.suffix, folder_of)
    return told[0] if len(told) >= _MIN_NEIGHBOURS_AGREEING and len(set(told)) == 1 else ""


@lru_cache(maxsize=64)
def _told_in(folder: Path, changed: int, suffix: str, folder_of: Callable[[Path], str]) -> list[str]:  # noqa: ARG001
    """What some of the histories in a folder tell, taken from all over it; read again when the folder changed."""
    try:
        histories = sorted(entry for entry in folder.iterdir() if entry.suffix == suffix and entry.is_file())
        some = histories[:: max(1, len(histories) // _MAX_NEIGHBOURS_READ)][:_MAX_NEIGHBOURS_READ]
        return [told for history in some if (told := folder_of(history))]
    except OSError:
        return []


def one_spelling(folder: str) -> str:
    """macOS keeps one folder under `Source` and `source`, and sessions of one project have it either way."""
    home = _MAC_HOME.match(folder)
    return folder[: home.end()] + folder[home.end() :].lower() if home else folder


def _above_the_layout(path: str) -> str:
    folders = path.split("/")[:-1]
    named = next((at for at, folder in enumerate(folders) if folder in _LAYOUT or folder.startswith(".")), None)
    return "/".join(folders[:named])


NAME = "specstory"
AGENT = "specstory"
READS = "Markdown histories of Claude Code, Codex, Cursor and others: messages, tool calls and results"
VERSIONS = "Markdown v2.1; the untagged Markdown before it *unverified*"

_GENERATED = "<!-- Generated by SpecStory"
_UNVERSIONED = "<!-- Generated by SpecStory -->"
_SESSION = re.compile(
    r"^<!-- ([A-Za-z][\w .+-]{0,40}?) Session ([\w.:-]{1,128})(?: \(([^)\n]{1,64})\))? -->\r?$", re.MULTILINE
)
_HEADER = re.compile(r"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^)]{1,200})\))?( \(sidechain\))?\*\*_")
_ANY_HEADER = re.compile(r"^_\*\*(?:User|Agent|Assistant)\b", re.MULTILINE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$")
_OPENING = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">(<details>)?')
_CLOSING, _CURSOR_CLOSING = "</details></tool-use>", "</tool-use>"
_THOUGHT, _THOUGHT_END = "<think><details>", "</details></think>"
_HEAD_CHARACTERS_SEARCHED = 4_000
_AGENTS = {"codex cli": "codex", "cursor ide": "cursor", "cursor cli": "cursor", "factory droid cli": "droid"}

_SIDECHAIN = "sidechain"
_SYNTHETIC = "<synthetic>"
_RESUMED = re.compile(r"Resumed from an? .{1,80} session\b.{0,40} via SpecStory\.$")
_INTERRUPTED = "[Request interrupted by user"
_CLIENT_NOTES = ("[Image: source: ", "[Image: original ")
_COMMANDS = ("<command-message>", "<command-name>")
_SAME_MOMENT_MICROSECONDS = 1_000_000


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:  # noqa: ARG001
    return []  # histories lie in the projects themselves, as `.specstory/history`


def recognises(source: Source) -> bool:
    beginning = source.beginning.lstrip("\ufeff \t\r\n")
    return beginning.startswith(_GENERATED) and bool(_SESSION.search(beginning) or _ANY_HEADER.search(beginning))


def read(source: Source) -> list[Session]:
    text = source.text.replace("\r\n", "\n")
    provider, session_id, written = _named(text)
    started = microseconds(written)
    reader = _read(text, provider, started)
    cwd = _project_around(source.path) or _own_folder(reader, text, session_id)
    if not cwd and not source.head_only:
        cwd = folder_of_neighbours(source.path, _folder_of)
    return [
        stream.session(session_id or source.stem, reader.agent, subagent, cwd, started)
        for subagent, stream in reader.streams.items()
    ]


def _named(text: str) -> tuple[str, str, str]:
    """The agent, the session's id and when it began, as the head of the file has them."""
    found = _SESSION.search(text, 0, _HEAD_CHARACTERS_SEARCHED)
    provider, session_id, written = found.groups("") if found else ("", "", "")
    return provider, session_id, written


def _read(text: str, provider: str, started: int | None) -> _Reader:
    untagged = text.lstrip().startswith(_UNVERSIONED)
    reader = _Reader(_Page(text, started), _agent(provider), untagged=untagged)
    reader.read()
    return reader


def _own_folder(reader: _Reader, text: str, session_id: str) -> str:
    return one_spelling(reader.paths.stated() or folder_of_claude(text, session_id) or reader.paths.likely())


def _folder_of(path: Path) -> str:
    """The folder that another history tells of itself."""
    source = Source(path)
    if not recognises(source):
        return ""
    text = source.text.replace("\r\n", "\n")
    provider, session_id, written = _named(text)
    return _own_folder(_read(text, provider, microseconds(written)), text, session_id)


def _agent(provider: str) -> str:
    """The agent as its own reader names it; one without a reader by its name in the header."""
    name = provider.lower()
    return _AGENTS.get(name) or name.replace(" ", "-") or AGENT


def _project_around(path: Path) -> str:
    folder = path.absolute().parent
    return str(folder.parent.parent) if folder.parts[-2:] == (".specstory", "history") else ""


class _Header(NamedTuple):
    line: int
    user: bool
    sidechain: bool
    model: str
    at: int | None


class _Page:
    """The lines of a file, and which of them SpecStory wrote itself."""

    def __init__(self, text: str, started: int | None) -> None:
        lines = self.lines = text.split("\n")
        self.headers: list[_Header] = []
        self.quoted: list[int] = []
        self._started = started
        self._long_fences: dict[int, list[int]] = defaultdict(list)
        self._thoughts = _lines_with(_THOUGHT_END + "\n", text + "\n")
        begun = "\n" + text
        self._fences = _lines_with("\n````", begun)
        for number in _lines_with("\n_**", begun):
            self._add_header(number, lines[number])
        for number in self._fences:
            if not lines[number].strip("`"):
                self._long_fences[len(lines[number])].append(number)
        closings = (number for number in _lines_with("\n" + _CLOSING, begun) if lines[number] == _CLOSING)
        self._header_lines = [header.line for header in self.headers]
        own = set(self._header_lines)
        self._closings = [number for number in closings if self._ends_a_tool(number, own)]

    def _add_header(self, number: int, line: str) -> None:
        found = _HEADER.fullmatch(line)
        if found is None or (number and self.lines[number - 1]) or any(self.lines[number + 1 : number + 2]):
            return
        who, sidechain, described, old_sidechain = found.groups("")
        time = _TIME.search(described)
        at = microseconds(time.group()) if time else None
        if at is not None and self._started is not None and at < self._started:
            self.quoted.append(number)
            return
        model = described[: time.start()].strip() if time else described
        self.headers.append(_Header(number, who == "User", bool(sidechain or old_sidechain), model, at))

    def _ends_a_tool(self, number: int, headers: set[int]) -> bool:
        following = self.lines[number + 1 : number + 4]
        if not any(following):
            return number + 4 >= len(self.lines)
        if following[0]:
            return False
        after = number + (4 if following[1] == "---" else 2)
        return after in headers or (after < len(self.lines) and _OPENING.fullmatch(self.lines[after]) is not None)

    def end_of_message(self, line: int) -> int:
        return _next(self._header_lines, line, len(self.lines))

    def end_of_thought(self, line: int, limit: int) -> int:
        return min(_next(self._thoughts, line, limit), limit)

    def end_of_tool(self, line: int, closing: str, limit: int) -> int:
        """The line of the closing tag. A longer fence is passed over, with whatever it holds."""
        if closing == _CURSOR_CLOSING:
            return next((at for at in range(line, limit) if self.lines[at] == closing), limit)
        end = _next(self._closings, line, limit)
        while (line := _next(self._fences, line, end)) < end:
            if fence := FENCE.match(self.lines[line]):
                closed = _next(self._long_fences[len(fence.group(1))], line + 1, line)
                if closed > end:
                    end = _next(self._closings, closed, len(self.lines))
                line = closed
            line += 1
        return end

    def end_of_part(self, line: int, limit: int) -> int:
        """Where a tool without tags ends: at the rule before the next part, if no fence holds that rule."""
        fence = ""
        for at in range(line, limit):
            text = self.lines[at]
            if text.startswith("```"):
                if not fence:
                    fence = text[: len(text) - len(text.lstrip("`"))]
                elif text.startswith(fence) and not text.strip("`"):
                    fence = ""
            elif not fence and (text == "---" or UNTAGGED.match(text)):
                return at
        return limit


def _lines_with(words: str, text: str) -> list[int]:
    """The numbers of the lines that have these words, which begin or end with a line break.

    A search over the whole text is many times faster than one line by line.
    """
    numbers: list[int] = []
    line = done = 0
    at = text.find(words)
    while at >= 0:
        line += text.count("\n", done, at)
        numbers.append(line)
        done = at
        at = text.find(words, at + 1)
    return numbers


def _next(numbers: list[int], line: int, otherwise: int) -> int:
    position = bisect_left(numbers, line)
    return numbers[position] if position < len(numbers) else otherwise


class _Reader:
    """Walks from header to header; what a tool's output holds is not looked at."""

    def __init__(self, page: _Page, agent: str, *, untagged: bool) -> None:
        self.agent = agent
        self.streams: dict[str, _Stream] = {"": _Stream()}
        self.paths = Paths()
        self._page = page
        self._untagged = untagged
        self._calls = 0

    def read(self) -> None:
        line = 0
        for header in self._page.headers:
            if header.line >= line:
                line = self._read_message(header)

    def _read_message(self, header: _Header) -> int:
        page = self._page
        stream = self.streams.setdefault(_SIDECHAIN if header.sidechain else "", _Stream())
        line, end = header.line + 1, page.end_of_message(header.line + 1)
        quotes = line if header.user else _next(page.quoted, line, end)
        said: list[str] = []
        last = ""
        while line < end:
            text = page.lines[line]
            if line < quotes and text.startswith(_THOUGHT):
                line = page.end_of_thought(line, end)
            elif line < quotes and (opening := self._opening(line)):
                tool, line = self._tool(opening, line, end)
                if tool.name != last or not tool.is_empty:  # Cursor's come a second time, with nothing in them
                    self._add_tool(stream, header, _joined(said), tool)
                    said = []
                last = tool.name
                end = max(end, page.end_of_message(line))
                quotes = _next(page.quoted, line, end)
            else:
                said.append(text)
            line += 1
        if words := _joined(said):
            stream.add_text(header, words)
        return end

    def _opening(self, line: int) -> tuple[str, str, str] | None:
        """The tool's kind and name and the tag that closes it."""
        text = self._page.lines[line]
        if self._page.lines[line - 1]:
            return None
        if text.startswith("<tool-use "):
            if found := _OPENING.fullmatch(text):
                return found.group(1), found.group(2), _CLOSING if found.group(3) else _CURSOR_CLOSING
        elif self._untagged and (found := UNTAGGED.match(text)):
            return "", found.group(1), ""
        return None

    def _tool(self, opening: tuple[str, str, str], line: int, limit: int) -> tuple[Tool, int]:
        kind, name, closing = opening
        if not closing:
            end = self._page.end_of_part(line + 1, limit)
            return parse(kind, name, self._page.lines[line:end]), end - 1
        end = self._page.end_of_tool(line + 1, closing, limit)
        return parse(kind, name, self._page.lines[line + 1 : end]), end

    def _add_tool(self, stream: _Stream, header: _Header, said: str, tool: Tool) -> None:
        self._calls += 1
        call = call_of(f"t{self._calls}", tool)
        self.paths.add(call, tool)
        answered = tool.output is not None
        result = result_of(self.agent, call, tool) if answered or self.agent == "claude-code" else None
        stream.add_call(header, said, call, result, answered=answered)


class _Stream:
    """The messages of the session, or of its sub-agents."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._assumed: int | None = None
        self._resumed = False
        self._copied = 0

    def add_text(self, header: _Header, text: str) -> None:
        role: Role = "assistant"
        origin: Origin = "injected" if header.model == _SYNTHETIC else "agent"
        if header.user:
            role = "user"
            text, origin = user_text(text)
            if text.startswith(_INTERRUPTED):
                text = INTERRUPTED
            elif text.startswith(_CLIENT_NOTES) or self._expands_a_command(header.at):
                origin = "injected"
        elif header.sidechain and not header.model:
            role = "user"  # the prompt that the agent gave its sub-agent
        self._settle(answered=role == "assistant")
        self.messages.append(Message(role=role, origin=origin, at=header.at, text=text))
        if role == "assistant" and not header.model:
            self._resumed = self._resumed or (len(self.messages) == 1 and _RESUMED.match(text) is not None)
            self._copied = len(self.messages)

    def add_call(
        self, header: _Header, said: str, call: ToolCall, result: ToolResult | None, *, answered: bool
    ) -> None:
        self._settle(answered=True)
        self.messages.append(Message(role="assistant", origin="agent", at=header.at, text=said, calls=(call,)))
        if result is not None:
            self._assumed = None if answered else len(self.messages)
            self.messages.append(Message(role="tool", origin="tool", at=header.at, results=(result,)))

    def _settle(self, *, answered: bool) -> None:
        """A silent success and a call never answered look alike; but only after an answer does an agent go on."""
        if self._assumed is not None and not answered:
            del self.messages[self._assumed]
        self._assumed = None

    def _expands_a_command(self, at: int | None) -> bool:
        """What a slash command or a skill stands for is written as the user's, right after it."""
        if not self.messages:
            return False
        last = self.messages[-1]
        if last.role == "user" and last.text.startswith(_COMMANDS):
            return at is not None and last.at is not None and at - last.at < _SAME_MOMENT_MICROSECONDS
        caller = self.messages[-2] if last.role == "tool" else last
        return any(call.name == "Skill" for call in caller.calls)

    def session(self, external_id: str, agent: str, subagent: str, cwd: str, started: int | None) -> Session:
        self._settle(answered=False)
        if self._resumed:
            self.messages[: self._copied] = [replace(copy, origin="injected") for copy in self.messages[: self._copied]]
        times = [message.at for message in self.messages if message.at is not None]
        first = min(times, default=None)
        return Session(
            external_id=external_id,
            agent=agent,
            format=NAME,
            subagent=subagent,
            cwd=cwd,
            started_at=first if subagent or started is None else started,
            ended_at=max(times, default=started),
            messages=tuple(self.messages),
        )


def _joined(lines: list[str]) -> str:
    """What was said, without the rules that part it from what stands around it."""
    start, end = 0, len(lines)
    while start < end and lines[start].strip() in ("", "---"):
        start += 1
    while start < end and lines[end - 1].strip() in ("", "---"):
        end -= 1
    return "\n".join(lines[start:end]).strip()
