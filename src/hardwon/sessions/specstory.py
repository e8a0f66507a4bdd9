"""SpecStory: Markdown of other agents' sessions, a header line per message, tools in tags, in cards or by their fences.

Histories quote histories: `specstory_page` says which lines SpecStory wrote itself, `specstory_tools` what a tool's
mean. A tool is used in an agent's message only, never in a user's or in a thought.

Sub-agents that ran side by side are written as one stream, told apart by nothing: all of a file are one
session, `sidechain`. A session "resumed via SpecStory" begins with a copy of another: its text is kept,
but nobody said or did it again.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

from hardwon.clock import microseconds
from hardwon.model.session import Message, Origin, Role, Session, ToolCall, ToolResult
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.specstory_doubt import doubtful
from hardwon.sessions.specstory_page import OPENING, THOUGHT, Header, Page, following
from hardwon.sessions.specstory_tools import (
    TURNED_DOWN,
    Tool,
    call_of,
    parse,
    result_of,
    turned_down,
    untagged,
    without_entities,
)
from hardwon.text.normalise import base_name

# Which folder a session worked in, where its transcript does not say: told from the paths of its tools.

_RESET_TO = re.compile(r"^Shell cwd was reset to (/.+)\Z", re.MULTILINE)
_RUN_IN = re.compile(r'"workdir": ?"(/[^"\n]+)"|^Directory: `(/[^`\n]+)`', re.MULTILINE)
_ABSOLUTE = re.compile(r"/(?<![\w./~:-]/)(?:[\w.@+-]+/)+[\w.@+-]+")  # its first sign first: far faster to find
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
        self._relative: dict[str, dict[str, None]] = defaultdict(dict)
        self._absolute: Counter[str] = Counter()
        self._outside: Counter[str] = Counter()

    def add(self, call: ToolCall, tool: Tool) -> None:
        output = tool.output or ""
        if call.action == "run":
            self._stated.update(_RESET_TO.findall(output[-_TAIL_CHARACTERS_SEARCHED:]))
            given = f"{tool.inputs}\n{tool.fenced}"
            if '"workdir"' in given or "Directory: `" in given:
                self._stated.update(quoted or named for quoted, named in _RUN_IN.findall(given))
        if call.target.startswith("./"):
            namesakes = self._relative[base_name(call.target)]
            if len(namesakes) < _MAX_NAMESAKES:
                namesakes[call.target[1:]] = (
                    None  # a set in order: of two folders with as many votes the first is taken
                )
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
VERSIONS = "Markdown v2.0 and v2.1, the untagged Markdown before it, and the old `## SpecStory` heading"

_MARK = re.compile(r"^(?:<!-- Generated by SpecStory|## SpecStory\s*$)", re.MULTILINE)
_VERSIONED = "<!-- Generated by SpecStory, Markdown v"
_BARE_TITLE = re.compile(r"##? \S[^\n]*\n\s*\n_\*\*User\b")
_SESSION = re.compile(
    r"^<!-- ([A-Za-z][\w .+-]{0,40}?) Session ([\w.:-]{1,128})(?: \(([^)\n]{1,64})\))? -->\r?$", re.MULTILINE
)
_ANY_HEADER = re.compile(r"^_\*\*(?:User|Agent|Assistant)\b", re.MULTILINE)
_NAMED_BY_TIME = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)")
_EMPTY_HEADER = "\n_****_\n"
_ESCAPED_HEADER = "\n_\\*\\*\\*\\*_\n"  # by a formatter of Markdown, to which it is no emphasis
_CONFLICT = "<<<<<<< "
_OTHER_SIDE = re.compile(r"^=======\n(?=\s*(?:<!-- Generated by SpecStory|##? ))", re.MULTILINE)
_HEAD_CHARACTERS_SEARCHED = 4_000
_MAX_CHARACTERS_BEFORE_THE_MARK = 2_000
_AGENTS = {"codex cli": "codex", "cursor ide": "cursor", "cursor cli": "cursor", "factory droid cli": "droid"}

_SIDECHAIN = "sidechain"
_BEGINNINGS = frozenset("<`TR" + "".join(words[0] for words in TURNED_DOWN))
"""Of a tag, a card or a thought, of a fence, of `Tool use:` and `Read file:`, and of why a tool was not used."""
_SYNTHETIC = "<synthetic>"
_RESUMED = re.compile(r"Resumed from an? .{1,80} session\b.{0,40} via SpecStory\.$")
_INTERRUPTED = "[Request interrupted by user"
_COMMANDS = ("<command-message>", "<command-name>")
_SAME_MOMENT_MICROSECONDS = 1_000_000


def recognises(source: Source) -> bool:
    beginning = source.beginning.lstrip("\ufeff \t\r\n")
    if _BARE_TITLE.match(beginning.replace("\r\n", "\n")):
        return True
    mark = _MARK.search(beginning, 0, _MAX_CHARACTERS_BEFORE_THE_MARK)
    if mark is None or "```" in beginning[: mark.start()]:
        return False
    return bool(_SESSION.search(beginning, mark.start()) or _ANY_HEADER.search(beginning, mark.start()))


def read(source: Source) -> list[Session]:
    text = _whole(source.text)
    provider, session_id, written = _named(text)
    started = microseconds(written or _time_of_name(source.stem))
    around = _project_around(source.path)
    if source.head_only and around and started is not None:  # which is all that a first look is for
        return [_Stream().session(session_id or source.stem, _agent(provider), "", around, started)]
    reader = _read(text, provider, microseconds(written))
    cwd = around or _own_folder(reader, text, session_id)
    if not cwd and not source.head_only:
        cwd = folder_of_neighbours(source.path, _folder_of)
    id = session_id or (_first_export(source.path, text) if around else source.stem)
    return [stream.session(id, reader.agent, subagent, cwd, started) for subagent, stream in reader.streams.items()]


def _named(text: str) -> tuple[str, str, str]:
    """The agent, the session's id and when it began, as the head of the file has them."""
    found = _SESSION.search(text, 0, _HEAD_CHARACTERS_SEARCHED)
    provider, session_id, written = found.groups("") if found else ("", "", "")
    return provider, session_id, written


# A conversation of old Cursor, without an id, that was exported twice: to files named by the times of two zones.

_NAMED = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-(.+)")
_BEGUN = re.compile(
    r"^##? (?P<title>[^\n]{1,300}) \((?:(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d)"
    r"|(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4}), (?P<hour>\d{1,2})(?P<rest>:\d\d:\d\d) (?P<half>[AP])M)\)\s*\n"
    r"_\*\*User\b[^\n]*\n(?P<said>.*?)(?:\n---|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LETTERS_COMPARED = 300


def _first_export(path: Path, text: str) -> str:
    """The name of the file; of one that holds the conversation of another beside it, the name of the first."""
    begun = _begun(text)
    named = _NAMED.fullmatch(path.stem)
    for name in _namesakes(path.parent, os.stat(path.parent).st_mtime_ns).get(named[1], ()) if begun and named else ():
        if name >= path.name:
            break
        with open(path.with_name(name), encoding="utf-8", errors="replace") as file:
            if _begun(file.read(_HEAD_CHARACTERS_SEARCHED).replace("\r\n", "\n")) == begun:
                return Path(name).stem
    return path.stem


@lru_cache(maxsize=64)
def _namesakes(folder: Path, changed: int) -> dict[str, list[str]]:  # noqa: ARG001
    """Of the names of the files in a folder, but for the time that each begins with: those that several share."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(os.listdir(folder)):
        if (named := _NAMED.fullmatch(name.removesuffix(".md"))) and name.endswith(".md"):
            found[named[1]].append(name)
    return {title: names for title, names in found.items() if len(names) > 1}


def _begun(text: str) -> tuple[str, str, str] | None:
    """The title, the second in which it began, and the letters that were typed first; None without such a second."""
    found = _BEGUN.search(text, 0, _HEAD_CHARACTERS_SEARCHED)
    if found is None:
        return None
    at = f"{found['day']} {found['time']}"
    if not found["day"]:
        hour = int(found["hour"]) % 12 + (12 if found["half"] == "P" else 0)
        at = f"{found['y']}-{int(found['m']):02}-{int(found['d']):02} {hour:02}{found['rest']}"
    return found["title"], at, re.sub(r"\W+", "", found["said"])[:_LETTERS_COMPARED]


def _whole(text: str) -> str:
    """A file that was committed with its conflict holds the session twice: the longer one."""
    text = text.replace("\r\n", "\n").replace(_ESCAPED_HEADER, _EMPTY_HEADER)
    if not text.startswith(_CONFLICT):
        return text
    ours, theirs = text, ""
    if other := _OTHER_SIDE.search(text):
        ours, theirs = text[: other.start()], text[other.end() :].rpartition("\n>>>>>>> ")[0]
    return max(ours.partition("\n")[2], theirs, key=len)


def _time_of_name(stem: str) -> str:
    """Files are named by when the session began, in UTC."""
    found = _NAMED_BY_TIME.match(stem)
    return f"{found.group(1)} {found.group(2)}:{found.group(3)}Z" if found else ""


def _read(text: str, provider: str, started: int | None) -> _Reader:
    tagged = _VERSIONED in text[:_HEAD_CHARACTERS_SEARCHED]
    reader = _Reader(Page(text, started, tagged=tagged), _agent(provider), tagged=tagged)
    reader.read()
    return reader


def _own_folder(reader: _Reader, text: str, session_id: str) -> str:
    return one_spelling(reader.paths.stated() or folder_of_claude(text, session_id) or reader.paths.likely())


def _folder_of(path: Path) -> str:
    """The folder that another history tells of itself."""
    source = Source(path)
    if not recognises(source):
        return ""
    text = _whole(source.text)
    provider, session_id, written = _named(text)
    return _own_folder(_read(text, provider, microseconds(written)), text, session_id)


def _agent(provider: str) -> str:
    """The agent as its own reader names it; one without a reader by its name in the header."""
    name = provider.lower()
    return _AGENTS.get(name) or name.replace(" ", "-") or AGENT


def _project_around(path: Path) -> str:
    folder = path.absolute().parent
    return str(folder.parent.parent) if folder.parts[-2:] == (".specstory", "history") else ""


class _Reader:
    """Walks from header to header; what a tool's output holds is not looked at."""

    def __init__(self, page: Page, agent: str, *, tagged: bool) -> None:
        self.agent = agent
        self.streams: dict[str, _Stream] = {"": _Stream()}
        self.paths = Paths()
        self._page = page
        self._doubtful = frozenset(doubtful(page))
        self._tagged = tagged
        self._calls = 0

    def read(self) -> None:
        for header in self._page.headers:
            self._read_message(header)

    def _read_message(self, header: Header) -> None:
        page = self._page
        stream = self.streams.setdefault(_SIDECHAIN if header.sidechain else "", _Stream())
        line, end = header.line + 1, page.end_of_message(header.line + 1)
        quotes = line if header.user else following(page.quoted, line, end)
        said: list[str] = []
        last: Tool | None = None
        while line < end:
            start = line
            begins = page.lines[line][:1] in _BEGINNINGS
            if begins and line < quotes and page.lines[line].startswith(THOUGHT):
                line = page.end_of_thought(line, end)
            elif begins and line < quotes and not page.lines[line - 1] and (found := self._tool(line, end)):
                tool, line = found
                if last is None or not tool.is_second_to(last):
                    self._add_tool(stream, header, _joined(said), tool)
                    said = []
                last = tool
                quotes = following(page.quoted, line, end)
            elif begins:
                line = page.fences.get(line, line)
                said += page.lines[start : line + 1]
            else:
                said.append(page.lines[line])
            line += 1
        if words := _joined(said):
            stream.add_text(header, words, doubtful=header.line in self._doubtful)

    def _tool(self, line: int, limit: int) -> tuple[Tool, int] | None:
        """The tool whose use begins at a line, and its last line."""
        page = self._page
        text = page.lines[line]
        if text.startswith("<tool-use "):
            if found := OPENING.fullmatch(text):
                end = page.end_of_tool(line, limit)
                tool = parse(found.group(1), found.group(2), page.lines[line + 1 : end])
                return tool if found.group(3) else without_entities(tool), end
        elif text.startswith(TURNED_DOWN):
            if page.begins_a_part(line) and (refused := turned_down(page.lines[line : page.end_of_part(line, limit)])):
                return refused, line
        elif not self._tagged and page.begins_a_part(line):
            end = page.end_of_part(line + 1 if text.startswith("T") else line, limit)
            if part := untagged(page.lines[line:end]):
                return part, end - 1
        return None

    def _add_tool(self, stream: _Stream, header: Header, said: str, tool: Tool) -> None:
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

    def add_text(self, header: Header, text: str, *, doubtful: bool) -> None:
        if header.user:
            by: Origin = "injected" if self._expands_a_command(header.at) else "agent" if header.sidechain else "user"
            message = user_message(text, header.at, by)
            if doubtful and message.origin == "user":
                message = replace(message, origin="file", unsure=True)
        else:
            # Without a model's name it is the prompt that the agent gave its sub-agent.
            role: Role = "user" if header.sidechain and not header.model else "assistant"
            origin: Origin = "injected" if header.model == _SYNTHETIC else "agent"
            message = Message(role=role, origin=origin, at=header.at, text=text)
        self._settle(answered=message.role == "assistant")
        self.messages.append(message)
        if message.role == "assistant" and not header.model:
            self._resumed = self._resumed or (len(self.messages) == 1 and _RESUMED.match(text) is not None)
            self._copied = len(self.messages)

    def add_call(self, header: Header, said: str, call: ToolCall, result: ToolResult | None, *, answered: bool) -> None:
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
            return at is None or last.at is None or at - last.at < _SAME_MOMENT_MICROSECONDS
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
