"""Count Codex rollouts without building them."""

from __future__ import annotations

from msgspec import Raw, Struct

from oldhand.model.session import Summary
from oldhand.sessions.codex import AGENT, CALLS, NAME, OUTPUTS, verdict
from oldhand.sessions.counter import Counter
from oldhand.sessions.project import project_key
from oldhand.sessions.source import Source
from oldhand.sessions.tools import runs_commands

_NOTHING = Raw(b"null")


class Part(Struct):
    text: str = ""


class Git(Struct):
    repository_url: str = ""


class Payload(Struct):
    type: str = ""
    role: str | None = None
    content: str | list[Part] | None = None
    message: str = ""
    name: str = ""
    call_id: str = ""
    arguments: str | None = None
    action: Raw = _NOTHING
    output: str | list[Part] = ""
    timestamp: str | int | float | None = None
    id: str = ""
    cwd: str = ""
    git: Git | None = None
    source: str | dict[str, Raw] | None = None


class Line(Struct):
    type: str = ""
    timestamp: str | int | float | None = None
    payload: Payload | None = None


def count(source: Source) -> list[Summary] | None:
    """None for a rollout of events alone, which must be read whole to be put in order."""
    counter = Counter()
    times = counter.times
    meta = Payload()
    cwd = ""
    said = False
    for line in source.typed(Line):
        payload = line.payload
        if payload is None:
            continue
        times.append(line.timestamp or payload.timestamp)
        if line.type == "response_item":
            said = _item(payload, counter) or said
        elif line.type == "event_msg":
            if payload.type == "turn_aborted":
                counter.message(stopped=True)
        elif line.type == "turn_context":
            cwd = cwd or payload.cwd
        elif line.type == "session_meta" and not meta.id:
            meta = payload
    if not said:
        return None
    started, ended = counter.period()
    return [
        Summary(
            external_id=meta.id or source.stem,
            agent=AGENT,
            format=NAME,
            subagent=next(iter(meta.source), "sub-agent") if isinstance(meta.source, dict) else "",
            project=project_key(meta.cwd or cwd, meta.git.repository_url if meta.git else ""),
            started_at=started,
            ended_at=ended,
            messages=counter.messages,
            tool_calls=counter.calls,
            errors=counter.errors,
            outcome=counter.outcome,
        )
    ]


def _item(item: Payload, counter: Counter) -> bool:
    """Count one item; True when it is something said."""
    kind = item.type
    if kind == "message" or (not kind and item.role is not None):
        if not _has_words(item.content):
            return False
        counter.message()
        return item.role in ("user", "assistant")
    if kind in CALLS:
        counter.message()
        counter.calls += 1
        if runs_commands(item.name or kind, (item.arguments or "").encode()):
            counter.runs.add(item.call_id)
    elif kind in OUTPUTS:
        counter.message()
        output = item.output if isinstance(item.output, str) else [{"text": part.text} for part in item.output]
        text, _, outcome, _ = verdict(output)
        counter.result(item.call_id, outcome, text)
    return False


def _has_words(content: str | list[Part] | None) -> bool:
    if isinstance(content, list):
        return any(part.text and not part.text.isspace() for part in content)
    return bool(content) and not content.isspace() if content else False
