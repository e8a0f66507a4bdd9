"""Claude Code: one JSON record a line, an API message split over records, errors flagged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Origin, Session, Summary, ToolCall, ToolResult
from hardwon.sessions import tool_calls
from hardwon.sessions.counter import Tally
from hardwon.sessions.lines import joined, leniently, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.project import project_key
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, runs_commands, tool_call

NAME = "claude-code"
AGENT = "claude-code"
READS = "JSON lines of 1.x and 2.x, and web exports: messages, also queued ones, sub-agents, tool calls and results"
VERSIONS = "1.0.0 to 2.1.219"

MESSAGES = ("user", "assistant")
QUEUED = "queued"
"""A kind of our own: a user's message that waits for the agent."""
_BOOKKEEPING = frozenset(
    "system summary file-history-snapshot file-history-delta queue-operation progress custom-title "
    "ai-title agent-name agent-color agent-setting attachment last-prompt tag pr-link mode "
    "permission-mode worktree-state content-replacement".split()
)
_REJECTED = "The user doesn't want to proceed with this tool use"
_NOT_GRANTED = "Claude requested permissions to"
_INTERRUPTED = "[Request interrupted by user"
_NOT_TYPED = ("<", "{", "/")
"""What begins the client's own notes, and commands, which are told when they run."""
_NOTHING = Raw(b"null")


class Block(Struct, gc=False):
    """One part of a message; a call's input and a result's content stay raw until they are needed."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: Raw = _NOTHING
    tool_use_id: str = ""
    content: Raw = _NOTHING
    is_error: bool | None = None


class Body(Struct, gc=False):
    id: str = ""
    content: str | list[Block] = ""

    def blocks(self) -> list[Block]:
        return [Block(type="text", text=self.content)] if isinstance(self.content, str) else self.content


class Line(Struct, rename="camel", gc=False):
    """What is read of a record. `toolUseResult`, which repeats every output, is skipped undecoded.

    The fields stand as they are mostly written, in which order they are found fastest.
    """

    parent_uuid: str | None = None
    is_sidechain: bool = False
    cwd: str = ""
    session_id: str = ""
    version: str = ""
    git_branch: str | None = None
    agent_id: str | None = None
    type: str = ""
    message: Body | None = None
    uuid: str = ""
    timestamp: str = ""
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    origin: Raw = _NOTHING
    data: Raw = _NOTHING
    operation: str = ""
    content: Raw = _NOTHING

    @property
    def is_clients(self) -> bool:
        """Whether the record itself says that nobody typed it."""
        said = decoded(self.origin)
        kind = said.get("kind") if isinstance(said, dict) else None
        return bool(self.is_meta or self.is_compact_summary) or kind not in (None, "human")

    def told(self) -> Line | None:
        """The message that a record of another kind tells of, if it does."""
        if self.type == "queue-operation":
            return self._queued()
        return self._relayed() if self.type == "progress" and b'"agent_progress"' in bytes(self.data) else None

    def _queued(self) -> Line | None:
        """What the user typed while the agent was at work. It is told again only if the agent was done by then."""
        text = joined(decoded(self.content)).strip() if self.operation == "enqueue" else ""
        if not text or text.startswith(_NOT_TYPED):
            return None
        return msgspec.structs.replace(self, type=QUEUED, message=Body(content=text))

    def _relayed(self) -> Line | None:
        """What a sub-agent did, whose own transcript is not always kept."""
        told = decoded(self.data)
        record = told.get("message") if isinstance(told, dict) else None
        if not isinstance(told, dict) or not isinstance(record, dict) or record.get("type") not in MESSAGES:
            return None
        return msgspec.structs.replace(
            leniently(record, Line),
            session_id=self.session_id,
            cwd=self.cwd,
            version=self.version,
            git_branch=self.git_branch,
            agent_id=text_of(told.get("agentId")) or "sidechain",
            is_sidechain=True,
        )


def recognises(source: Source) -> bool:
    if _exported(source) is not None:
        return True
    if not source.head.mentions(b'"message"', b'"leafUuid"', b'"sessionId"', b'"messageId"'):
        return False
    for record in source.head:
        kind = text_of(record.get("type"))
        message = record.get("message")
        if kind in MESSAGES and isinstance(message, dict):
            return "content" in message and "session_id" not in record
        if kind == "summary" and "leafUuid" in record:
            return True
        if kind in _BOOKKEEPING and ("sessionId" in record or "messageId" in record):
            return True
    return False


def _exported(source: Source) -> list[Line] | None:
    """The records of a session that was fetched from the web service: one document of them."""
    document = source.document if source.head.mentions(b'"loglines"') else None
    records = document.get("loglines") if isinstance(document, dict) else None
    if not isinstance(records, list):
        return None
    lines = [leniently(record, Line) for record in records if isinstance(record, dict)]
    return lines if any(line.type in MESSAGES and line.message for line in lines) else None


def read(source: Source) -> list[Session]:
    streams: dict[tuple[str, str], _Stream] = {}
    threads = Threads()
    exported = _exported(source)
    for key, line, body in threads.conversation(source.typed(Line) if exported is None else exported, source.stem):
        stream = streams.get(key) or streams.setdefault(key, _Stream())
        stream.add(line, body)
    sessions = [stream.session(*key) for key, stream in streams.items()]
    if sessions:
        sessions[-1] = msgspec.structs.replace(sessions[-1], unknown_records=threads.unknown)
    return sessions


class Threads(Struct):
    """Tells which conversation of a file a record belongs to."""

    seen: set[str] = field(default_factory=set)
    side_chains: dict[str, str] = field(default_factory=dict)
    unknown: int = 0
    """Records that belong to no conversation and are of no known kind."""

    def conversation(self, lines: Iterable[Line], stem: str) -> Iterator[tuple[tuple[str, str], Line, Body]]:
        """((session, sub-agent), line, its message) of every message, each written record once."""
        seen = self.seen
        for record in lines:
            line = record if record.type in MESSAGES else record.told()
            body = line.message if line else None
            if line is None or body is None:
                self.unknown += record.type not in _BOOKKEEPING
                continue
            uuid = line.uuid
            if uuid:
                if uuid in seen:  # a sync conflict or a resume wrote it again
                    continue
                seen.add(uuid)
            subagent = self.subagent(line) if line.is_sidechain or line.agent_id else ""
            yield (line.session_id or stem, subagent), line, body

    def subagent(self, line: Line) -> str:
        if line.agent_id:
            return line.agent_id
        # Inline side chains carry no id of their own: each is named by the record it began with.
        chain = self.side_chains.get(line.parent_uuid or "") or line.uuid or "sidechain"
        self.side_chains[line.uuid] = chain
        return chain


class _Stream:
    """The records of one conversation, joined to messages as they come."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._period = Period()
        self._cwd = self._branch = self._version = ""
        self._calls: dict[str, ToolCall] = {}
        self._by_id: dict[str, int] = {}
        self._queued: dict[str, int] = {}
        self._told_later: set[int] = set()

    def add(self, line: Line, body: Body) -> None:
        at = self._period.add(line.timestamp)
        self._cwd = self._cwd or line.cwd
        self._branch = self._branch or line.git_branch or ""
        self._version = self._version or line.version
        if line.type == "assistant":
            self._add_assistant(body, at, "" if line.cwd == self._cwd else line.cwd)
        elif line.type == QUEUED:
            self._add_queued(line, body, at)
        else:
            self._add_user(line, body.blocks(), at)

    def _add_assistant(self, body: Body, at: int | None, folder: str) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        for block in body.blocks():
            if block.type == "text":
                texts.append(block.text)
            elif block.type in ("tool_use", "server_tool_use"):
                call = tool_call(block.id, block.name, decoded(block.input))
                if folder and call.action == "run":
                    call = replace(call, folder=folder)
                self._calls[call.id] = call
                calls.append(call)
        text = "\n".join(filter(None, texts))
        known = self._by_id.get(body.id) if body.id else None
        if known is not None:
            earlier = self._messages[known]
            self._messages[known] = Message(
                role="assistant",
                origin="agent",
                at=earlier.at,
                text="\n".join(filter(None, (earlier.text, text))),
                calls=earlier.calls + tuple(calls),
            )
            return
        if body.id:
            self._by_id[body.id] = len(self._messages)
        self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=tuple(calls)))

    def _add_user(self, line: Line, blocks: list[Block], at: int | None) -> None:
        results = tuple(self._result(block) for block in blocks if block.type == "tool_result")
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        texts = [block.text for block in blocks if block.type == "text"]
        written = "\n".join(texts)
        if not written.strip():
            return
        if line.type != QUEUED and (waited := self._queued.pop(written.strip(), None)) is not None:
            self._told_later.add(waited)
        # A sub-agent's "user" is the agent that called it.
        by: Origin = "injected" if line.is_clients else "agent" if line.is_sidechain else "user"
        self._messages.append(user_message(texts, at, by))

    def _add_queued(self, line: Line, body: Body, at: int | None) -> None:
        (block,) = body.blocks()
        if (earlier := self._queued.get(block.text)) is not None:
            self._told_later.add(earlier)
        self._queued[block.text] = len(self._messages)
        self._add_user(line, [block], at)

    def _result(self, block: Block) -> ToolResult:
        text = joined(decoded(block.content))
        origin = result_origin(self._calls.get(block.tool_use_id))
        if block.is_error is not True:
            return ToolResult(call_id=block.tool_use_id, outcome="ok", evidence="no-flag", text=text, origin=origin)
        evidence: Evidence = "flag"
        if text.startswith((_REJECTED, _NOT_GRANTED)):
            evidence = "rejected"
        elif text.startswith(_INTERRUPTED):
            evidence = "interrupted"
        exit_code: int | None = None
        first, _, rest = text.partition("\n")
        if first.startswith("Exit code ") and first[10:].isdigit():
            exit_code, text = int(first[10:]), rest
        return ToolResult(
            call_id=block.tool_use_id,
            outcome="error",
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=origin,
        )

    def session(self, external_id: str, subagent: str) -> Session:
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=self._version,
            subagent=subagent,
            cwd=self._cwd,
            branch=self._branch,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(message for at, message in enumerate(self._messages) if at not in self._told_later),
        )


def decoded(raw: Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


# Claude Code sessions counted without building them, at the speed of decoding their lines.

_STOPPED = INTERRUPTED[:-1]
_CALLS = frozenset(("tool_use", "server_tool_use"))


class Stream(Tally):
    """One conversation of a file."""

    session: str = ""
    subagent: str = ""
    cwd: str = ""
    ids: set[str] = field(default_factory=set)
    """Of the agent's messages, which are written in several records each."""
    queued: set[str] = field(default_factory=set)

    def assistant(self, id: str, blocks: list[Block]) -> None:
        if not id or id not in self.ids:
            self.messages += 1
            self.stopped = False
            self.ids.add(id)
        for block in blocks:
            if block.type in _CALLS:
                self.calls += 1
                if runs_commands(block.name, block.input):
                    self.runs.add(block.id)

    def user(self, blocks: list[Block]) -> None:
        results = False
        texts = []
        for block in blocks:
            if block.type == "tool_result":
                results = True
                failed = block.is_error is True or (block.tool_use_id in self.runs and _tests_failed(block.content))
                self.judge("error" if failed else "ok")
            elif block.type == "text":
                texts.append(block.text)
        if results:
            self.message()
        if texts:
            self.text("\n".join(texts))

    def text(self, written: str, *, queued: bool = False) -> None:
        if written and not written.isspace():
            if queued:
                self.messages -= written in self.queued
                self.queued.add(written)
            elif self.queued and written.strip() in self.queued:
                self.queued.remove(written.strip())
                self.messages -= 1
            self.message(stopped=written.lstrip().startswith(_STOPPED))

    def summary(self) -> Summary:
        return Summary(
            external_id=self.session,
            agent=AGENT,
            format=NAME,
            subagent=self.subagent,
            project=project_key(self.cwd),
            started_at=self.first,
            ended_at=self.last,
            messages=self.messages,
            tool_calls=self.calls,
            errors=self.errors,
            outcome=self.outcome,
        )


class Counting(Struct):
    stem: str
    threads: Threads = field(default_factory=Threads)
    streams: list[Stream] = field(default_factory=list)

    def add(self, lines: list[Line]) -> None:
        """As `Threads.conversation` tells them apart, in one loop: every record there is passes here."""
        threads, seen = self.threads, self.threads.seen
        known = {(stream.session, stream.subagent): (stream, list[object]()) for stream in self.streams}
        for record in lines:
            line = record if record.type in MESSAGES else record.told()
            if line is None:
                continue
            body, kind, uuid = line.message, line.type, line.uuid
            if body is None or (uuid and uuid in seen):
                continue
            if uuid:
                seen.add(uuid)
            subagent = threads.subagent(line) if line.is_sidechain or line.agent_id else ""
            key = line.session_id or self.stem, subagent
            found = known.get(key)
            if found is None:
                stream = Stream(session=key[0], subagent=subagent)
                self.streams.append(stream)
                found = known[key] = stream, []
            stream, times = found
            times.append(line.timestamp)
            if not stream.cwd:
                stream.cwd = line.cwd
            content = body.content
            if kind == "assistant":
                stream.assistant(body.id, content if isinstance(content, list) else [])
            elif isinstance(content, str):
                stream.text(content, queued=kind == QUEUED)
            else:
                stream.user(content)
        for stream, times in known.values():
            if times:
                stream.took_place(times)

    def summaries(self) -> list[Summary] | None:
        """None where no line is a message: a document of them must be read whole."""
        return [stream.summary() for stream in self.streams] or None


def _tests_failed(content: msgspec.Raw) -> bool:
    return tool_calls.worth_a_look(bytes(content)) and tool_calls.failed(joined(decoded(content)))
