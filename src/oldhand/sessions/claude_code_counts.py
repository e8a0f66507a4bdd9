"""Count Claude Code sessions without building them, at the speed of decoding their lines."""

from __future__ import annotations

import msgspec

from oldhand.model.session import Summary
from oldhand.sessions import failed_tests
from oldhand.sessions.claude_code import AGENT, NAME, Block, Line, Stray, conversation
from oldhand.sessions.counter import Counter
from oldhand.sessions.loose import joined
from oldhand.sessions.origin import INTERRUPTED
from oldhand.sessions.project import project_key
from oldhand.sessions.source import Source
from oldhand.sessions.tools import runs_commands


def count(source: Source) -> list[Summary]:
    counters: dict[tuple[str, str], _Counter] = {}
    for key, line in conversation(source, Stray()):
        counter = counters.get(key)
        if counter is None:
            counter = counters[key] = _Counter()
        counter.add(line)
    return [counter.summary(*key) for key, counter in counters.items()]


class _Counter(Counter):
    def __init__(self) -> None:
        super().__init__()
        self._cwd = ""
        self._ids: set[str] = set()

    def add(self, line: Line) -> None:
        self.times.append(line.timestamp)
        self._cwd = self._cwd or line.cwd
        body = line.message
        if body is None:
            return
        content = body.content
        if line.type == "assistant":
            self._assistant(body.id, content if isinstance(content, list) else ())
        elif isinstance(content, str):
            self._text(content)
        else:
            self._user(content)

    def _assistant(self, id: str, blocks: list[Block] | tuple[()]) -> None:
        if not id or id not in self._ids:
            self.message()
            self._ids.add(id)
        for block in blocks:
            if block.type in ("tool_use", "server_tool_use"):
                self.calls += 1
                if runs_commands(block.name, block.input):
                    self.runs.add(block.id)

    def _user(self, blocks: list[Block]) -> None:
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
            self._text("\n".join(texts))

    def _text(self, written: str) -> None:
        if written and not written.isspace():
            self.message(stopped=written.lstrip().startswith(INTERRUPTED[:-1]))

    def summary(self, external_id: str, subagent: str) -> Summary:
        started, ended = self.period()
        return Summary(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            subagent=subagent,
            project=project_key(self._cwd),
            started_at=started,
            ended_at=ended,
            messages=self.messages,
            tool_calls=self.calls,
            errors=self.errors,
            outcome=self.outcome,
        )


def _tests_failed(content: msgspec.Raw) -> bool:
    raw = bytes(content)
    return failed_tests.worth_a_look(raw) and failed_tests.failed(joined(msgspec.json.decode(raw)))
