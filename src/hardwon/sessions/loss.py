"""What a file seems to hold, counted by other means than its reader's, beside what was read of it.

A reader that misses a layout says nothing: its messages are somebody else's prose, or nobody's. So marks are counted
here that any layout has (headings, roles, ids of calls), with nothing of a format's own code, and each message that was
seen is looked for by its words in what was read. What is quoted in fences, outputs and arguments is not counted, and
what stands in doubt is not either: a warning should be right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import msgspec

from hardwon.errors import NotASession, NotFound
from hardwon.model.session import Loss, Message, Record, Session
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.reader import Source, columns, opened_database, read

_TOLERATED_SHARE = 0.01
_MIN_MISSING = 2
"""One alone may be a copy, an empty message or a way of writing that nobody foresaw."""

_MIN_TELLING_CHARACTERS = 12
"""A shorter line (a brace, a tag) may stand anywhere: it tells of a message only if there is none longer."""

Lines = tuple[str, ...]
"""What of a message's text it is known again by."""


class Census:
    """What a file seems to hold."""

    def __init__(self) -> None:
        self.user: Counter[Lines] = Counter()
        self.agent: Counter[Lines] = Counter()
        self.calls: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.commands: Counter[Lines] = Counter()
        self.sessions = 0
        self.are_results_said = False
        """Whether a role is no more than a place: benchmarks' trajectories answer an agent's calls in the user's."""
        self.is_partly_withdrawn = False
        """By rewinding, or told in the file that this one is a branch or a resumption of: then less is to be read."""

        self.is_a_remainder = False
        """What a summary left of a session, which lies beside it whole."""

    def once(self) -> Census:
        """Of formats that write the same thing more than once."""
        self.user, self.agent = Counter(set(self.user)), Counter(set(self.agent))
        self.calls, self.results = Counter(set(self.calls)), Counter(set(self.results))
        return self

    @property
    def holds_a_session(self) -> bool:
        return bool(self.user) and bool(self.agent or self.calls) and not self.is_a_remainder


def census(source: Source) -> Census:
    """Count what a file of any format seems to hold. Raises OSError."""
    if source.is_json:
        return _of_json(source)
    if source.beginning.startswith("SQLite format 3\x00"):
        return _of_database(source)
    lines = source.text.split("\n")
    return _of_aider(lines) if any(line.startswith(_AIDER) for line in lines) else _of_history(lines)


def counted_anew(path: Path) -> tuple[str, int]:
    """What of a file may be lost, in a few words, and how many messages of it are not shown to be typed."""
    try:
        sessions = read(path).sessions
        losses = suspected(path, sessions)
        told = ", ".join(f"{loss.seen:,} {loss.what}, {loss.read:,} read" for loss in losses)
        return told, sum(session.unsure_messages for session in sessions)
    except NotASession:
        with suppress(OSError):
            return "refused" if census(Source(path)).holds_a_session else "", 0
    except NotFound:
        pass
    return "", 0


def suspected(path: Path, sessions: Iterable[Session]) -> tuple[Loss, ...]:
    try:
        seen = census(Source(path))
    except OSError:
        return ()  # it was there when it was read
    return tuple(loss for loss in compared(seen, sessions) if _is_suspicious(loss))


def compared(seen: Census, sessions: Iterable[Session]) -> list[Loss]:
    """What was seen and how much of it was read."""
    if seen.is_partly_withdrawn:
        return []
    sessions = list(sessions)
    messages = [message for session in sessions for message in session.messages]
    calls = [call for message in messages for call in message.calls]
    results = [result for message in messages for result in message.results]
    users = [_whole(message) for message in messages if message.role in ("user", "system")]
    agents = [message.text for message in messages if message.origin != "user"]
    answers = [result.text for result in results] if seen.are_results_said else []
    notes = [result.text for result in results if "\n" not in result.text]  # why a tool was not used, say
    commands = [call.command for call in calls]
    return [
        Loss("sessions", seen.sessions, min(seen.sessions, len(sessions))),
        Loss("user messages", seen.user.total(), _found(seen.user, users, answers)),
        Loss("assistant messages", seen.agent.total(), _found(seen.agent, agents, [*commands, *notes])),
        Loss("tool calls", seen.calls.total(), _answered(seen.calls, [call.id for call in calls])),
        Loss("tool results", seen.results.total(), _answered(seen.results, [result.call_id for result in results])),
        Loss("commands with output", seen.commands.total(), _found(seen.commands, commands)),
    ]


def _whole(message: Message) -> str:
    return "\n".join((message.text, *(part.text for part in message.beside)))


def _is_suspicious(loss: Loss) -> bool:
    missing = loss.seen - loss.read
    return missing >= _MIN_MISSING and missing > loss.seen * _TOLERATED_SHARE


def _found(seen: Counter[Lines], texts: list[str], else_in: Iterable[str] = ()) -> int:
    """How many of the messages have a line in what was read, as often as it was read."""
    found = 0
    for place in (texts, [*texts, *else_in]):
        if found < seen.total():
            times = Counter(line for text in place for line in set(map(str.strip, text.split("\n"))))
            found = sum(min(count, max(times[line] for line in lines)) for lines, count in seen.items())
    return found


def _answered(seen: Counter[str], read: list[str]) -> int:
    """By their ids, or by number where the reader had to name them itself."""
    known = seen.keys() & set(read)
    return len(known) if known else min(seen.total(), len(read))


def _telling(text: str) -> Lines:
    if not text:
        return ()
    lines = [line.strip() for line in text.split("\n")]
    long = tuple(line for line in lines if len(line) >= _MIN_TELLING_CHARACTERS)
    return long or tuple(sorted(filter(None, lines), key=len, reverse=True)[:1])


# JSON: decoded values, so that a mark inside a string is none. What tools were given and gave back is not looked into.

_ROLES = {
    **dict.fromkeys(("user", "human", "user_message", "user.message", _QUEUE := "queue-operation"), "user"),
    **dict.fromkeys(("assistant", "model", "gpt", "gemini", "agent", "agent_message", "assistant.message"), "agent"),
    **dict.fromkeys(("system", "developer", "environment"), "other"),
}
_ROLE_KEYS = ("role", "type", "from", "source")
_CALLS = frozenset(
    "tool_use server_tool_use toolCall toolRequest function_call custom_tool_call local_shell_call "
    "tool.execution_start".split()
)
_RESULTS = frozenset(
    "tool_result toolResponse function_call_output custom_tool_call_output tool.execution_complete".split()
)
_ACTIONS = ("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "call_tool_mcp")
_NO_WORDS = ("<function=", "[Request interrupted")
_NOTES = ("<", "{", "/")
"""How what a client queues for the agent begins, and a command, where a user's message may wait, too."""
_ANSWERING_ROLES = frozenset(("tool", "toolResult", "function"))
_LISTS_OF_CALLS = ("tool_calls", "toolCalls", "toolRequests")
_CALL_IDS = ("call_id", "callID", "toolCallId", "tool_call_id", "tool_use_id", "callId", "id")
_FINISHED = ("completed", "error")
_TEXTS = ("content", "text", "message", "parts", "data", "args", "value")
_PARTS_OF_TEXT = (None, "text", "input_text", "output_text")
_MAX_TEXT_DEPTH = 4
_WITHDRAWING = ("$rewindTo", "branchedFrom", "parentSession")
_MARKS = frozenset(
    (*_ROLE_KEYS, *_LISTS_OF_CALLS, *_WITHDRAWING, *"functionCall functionResponse observation action info".split())
)
_OPAQUE = frozenset(
    "input arguments args output result results toolUseResult resultDisplay toolCallResult observation state metadata "
    "extra extras replacement_history raw_response snapshot tools usage query trajectory".split()
)


def _of_json(source: Source) -> Census:
    counted = _Json()
    counted.census.is_a_remainder = _is_a_remainder(source.document)
    for record in source.records() if source.document is None else [source.document]:
        counted.add(record)
    return counted.census.once()


def _is_a_remainder(document: object) -> bool:
    """Cline keeps what it goes on with after a compaction: a document that begins with the summary."""
    messages = document.get("messages") if isinstance(document, dict) and "sessionId" in document else None
    first = messages[0] if isinstance(messages, list) and messages else None
    about = first.get("metadata") if isinstance(first, dict) else None
    return isinstance(about, dict) and text_of(about.get("kind")).startswith("compaction")


class _Json:
    """Marks of messages and calls anywhere in decoded values."""

    def __init__(self) -> None:
        self.census = Census()
        self.census.are_results_said = True

    def add(self, value: object) -> None:
        waiting: list[tuple[object, bool]] = [(value, False)]
        while waiting:
            value, is_said = waiting.pop()
            if isinstance(value, list):
                waiting += ((entry, is_said) for entry in value)
            elif isinstance(value, dict):
                if value.keys() & _MARKS:
                    if self._acts(value):
                        continue
                    is_said = self._says(value, is_said) or is_said
                for key, child in value.items():
                    if isinstance(child, list | dict) and key not in _OPAQUE:
                        waiting.append((child, is_said))

    def _acts(self, value: Record) -> bool:
        """Whether it is a call or what came of one, which nobody said."""
        kind, role = text_of(value.get("type")), text_of(value.get("role"))
        census = self.census
        if kind in _CALLS or "functionCall" in value:
            self._count(census.calls, value.get("functionCall") or value.get("data") or value)
        elif kind in _RESULTS or role in _ANSWERING_ROLES or "functionResponse" in value:
            self._count(census.results, value.get("functionResponse") or value.get("data") or value)
        elif kind == "tool" and "callID" in value:
            self._count(census.calls, value)
            state = value.get("state")
            if isinstance(state, dict) and state.get("status") in _FINISHED:
                self._count(census.results, value)
        elif value.get("observation") in _ACTIONS:
            self._count(census.results, value)
        elif value.get("action") in _ACTIONS:
            self._count(census.calls, value)
        else:
            return "observation" in value or value.get("action") not in (None, "message")
        return True

    def _says(self, value: Record, is_said: bool) -> bool:
        """Whether it is a message; one inside another is the same."""
        census = self.census
        rewinds = value.get("subtype") == "rewind" or value.get("type") == "session.snapshot_rewind"
        if rewinds or any(key in value for key in _WITHDRAWING):
            census.is_partly_withdrawn = True
        for name in _LISTS_OF_CALLS:
            calls = value.get(name)
            for call in calls if isinstance(calls, list) else ():
                self._count(census.calls, call)
                if isinstance(call, dict) and "result" in call:
                    self._count(census.results, call)
        about = value.get("info")
        role = _role(value) or (_role(about) if isinstance(about, dict) else "")
        text = _said(value).lstrip() if role in ("user", "agent") and not is_said else ""
        has_no_words = text.startswith(_NOTES if value.get("type") == _QUEUE else _NO_WORDS)
        if not has_no_words and (lines := _telling(text)):
            (census.user if role == "user" else census.agent)[lines] += 1
        return bool(role)

    def _count(self, counter: Counter[str], entry: object) -> None:
        if isinstance(entry, dict):
            name = next((entry[key] for key in _CALL_IDS if isinstance(entry.get(key), str) and entry[key]), "")
            counter[name or f"\0{len(counter)}"] += 1


def _role(value: Record) -> str:
    return next((role for key in _ROLE_KEYS if (role := _ROLES.get(text_of(value.get(key)), ""))), "")


def _said(value: Record) -> str:
    return next((text for key in _TEXTS if (text := _text(value.get(key))).strip()), "")


def _text(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth == _MAX_TEXT_DEPTH:
        return ""
    if isinstance(value, list):
        return "\n".join(_text(entry, depth + 1) for entry in value)
    if isinstance(value, dict) and (value.get("type") in _PARTS_OF_TEXT or depth == 0) and not value.get("thought"):
        return next((text for key in _TEXTS if (text := _text(value.get(key), depth + 1)).strip()), "")
    return ""


# Databases: their rows as records.

_MAX_ROWS = 1_000_000


def _of_database(source: Source) -> Census:
    counted = _Json()
    try:
        with closing(opened_database(source)) as database:
            for record in _rows(database):
                counted.add(record)
            for table in ("session", "sessions"):
                if "id" in columns(database, table):
                    ((counted.census.sessions,),) = database.execute(f"SELECT count(*) FROM {table}")
    except (apsw.Error, UnicodeDecodeError):
        pass  # what is damaged the reader tells
    return counted.census.once()


def _rows(database: apsw.Connection) -> Iterator[Record]:
    if {"message_id", "data"} <= columns(database, "part") and {"id", "data"} <= columns(database, "message"):
        for message, part in database.execute(
            "SELECT CAST(m.data AS BLOB), CAST(p.data AS BLOB) FROM part p JOIN message m ON m.id = message_id LIMIT ?",
            (_MAX_ROWS,),
        ):
            yield {"info": json_object(message), "parts": [json_object(part)]}
    named = columns(database, "messages")
    wanted = sorted(named & {"role", "content", "content_json", "tool_calls", "tool_call_id"})
    if "role" in wanted:
        active = "WHERE active = 1" if "active" in named else ""
        for row in database.execute(f"SELECT {', '.join(wanted)} FROM messages {active} LIMIT ?", (_MAX_ROWS,)):
            record = dict(zip(wanted, row, strict=True))
            for name in ("content_json", "tool_calls"):
                record[name] = _decoded(record.get(name))
            yield {**record, "content": record["content_json"] or record.get("content")}


def _decoded(value: object) -> object:
    try:
        return msgspec.json.decode(value) if isinstance(value, str | bytes) else None
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


# Markdown, line by line. What stands in a fence, a tool's tag or a thought is quoted.

_HEADING = re.compile(r"_\*\*(User|Agent|Assistant|)\b[^*]{0,200}\*\*_\s*$|_\*\*(\*\*)_\s*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_CARD = re.compile(
    r"(?:<details>)?\s*<summary>(?:Edit file|Listed |Searched |Grep |MCP tool|Read |Ran |Terminal|Tool use)|"
    r"Read file: \S|Tool use: \*\*|Ran (?:terminal )?command"
)
_TOOL_ENDS = "</tool-use>"
_EMPTY = re.compile(r"(?:</?(?:details|summary|tool-use)\b[^>]*>|Tool use: \*\*[^*]*\*\*|\s)*")
_RULE = "---"
_CONFLICT, _CONFLICT_MIDDLE = "<<<<<<< ", "======="
_RESUMED = "Resumed from "
_SHELLS = frozenset("bash sh shell zsh powershell pwsh cmd".split())
_OUTPUTS = frozenset(("", "text", "output", "console"))
_NO_PROSE = ("<", "`", "~", "|", "_**", _RULE)
_LINES_KEPT = 12
_AIDER = "# aider chat started at"
_AIDER_TYPED = "#### "
_AIDER_NOTHING = "<blank>"
_AIDER_COMMAND = re.compile(r"^/\w+ +")


def _of_history(lines: list[str]) -> Census:
    history = _History()
    for line in _one_side(lines):
        history.add(line)
    history.ends_message()
    return history.census


def _one_side(lines: list[str]) -> list[str]:
    """A file that was committed in conflict with itself has one session twice: the longer."""
    middle = next((at for at, line in enumerate(lines) if line.rstrip() == _CONFLICT_MIDDLE), 0)
    if not middle or not lines[0].startswith(_CONFLICT):
        return lines
    return max(lines[1:middle], lines[middle + 1 :], key=lambda side: sum(map(len, side)))


class _History:
    """A history as SpecStory writes them: a heading a message, and what tools did between."""

    def __init__(self) -> None:
        self.census = Census()
        self._speaker = ""
        self._said: list[str] = []
        self._fence = ""
        self._language = ""
        self._is_output = False
        self._inner = 0
        """How many fences that an output holds are open in it."""
        self._closing = ""
        """The tag that ends what is quoted."""
        self._last = _RULE
        self._after_blank = True
        self._is_counted = False
        """Whether the call that stands here is: what it is called and its card follow one another."""
        self._is_command = False
        self._command: list[str] = []

    def add(self, line: str) -> None:
        text = line.strip()
        if self._closing:
            self._quoted(line)
        elif self._fence:
            self._inside(line, text)
        elif fence := _FENCE.match(line):
            self._opens(fence)
        elif text:
            self._is_counted = self._is_counted and text != _RULE and not text.startswith("_**")
            self._plain(line, text)
        self._after_blank = not text
        self._last = text or self._last

    def _quoted(self, line: str) -> None:
        if self._closing == _TOOL_ENDS and not self._is_counted and not _EMPTY.fullmatch(line):
            self._calls()  # some are written twice, the second time as a title alone
        if self._closing in line and line.startswith("<" if self._closing == _TOOL_ENDS else ""):
            self._closing = ""  # an output may hold the tag behind the number of a line

    def _inside(self, line: str, text: str) -> None:
        fence = _FENCE.match(line)
        if self._language == "diff" and line[:1].isspace():
            fence = None  # a line that was left as it is
        if fence and fence.group(1).startswith(self._fence):
            self._inner += self._is_output if fence.group(2).strip() else -1
            if self._inner < 0:
                self._fence = ""
        elif text and len(self._command) < _LINES_KEPT:
            self._command.append(text)

    def _opens(self, fence: re.Match[str]) -> None:
        language = fence.group(2).strip().lower()
        self._is_output = self._is_command and language in _OUTPUTS and not self._last.strip("`~")
        if self._is_output:
            if lines := _telling("\n".join(self._command)):
                self.census.commands[lines] += 1
            self._calls()
        starts = self._last == _RULE or self._last.startswith("_**")
        self._is_command = self._speaker == "agent" and language in _SHELLS and starts
        self._fence, self._language, self._inner, self._command = fence.group(1), language, 0, []

    def _plain(self, line: str, text: str) -> None:
        heading = _HEADING.match(line) if line.startswith("_**") and self._after_blank else None
        if heading:
            self.ends_message()
            self._speaker = "user" if heading.group(1) == "User" else "agent"
        elif self._speaker == "agent" and line.startswith(("<tool-use", "<think>")):
            self._closing = _TOOL_ENDS if line.startswith("<tool-use") else "</think>"
            self._is_counted = False
            self._quoted(line)
        elif self._speaker == "agent" and _CARD.match(line):
            if not self._is_counted:
                self._calls()
        elif len(self._said) < _LINES_KEPT:
            self._said.append(text)

    def _calls(self) -> None:
        self._is_counted = True
        self.census.calls[f"\0{len(self.census.calls)}"] += 1

    def ends_message(self) -> None:
        said = [line for line in self._said if not line.startswith((*_NO_PROSE, *_NO_WORDS))]
        if said and not self.census.user and said[0].startswith(_RESUMED):
            self.census.is_partly_withdrawn = True
        if said and self._speaker:
            (self.census.user if self._speaker == "user" else self.census.agent)[_telling("\n".join(said))] += 1
        self._said = []


def _of_aider(lines: list[str]) -> Census:
    counted, typed = Census(), list[str]()
    for line in [*lines, ""]:
        if line.startswith(_AIDER_TYPED) and line.endswith("  "):  # the model's own headings have no such end
            text = line.removeprefix(_AIDER_TYPED).strip()
            typed += (text, _AIDER_COMMAND.sub("", text)) if text != _AIDER_NOTHING else ()
            continue
        if typed:
            counted.user[tuple(typed)] += 1
        typed = []
        counted.sessions += line.startswith(_AIDER)
    return counted
