"""ATIF, Harbor's exchange format: one document of steps, a step's calls and their results together."""

from __future__ import annotations

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "atif"
AGENT = "atif"
READS = "trajectories of the Agent Trajectory Interchange Format, with the sub-agents' in them"
VERSIONS = "ATIF-v1.7; v1.0 to v1.6 *unverified*"

_FAILED = frozenset(("error", "failed", "failure"))
_FINE = frozenset(("ok", "success", "completed"))
_STOPPED = frozenset(("cancelled", "canceled", "interrupted"))


def recognises(source: Source) -> bool:
    if '"steps"' not in source.beginning and '"schema_version"' not in source.beginning:
        return False
    return _is_trajectory(source.document)


def read(source: Source) -> list[Session]:
    document = source.document
    return _sessions(document, source.stem) if isinstance(document, dict) else []


def _is_trajectory(document: object) -> bool:
    return (
        isinstance(document, dict)
        and text_of(document.get("schema_version")).startswith("ATIF-v1")
        and isinstance(document.get("steps"), list)
    )


def _sessions(document: Record, stem: str) -> list[Session]:
    run = text_of(document.get("session_id"))
    name = text_of(document.get("trajectory_id")) or run or stem
    sessions = [_Trajectory(document, "").session(name)]
    waiting = [document.get("subagent_trajectories")]
    while waiting:
        embedded = waiting.pop()
        for number, inner in enumerate(embedded if isinstance(embedded, list) else (), 1):
            if isinstance(inner, dict):
                subagent = text_of(inner.get("trajectory_id")) or f"sub-agent-{number}"
                sessions.append(_Trajectory(inner, subagent).session(name))
                waiting.append(inner.get("subagent_trajectories"))
    return sessions


class _Trajectory:
    def __init__(self, document: Record, subagent: str) -> None:
        self._subagent = subagent
        self._agent = json_object(document.get("agent")) or {}
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._period = Period()
        self._unknown = 0
        steps = document.get("steps")
        for step in steps if isinstance(steps, list) else ():
            if not isinstance(step, dict):
                self._unknown += 1
            elif step.get("is_copied_context") is not True:  # told again from an earlier trajectory
                self._add(step)

    def _add(self, step: Record) -> None:
        at = self._period.add(step.get("timestamp"))
        source, text = step.get("source"), joined(step.get("message"))
        if source == "agent":
            calls = self._made(step.get("tool_calls"))
            if text or calls:
                self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        elif source == "user":
            # A sub-agent's "user" is the agent that called it.
            self._messages.append(user_message(text, at, "agent" if self._subagent else "user"))
        elif source == "system":
            self._messages.append(Message(role="system", origin="injected", at=at, text=text))
        else:
            self._unknown += 1
        observation = step.get("observation")
        results = observation.get("results") if isinstance(observation, dict) else None
        for entry in results if isinstance(results, list) else ():
            if isinstance(entry, dict):
                self._messages.append(Message(role="tool", origin="tool", at=at, results=(self._result(entry),)))

    def _made(self, calls: object) -> tuple[ToolCall, ...]:
        made = tuple(
            tool_call(text_of(entry.get("tool_call_id")), text_of(entry.get("function_name")), entry.get("arguments"))
            for entry in (calls if isinstance(calls, list) else ())
            if isinstance(entry, dict)
        )
        self._calls.update((call.id, call) for call in made)
        return made

    def _result(self, entry: Record) -> ToolResult:
        call_id = text_of(entry.get("source_call_id"))
        extra = entry.get("extra")
        status = text_of(extra.get("status")).lower() if isinstance(extra, dict) else ""
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if status in _FAILED:
            outcome, evidence = "error", "flag"
        elif status in _STOPPED:
            outcome, evidence = "error", "interrupted"
        elif status in _FINE:
            outcome, evidence = "ok", "no-flag"
        origin: Origin = result_origin(self._calls.get(call_id))
        return ToolResult(
            call_id=call_id, outcome=outcome, evidence=evidence, text=joined(entry.get("content")), origin=origin
        )

    def session(self, name: str) -> Session:
        return Session(
            external_id=name,
            agent=text_of(self._agent.get("name")) or AGENT,
            format=NAME,
            version=text_of(self._agent.get("version")),
            subagent=self._subagent,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )
