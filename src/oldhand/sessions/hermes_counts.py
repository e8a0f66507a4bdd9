"""Count Hermes gateway sessions without building them."""

from __future__ import annotations

from collections import Counter as Tally

import msgspec
from msgspec import Struct

from oldhand.model.session import Summary
from oldhand.sessions.counter import Counter
from oldhand.sessions.hermes import AGENT, CHANGED_INTO, NAME, time_in_name, verdict
from oldhand.sessions.project import project_key
from oldhand.sessions.source import Source
from oldhand.sessions.tools import runs_commands


class Part(Struct):
    text: str = ""


class Function(Struct):
    name: str = ""
    arguments: str | None = None


class Call(Struct):
    id: str = ""
    call_id: str = ""
    name: str = ""
    arguments: str | None = None
    function: Function | None = None


class Line(Struct):
    role: str = ""
    content: str | list[Part] | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str = ""
    timestamp: str | int | float | None = None
    session_id: str = ""
    cwd: str = ""


class Where(Struct):
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
        return CHANGED_INTO.findall(self.command) if isinstance(self.command, str) else []


_where = msgspec.json.Decoder(Where).decode


def count(source: Source) -> list[Summary] | None:
    """None when a call is of a shape that only reading it whole does justice to."""
    counter = Counter()
    folders: Tally[str] = Tally()
    meta: Line | None = None
    for line in source.typed(Line):
        if line.role == "session_meta":
            meta = meta or line
            continue
        if line.role not in ("user", "assistant", "tool", "system"):
            continue
        counter.times.append(line.timestamp)
        counter.message()
        if line.role == "tool":
            text, _, outcome, _ = verdict(_text(line.content))
            counter.result(line.tool_call_id, outcome, text)
        elif line.role == "assistant" and line.tool_calls:
            for call in line.tool_calls:
                if not _count_call(call, counter, folders):
                    return None
    started, ended = counter.period()
    started = started or time_in_name(source.stem)
    cwd = (meta.cwd if meta else "") or (folders.most_common(1)[0][0] if folders else "")
    return [
        Summary(
            external_id=(meta.session_id if meta else "") or source.stem.removeprefix("session_"),
            agent=AGENT,
            format=NAME,
            project=project_key(cwd),
            started_at=started,
            ended_at=ended or started,
            messages=counter.messages,
            tool_calls=counter.calls,
            errors=counter.errors,
            outcome=counter.outcome,
        )
    ]


def _count_call(call: Call, counter: Counter, folders: Tally[str]) -> bool:
    body = call.function or Function(call.name, call.arguments)
    arguments = (body.arguments or "{}").encode()
    try:
        where = _where(arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return False
    counter.calls += 1
    folders.update(where.folders())
    if runs_commands(body.name, arguments):
        counter.runs.add(call.id or call.call_id)
    return True


def _text(content: str | list[Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content)
    return content or ""
