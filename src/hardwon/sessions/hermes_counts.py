"""Count Hermes gateway sessions without building them."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from hardwon.model.session import Summary
from hardwon.sessions.counter import Tally
from hardwon.sessions.hermes import AGENT, CHANGED_INTO, NAME, time_in_name, verdict
from hardwon.sessions.project import project_key
from hardwon.sessions.tools import runs_commands

_ROLES = frozenset(("user", "assistant", "tool", "system"))


class Part(Struct, gc=False):
    text: str = ""


class Function(Struct, gc=False):
    name: str = ""
    arguments: str | None = None


class Call(Struct, gc=False):
    id: str = ""
    call_id: str = ""
    name: str = ""
    arguments: str | None = None
    function: Function | None = None


class Line(Struct, gc=False):
    role: str = ""
    content: str | list[Part] | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str = ""
    timestamp: str | int | float | None = None
    session_id: str = ""
    cwd: str = ""


class Where(Struct, gc=False):
    """The arguments of a call that tell where it ran."""

    workdir: str = ""
    cwd: str = ""
    working_directory: str = ""
    dir_path: str = ""
    directory: str = ""
    command: str | list[str] = ""

    def folders(self) -> list[str]:
        named = self.workdir or self.cwd or self.working_directory or self.dir_path or self.directory
        if named:
            return [named]
        return CHANGED_INTO.findall(self.command) if isinstance(self.command, str) and "cd" in self.command else []


_where = msgspec.json.Decoder(Where).decode


class Counting(Tally):
    stem: str = ""
    session: str = ""
    cwd: str = ""
    has_meta: bool = False
    folders: dict[str, int] = field(default_factory=dict)
    is_odd: bool = False
    """Whether a call is of a shape that only reading it whole does justice to."""

    def add(self, lines: list[Line]) -> None:
        times: list[object] = []
        for line in lines:
            if line.role == "session_meta":
                self._describe(line)
            elif line.role in _ROLES:
                times.append(line.timestamp)
                self.message()
                if line.role == "tool":
                    text, _, outcome, _ = verdict(_text(line.content))
                    self.result(line.tool_call_id, outcome, text)
                elif line.role == "assistant" and line.tool_calls:
                    for call in line.tool_calls:
                        self._call(call)
        self.took_place(times)

    def _describe(self, meta: Line) -> None:
        if not self.has_meta:
            self.has_meta, self.session, self.cwd = True, meta.session_id, meta.cwd

    def _call(self, call: Call) -> None:
        body = call.function or Function(call.name, call.arguments)
        arguments = (body.arguments or "{}").encode()
        try:
            where = _where(arguments)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            self.is_odd = True
            return
        self.calls += 1
        for folder in where.folders():
            self.folders[folder] = self.folders.get(folder, 0) + 1
        if runs_commands(body.name, arguments):
            self.runs.add(call.id or call.call_id)

    def summaries(self) -> list[Summary] | None:
        if self.is_odd:
            return None
        started = self.first or time_in_name(self.stem)
        cwd = self.cwd or max(self.folders, key=self.folders.__getitem__, default="")
        return [
            Summary(
                external_id=self.session or self.stem.removeprefix("session_"),
                agent=AGENT,
                format=NAME,
                project=project_key(cwd),
                started_at=started,
                ended_at=self.last or started,
                messages=self.messages,
                tool_calls=self.calls,
                errors=self.errors,
                outcome=self.outcome,
            )
        ]


def _text(content: str | list[Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content)
    return content or ""
