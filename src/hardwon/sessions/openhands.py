"""OpenHands: a list of events; an observation names the action it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "openhands"
AGENT = "openhands"
READS = "lists of V0 events, resolver and evaluation output.jsonl, folders of V1 conversations"
VERSIONS = "V0 of 2024 to 0.35; V1 folders and [action, observation] pairs *unverified*"

_TALK = frozenset(("message", "finish", "reject", "system"))
_SILENT = frozenset(
    "null recall think agent_state_changed change_agent_state condense condensation condensation_request "
    "loop_detection_recovery server_ready success".split()
)
_SILENT_KINDS = frozenset(
    "Condensation CondensationRequest CondensationSummaryEvent ConversationStateUpdateEvent PauseEvent TokenEvent "
    "LLMCompletionLogEvent HookExecutionEvent StreamingDeltaEvent".split()
)
_RESULT_KINDS = frozenset(("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"))
# Written by the program when the model stops without having finished.
_NUDGES = ("Please continue working on the task", "Your last response did not include a function call")
_EDITOR_ERROR = "ERROR:\n"
_SKILL_ERRORS = ("[Your proposed edit has introduced new syntax error(s).", "[No exact match found in ")
_STILL_RUNNING = -1
_ONE_LINE = re.compile(r"\s*\{[ \t]*\S")
_TAIL_CHARACTERS_SEARCHED = 400
_ENVELOPE_END = re.compile(
    r"\r?\n\w{1,20}@[0-9a-f]{12}:(?P<prompt>\S*) # $"
    r"|\n?\[Jupyter current working directory: (?P<jupyter>[^\]\n]*)\](?:\n\[Jupyter [^\]\n]*\])*\s*$"
)


def recognises(source: Source) -> bool:
    beginning = source.beginning
    if _is_list(source):
        document = source.document if '"source"' in beginning else None
        return isinstance(document, list) and _are_events(document, whole=True)
    if ('"instruction"' in beginning or '"history"' in beginning) and _is_run(_first(source)):
        return True
    return '"workspace"' in beginning and _is_conversation(source.document)


def read(source: Source) -> list[Session]:
    if _is_list(source):
        return [_session(source.document, source.stem)]
    if _is_run(_first(source)):
        return [_run(record, f"{source.stem}/{number}") for number, record in enumerate(source.records(), 1)]
    return [_conversation(source)]


def _is_list(source: Source) -> bool:
    return source.beginning.lstrip("\ufeff \t\r\n").startswith("[")


def _first(source: Source) -> Record:
    """The first line's record; a document written over many lines has none."""
    return next(source.records(), {}) if _ONE_LINE.match(source.beginning) else {}


def _are_events(events: list[object], *, whole: bool = False) -> bool:
    """A downloaded list of events has them whole; a resolver's history has lost ids and sources."""
    if events and isinstance(events[0], list):
        events = events[0]
    return bool(events) and all(
        isinstance(event, dict)
        and "role" not in event
        and ("kind" in event or isinstance(event.get("action", event.get("observation")), str))
        and ("source" in event or not whole)
        for event in events[:5]
    )


def _is_run(record: Record) -> bool:
    history = record.get("history")
    named = "instance_id" in record or isinstance(record.get("issue"), dict)
    return named and isinstance(history, list) and _are_events(history)


def _is_conversation(document: object) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("agent"), dict)
        and isinstance(document.get("workspace"), dict)
        and ("persistence_dir" in document or "execution_status" in document)
    )


def _run(record: Record, fallback: str) -> Session:
    """One line of an output.jsonl: a benchmark's instance, or an issue that was resolved."""
    session = _session(record.get("history"), fallback)
    issue = record.get("issue")
    if instance := text_of(record.get("instance_id")):
        # The same instance is run many times, by several models; when it began tells the runs apart.
        name = f"{instance}@{session.started_at}" if session.started_at else f"{fallback}/{instance}"
    elif isinstance(issue, dict) and text_of(issue.get("repo")):
        name = f"{text_of(issue.get('owner'))}/{text_of(issue.get('repo'))}#{_id(issue.get('number'))}"
    else:
        name = fallback
    return msgspec.structs.replace(session, external_id=name)


def _conversation(source: Source) -> Session:
    folder = source.path.parent
    state = source.document if isinstance(source.document, dict) else {}
    subagent = folder.name if folder.parent.name == "subagents" else ""
    session = _session(list(_event_files(folder / "events")), text_of(state.get("id")) or folder.name, subagent)
    workspace = state.get("workspace")
    started_in = text_of(workspace.get("working_dir")) if isinstance(workspace, dict) else ""
    return msgspec.structs.replace(session, cwd=started_in or session.cwd)


def _event_files(folder: Path) -> Iterator[object]:
    try:
        paths = sorted(folder.glob("event-*.json"), key=lambda path: (len(path.name.split("-")[1]), path.name))
    except OSError:
        return
    for path in paths:
        if path.is_symlink() or not path.is_file():
            continue
        try:
            yield msgspec.json.decode(path.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            yield None


def _session(history: object, external_id: str, subagent: str = "") -> Session:
    stream = _Stream(subagent)
    for item in history if isinstance(history, list) else ():
        for event in item if isinstance(item, list) else [item]:
            stream.add(event)
    return stream.session(external_id)


class _Stream:
    def __init__(self, subagent: str) -> None:
        self._subagent = subagent
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._by_response: dict[str, int] = {}
        self._more_calls: dict[int, list[ToolCall]] = {}
        self._latest = ""
        self._period = Period()
        self._version = self._cwd = ""
        self._unknown = 0

    def add(self, event: object) -> None:
        if not isinstance(event, dict):
            self._unknown += 1
            return
        at = self._period.add(event.get("timestamp"))
        action, observation = event.get("action"), event.get("observation")
        if isinstance(event.get("kind"), str):
            self._add_v1(event, event["kind"], at)
        elif isinstance(action, str):
            self._add_action(event, action, at)
        elif isinstance(observation, str):
            self._add_observation(event, observation, at)
        else:
            self._unknown += 1

    def _add_action(self, event: Record, action: str, at: int | None) -> None:
        given = event.get("args")
        args: Record = given if isinstance(given, dict) else event
        if action in _SILENT:
            return
        if action in _TALK:
            self._version = self._version or text_of(args.get("openhands_version"))
            texts = (args.get("content"), args.get("final_thought"), args.get("thought"), event.get("message"))
            self._say(self._speaker(event, action), next((text for text in map(text_of, texts) if text), ""), at)
            return
        metadata = event.get("tool_call_metadata")
        response = metadata.get("model_response") if isinstance(metadata, dict) else None
        shared = text_of(response.get("id")) if isinstance(response, dict) else ""
        call = tool_call(_id(event.get("id")) or f"event-{len(self._messages)}", action, args)
        self._call(call, text_of(args.get("thought")), shared, at)

    def _speaker(self, event: Record, action: str) -> str:
        if action != "message":
            return "system" if action == "system" else "agent"
        # Without a source, it is the task that comes first.
        return text_of(event.get("source")) or ("agent" if self._messages else "user")

    def _add_observation(self, event: Record, observation: str, at: int | None) -> None:
        if observation in _SILENT:
            return
        extras = event.get("extras")
        details: Record = extras if isinstance(extras, dict) else event
        cause = _id(event.get("cause"))
        call_id = cause if cause or observation == "error" else self._latest
        text = self._without_envelope(text_of(event.get("content")))
        exit_code = self._exit_code(details)
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if observation == "error":
            outcome, evidence = "error", "flag"
        elif observation == "user_rejected":
            outcome, evidence = "error", "rejected"
        elif exit_code is not None:
            outcome, evidence = ("error" if exit_code else "ok"), "exit-code"
        elif text.startswith(_EDITOR_ERROR) or (observation == "run_ipython" and text.startswith(_SKILL_ERRORS)):
            outcome, evidence = "error", "text"
        elif observation in ("read", "edit", "write"):
            outcome, evidence = "ok", "no-flag"
        elif isinstance(details.get("error"), bool):
            outcome, evidence = ("error" if details["error"] else "ok"), "flag"
        self._result(call_id, outcome, evidence, text.removeprefix(_EDITOR_ERROR), exit_code, at)

    def _add_v1(self, event: Record, kind: str, at: int | None) -> None:
        if kind == "MessageEvent":
            said = event.get("llm_message")
            content = said.get("content") if isinstance(said, dict) else None
            self._say(text_of(event.get("source")), joined(content), at)
        elif kind == "SystemPromptEvent":
            self._say("system", joined([event.get("system_prompt")]), at)
        elif kind == "ActionEvent":
            self._add_v1_action(event, at)
        elif kind in _RESULT_KINDS:
            self._add_v1_result(event, kind, at)
        elif kind not in _SILENT_KINDS:
            self._unknown += 1

    def _add_v1_action(self, event: Record, at: int | None) -> None:
        name, action, made = text_of(event.get("tool_name")), event.get("action"), event.get("tool_call")
        args = action if isinstance(action, dict) else made.get("arguments") if isinstance(made, dict) else None
        thought = joined(event.get("thought"))
        if name == "think":
            return
        if name == "finish":
            final = text_of(action.get("message")) if isinstance(action, dict) else ""
            self._say("agent", final or thought, at)
            return
        call = tool_call(text_of(event.get("tool_call_id")), name, args)
        self._call(call, thought, text_of(event.get("llm_response_id")), at)

    def _add_v1_result(self, event: Record, kind: str, at: int | None) -> None:
        if event.get("tool_name") in ("finish", "think"):
            return
        call_id = text_of(event.get("tool_call_id"))
        observation = event.get("observation")
        if kind == "UserRejectObservation":
            self._result(call_id, "error", "rejected", text_of(event.get("rejection_reason")), None, at)
        elif kind == "AgentErrorEvent" or not isinstance(observation, dict):
            self._result(call_id, "error", "flag", text_of(event.get("error")), None, at)
        else:
            text = joined(observation.get("content"))
            exit_code = self._exit_code(observation)
            outcome: Outcome = "error" if exit_code or observation.get("is_error") is True else "ok"
            evidence: Evidence = "exit-code" if exit_code is not None else "flag" if outcome == "error" else "no-flag"
            if observation.get("exit_code") == _STILL_RUNNING and outcome == "ok":
                outcome, evidence = "unknown", "none"
            self._result(call_id, outcome, evidence, text, exit_code, at)

    def _say(self, speaker: str, text: str, at: int | None) -> None:
        if not text.strip():
            return
        if speaker == "agent":
            message = Message(role="assistant", origin="agent", at=at, text=text)
        elif speaker == "user":
            # A sub-agent's "user" is the agent that called it.
            by: Origin = "injected" if text.lstrip().startswith(_NUDGES) else "agent" if self._subagent else "user"
            message = user_message(text, at, by)
        else:
            message = Message(role="system", origin="injected", at=at, text=text)
        self._messages.append(message)

    def _call(self, call: ToolCall, text: str, response: str, at: int | None) -> None:
        """Calls of one response are written as one event each, with results between them."""
        self._calls[call.id] = call
        self._latest = call.id
        known = self._by_response.get(response)
        if known is None:
            if response:
                self._by_response[response] = len(self._messages)
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=(call,)))
        else:
            self._more_calls.setdefault(known, []).append(call)

    def _result(
        self, call_id: str, outcome: Outcome, evidence: Evidence, text: str, exit_code: int | None, at: int | None
    ) -> None:
        result = ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=result_origin(self._calls.get(call_id)),
        )
        self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))

    def _exit_code(self, details: Record) -> int | None:
        """What a command ended with; None while it still runs."""
        metadata = details.get("metadata")
        code = details.get("exit_code")
        if isinstance(metadata, dict):
            self._cwd = self._cwd or text_of(metadata.get("working_dir"))
            code = metadata.get("exit_code", code)
        return code if isinstance(code, int) and not isinstance(code, bool) and code != _STILL_RUNNING else None

    def _without_envelope(self, text: str) -> str:
        tail = text[-_TAIL_CHARACTERS_SEARCHED:]
        found = _ENVELOPE_END.search(tail)
        if found is None:
            return text
        self._cwd = self._cwd or found["prompt"] or found["jupyter"] or ""
        return text[: len(text) - len(tail) + found.start()]

    def session(self, external_id: str) -> Session:
        for index, calls in self._more_calls.items():
            message = self._messages[index]
            self._messages[index] = msgspec.structs.replace(message, calls=(*message.calls, *calls))
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=self._version,
            subagent=self._subagent,
            cwd=self._cwd,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _id(value: object) -> str:
    return str(value) if isinstance(value, int | str) and value != -1 else ""
