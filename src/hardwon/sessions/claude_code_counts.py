"""Count Claude Code sessions without building them, at the speed of decoding their lines."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from hardwon.model.session import Summary
from hardwon.sessions import failed_tests
from hardwon.sessions.claude_code import AGENT, MESSAGES, NAME, Block, Line, Threads, decoded
from hardwon.sessions.counter import Tally
from hardwon.sessions.loose import joined
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.project import project_key
from hardwon.sessions.tools import runs_commands

__all__ = ["Counting", "Line"]

_STOPPED = INTERRUPTED[:-1]
_CALLS = frozenset(("tool_use", "server_tool_use"))


class Stream(Tally):
    """One conversation of a file."""

    session: str = ""
    subagent: str = ""
    cwd: str = ""
    ids: set[str] = field(default_factory=set)
    """Of the agent's messages, which are written in several records each."""

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

    def text(self, written: str) -> None:
        if written and not written.isspace():
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
        for line in lines:
            body, kind, uuid = line.message, line.type, line.uuid
            if body is None or kind not in MESSAGES or (uuid and uuid in seen):
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
                stream.text(content)
            else:
                stream.user(content)
        for stream, times in known.values():
            if times:
                stream.took_place(times)

    def summaries(self) -> list[Summary]:
        return [stream.summary() for stream in self.streams]


def _tests_failed(content: msgspec.Raw) -> bool:
    return failed_tests.worth_a_look(bytes(content)) and failed_tests.failed(joined(decoded(content)))
