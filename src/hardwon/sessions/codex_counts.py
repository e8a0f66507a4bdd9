"""Count Codex rollouts without building them."""

from __future__ import annotations

from msgspec import Raw, Struct

from hardwon.model.session import Summary
from hardwon.sessions.codex import AGENT, CALLS, NAME, OUTPUTS, verdict
from hardwon.sessions.counter import Tally
from hardwon.sessions.project import project_key
from hardwon.sessions.tools import runs_commands

_NOTHING = Raw(b"null")


class Part(Struct, gc=False):
    text: str = ""


class Git(Struct, gc=False):
    repository_url: str = ""


class Payload(Struct, gc=False):
    """The fields stand as they are mostly written, in which order they are found fastest."""

    type: str = ""
    role: str | None = None
    content: str | list[Part] | None = None
    name: str = ""
    arguments: Raw = _NOTHING
    call_id: str = ""
    output: str | list[Part] = ""
    id: str = ""
    timestamp: str | int | float | None = None
    cwd: str = ""
    source: str | dict[str, Raw] | None = None
    git: Git | None = None


class Line(Struct, gc=False):
    timestamp: str | int | float | None = None
    type: str = ""
    payload: Payload | None = None


class Counting(Tally):
    stem: str = ""
    session: str = ""
    subagent: str = ""
    started_in: str = ""
    remote: str = ""
    cwd: str = ""
    said: bool = False

    def add(self, lines: list[Line]) -> None:
        times: list[object] = []
        for line in lines:
            payload = line.payload
            if payload is None:
                continue
            times.append(line.timestamp or payload.timestamp)
            kind = line.type
            if kind == "response_item":
                self._item(payload)
            elif kind == "event_msg":
                if payload.type == "turn_aborted":
                    self.message(stopped=True)
            elif kind == "turn_context":
                self.cwd = self.cwd or payload.cwd
            elif kind == "session_meta" and not self.session:
                self._describe(payload)
        self.took_place(times)

    def _describe(self, meta: Payload) -> None:
        self.session, self.started_in = meta.id, meta.cwd
        self.remote = meta.git.repository_url if meta.git else ""
        self.subagent = next(iter(meta.source), "sub-agent") if isinstance(meta.source, dict) else ""

    def _item(self, item: Payload) -> None:
        kind = item.type
        if kind == "message" or (not kind and item.role is not None):
            if _has_words(item.content):
                self.message()
                self.said = self.said or item.role in ("user", "assistant")
        elif kind in CALLS:
            self.message()
            self.calls += 1
            if runs_commands(item.name or kind, item.arguments):
                self.runs.add(item.call_id)
        elif kind in OUTPUTS:
            self.message()
            output = item.output if isinstance(item.output, str) else [{"text": part.text} for part in item.output]
            text, _, outcome, _ = verdict(output)
            self.result(item.call_id, outcome, text)

    def summaries(self) -> list[Summary] | None:
        """None for a rollout of events alone, which must be read whole to be put in order."""
        if not self.said:
            return None
        return [
            Summary(
                external_id=self.session or self.stem,
                agent=AGENT,
                format=NAME,
                subagent=self.subagent,
                project=project_key(self.started_in or self.cwd, self.remote),
                started_at=self.first,
                ended_at=self.last,
                messages=self.messages,
                tool_calls=self.calls,
                errors=self.errors,
                outcome=self.outcome,
            )
        ]


def _has_words(content: str | list[Part] | None) -> bool:
    if isinstance(content, list):
        for part in content:  # noqa: SIM110 - any() takes three times as long
            if part.text and not part.text.isspace():
                return True
        return False
    return bool(content) and not content.isspace() if content else False
