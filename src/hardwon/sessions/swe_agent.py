"""SWE-agent's .traj, a list of steps, and mini-swe-agent's list of chat messages."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions import mini_swe_agent
from hardwon.sessions.loose import joined, json_object
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.origin import user_text
from hardwon.sessions.source import Source
from hardwon.sessions.tools import result_origin, tool_call

NAME = "swe-agent"
AGENT = "swe-agent"
READS = "trajectories of SWE-agent and of mini-swe-agent"
VERSIONS = "SWE-agent 0.x and 1.0, mini-swe-agent 1.x; mini-swe-agent-1.1 (2.x) *unverified*"

_FILE_COMMANDS = frozenset("open create goto scroll_up scroll_down find_file search_file search_dir".split())
_EDIT_COMMANDS = frozenset(("edit", "insert"))
_LONGEST_PARSED = 4_000
_STATE_SUFFIX = re.compile(r"\n?\(Open file: [^\n]*\)\r?\n\(Current directory: ([^\n]*)\)\r?\nbash-\$\s*$")
_SUFFIX = 2_000
_EDIT_REFUSED = (
    "Your proposed edit has introduced new syntax error(s).",
    "No replacement was performed",
)
_TIMED_OUT = "EXECUTION TIMED OUT"


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Both write where they are told; only mini-swe-agent keeps its last run in a place of its own."""
    if moved := environment.get("MSWEA_GLOBAL_CONFIG_DIR"):
        return [Path(moved)]
    return [
        home / ".config" / mini_swe_agent.AGENT,
        home / "Library" / "Application Support" / mini_swe_agent.AGENT,
        Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
        / mini_swe_agent.AGENT
        / mini_swe_agent.AGENT,
    ]


def recognises(source: Source) -> bool:
    beginning = source.beginning
    if not any(key in beginning for key in ('"trajectory"', '"history"', '"messages"', '"role"')):
        return False
    document = source.document
    if isinstance(document, list):
        return mini_swe_agent.is_bare_chat(document)
    return isinstance(document, dict) and (_is_trajectory(document) or mini_swe_agent.is_mini(document))


def read(source: Source) -> list[Session]:
    document = source.document
    name = _instance(source.path)
    if isinstance(document, dict) and not mini_swe_agent.is_mini(document):
        return [_Run().session(document, name)]
    return [mini_swe_agent.Chat().session(document, name, NAME)]


def _is_trajectory(document: Record) -> bool:
    steps, history = document.get("trajectory"), document.get("history")
    if isinstance(steps, list) and steps:
        first = steps[0]
        return isinstance(first, dict) and {"action", "observation", "response"} <= first.keys()
    return (
        isinstance(history, list)
        and bool(history)
        and all(isinstance(entry, dict) and {"role", "content", "agent"} <= entry.keys() for entry in history[:3])
    )


def _instance(path: Path) -> str:
    """Run and instance: an instance is run under many settings, each in a folder of its own."""
    name = path.name.removesuffix(".json").removesuffix(".traj")
    folder = path.parent if path.parent.name != name else path.parent.parent
    return f"{folder.name}/{name}" if folder.name else name


class _Run:
    """SWE-agent: what was asked is in the history, what was done is in the steps."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._functions: dict[str, Record] = {}
        self._cwd = ""
        self._unknown = 0

    def session(self, document: Record, name: str) -> Session:
        history, steps = document.get("history"), document.get("trajectory")
        entries = [entry for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []
        self._find_functions(entries)
        for entry in entries:
            if entry.get("role") == "assistant":
                break
            self._ask(entry)
        for step in steps if isinstance(steps, list) and steps else self._steps_of(entries):
            if isinstance(step, dict):
                self._do(step)
            else:
                self._unknown += 1
        return Session(
            external_id=name,
            agent=AGENT,
            format=NAME,
            cwd=self._cwd,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )

    def _find_functions(self, entries: list[Record]) -> None:
        """The function calls behind the actions, where the model made any."""
        for entry in entries:
            calls, action = entry.get("tool_calls"), text_of(entry.get("action"))
            if action and isinstance(calls, list) and calls and isinstance(calls[0], dict):
                function = calls[0].get("function")
                if isinstance(function, dict):
                    self._functions[action.strip()] = function

    def _ask(self, entry: Record) -> None:
        text = joined(entry.get("content"))
        if entry.get("role") != "user":
            self._messages.append(Message(role="system", origin="injected", text=text))
            return
        typed, origin = user_text(text)
        shown = entry.get("is_demo") is True
        self._messages.append(Message(role="user", origin="injected" if shown else origin, text=typed))

    def _steps_of(self, entries: list[Record]) -> list[Record]:
        """A demonstration may be a history alone: an action, and what came back for it."""
        steps: list[Record] = []
        for entry in entries:
            if entry.get("role") == "assistant":
                steps.append({"thought": entry.get("thought", entry.get("content")), "action": entry.get("action")})
            elif steps and "observation" not in steps[-1]:
                steps[-1]["observation"] = joined(entry.get("content"))
        return steps

    def _do(self, step: Record) -> None:
        state = json_object(step.get("state")) or {}
        self._cwd = self._cwd or text_of(state.get("working_dir"))
        action = text_of(step.get("action")).strip()
        said = text_of(step.get("thought")) or (text_of(step.get("response")) if not action else "")
        open_file = text_of(state.get("open_file"))
        call_id = f"step-{len(self._messages)}"
        call = self._call(call_id, action, open_file if open_file != "n/a" else "") if action else None
        self._messages.append(Message(role="assistant", origin="agent", text=said, calls=(call,) if call else ()))
        observation = step.get("observation")
        if call is None:
            if isinstance(observation, str) and observation:
                self._messages.append(Message(role="user", origin="injected", text=observation))
        elif isinstance(observation, str):
            result = self._result(call, observation)
            self._messages.append(Message(role="tool", origin="tool", results=(result,)))

    def _call(self, call_id: str, action: str, open_file: str) -> ToolCall:
        function = self._functions.get(action)
        if function is None:
            name, arguments = _parsed(action)
        else:
            name, arguments = text_of(function.get("name")), json_object(function.get("arguments")) or {}
        if name in _EDIT_COMMANDS:
            written = arguments.get("replace", arguments.get("text", arguments.get("new_string")))
            call = tool_call(call_id, "edit", {**arguments, "new_string": written})
            return replace(call, name=name, target=call.target or open_file)
        return tool_call(call_id, name, arguments)

    def _result(self, call: ToolCall, observation: str) -> ToolResult:
        tail = observation[-_SUFFIX:]
        if found := _STATE_SUFFIX.search(tail):
            self._cwd = self._cwd or found[1]
            observation = observation[: len(observation) - len(tail) + found.start()]
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if observation.startswith(_EDIT_REFUSED) or observation.endswith(_TIMED_OUT):
            outcome, evidence = "error", "text"
        return ToolResult(
            call_id=call.id, outcome=outcome, evidence=evidence, text=observation, origin=result_origin(call)
        )


def _parsed(action: str) -> tuple[str, Record]:
    """What an action as text does: a command of SWE-agent's own, else one of the shell."""
    name = action.split(None, 1)[0]
    rest = action[len(name) :].strip()
    if name in _EDIT_COMMANDS:
        if "\n" in rest and not rest.startswith(("'", '"')):
            return name, {"new_string": rest.partition("\n")[2]}
        words = _words(rest)
        return name, {"new_string": words[1] if name == "edit" and len(words) > 1 else words[0] if words else ""}
    if name in _FILE_COMMANDS:
        return name, {"path": next(iter(_words(rest)), "")}
    if name == "str_replace_editor":
        words = _words(rest)
        options = dict(zip(words[2::2], words[3::2], strict=False))
        return name, {
            "command": words[0] if words else "",
            "path": words[1] if len(words) > 1 else "",
            **{option.removeprefix("--"): value for option, value in options.items()},
        }
    return "bash", {"command": action}


def _words(text: str) -> list[str]:
    """The words of a command; a long one is cut, and the quote it is cut in closed."""
    for quote in ("", "'", '"'):
        try:
            return shlex.split(text[:_LONGEST_PARSED] + quote)
        except ValueError:
            continue
    return text[:_LONGEST_PARSED].split()
