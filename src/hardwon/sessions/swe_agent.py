"""SWE-agent's .traj, a list of steps, and mini-swe-agent's list of chat messages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

# mini-swe-agent's list of chat messages: a command in a code block, then a message with its return code.

MINI_AGENT = "mini-swe-agent"

_BLOCK_START = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n")
_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,9})</returncode>\s*")
_NO_ACTION = ("Please always provide EXACTLY ONE action", "Format error:", "Tool call error:")
_REJECTED = "Command not executed. The user rejected your command"
_KILLED = "The last command <command>"
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def is_mini(document: Record) -> bool:
    info, messages = document.get("info"), document.get("messages")
    if not isinstance(messages, list):
        return False
    if text_of(document.get("trajectory_format")).startswith(MINI_AGENT):
        return True
    return isinstance(info, dict) and "exit_status" in info and is_bare_chat(messages)


def is_bare_chat(messages: list[object]) -> bool:
    return any(
        isinstance(message, dict)
        and message.get("role") == "user"
        and text_of(message.get("content")).startswith("<returncode>")
        for message in messages[:12]
    )


class MiniChat:
    """mini-swe-agent: an assistant's command, then a message that begins with its return code."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._period = Period()
        self._waiting: dict[str, ToolCall] = {}
        self._unknown = 0

    def session(self, document: object, name: str, format: str) -> Session:
        whole = document if isinstance(document, dict) else {"messages": document}
        messages = whole.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                self._add(message, text_of(message.get("role")))
            else:
                self._unknown += 1
        info = json_object(whole.get("info")) or {}
        config = json_object(info.get("config")) or {}
        environment = json_object(config.get("environment")) or {}
        return Session(
            # The last run is always kept under one name; when it began tells the runs apart.
            external_id=f"{name}@{self._period.first}" if self._period.first else name,
            agent=MINI_AGENT,
            format=format,
            version=text_of(info.get("mini_version")),
            cwd=text_of(environment.get("cwd")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )

    def _add(self, message: Record, role: str) -> None:
        extra = json_object(message.get("extra")) or {}
        at = self._period.add(extra.get("timestamp", message.get("timestamp")))
        text = joined(message.get("content"))
        if role == "assistant":
            calls = self._calls(message, extra, text)
            self._waiting = {call.id: call for call in calls}
            said = text if "tool_calls" in message else _without_command(text)[0]
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=said, calls=calls))
        elif role in ("user", "tool", "exit") and self._answers(text, role, extra):
            result = self._result(message, extra, text)
            self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))
        elif role == "user":
            self._messages.append(user_message(text, at, "injected" if text.startswith(_NO_ACTION) else "user"))
        elif role in ("system", "exit"):
            self._messages.append(Message(role="system", origin="injected", at=at, text=text))
        else:
            self._unknown += 1

    def _calls(self, message: Record, extra: Record, text: str) -> tuple[ToolCall, ...]:
        made = message.get("tool_calls")
        if isinstance(made, list):
            functions = [(entry, entry.get("function")) for entry in made if isinstance(entry, dict)]
            return tuple(
                tool_call(text_of(entry.get("id")), text_of(function.get("name")), function.get("arguments"))
                for entry, function in functions
                if isinstance(function, dict)
            )
        actions = extra.get("actions")
        if isinstance(actions, list):
            commands = [text_of(action.get("command")) for action in actions if isinstance(action, dict)]
        else:
            commands = [command] if (command := _without_command(text)[1]) else []
        number = len(self._messages)
        return tuple(
            tool_call(f"message-{number}-{place}", "bash", {"command": command})
            for place, command in enumerate(commands)
        )

    def _answers(self, text: str, role: str, extra: Record) -> bool:
        """Whether a message is the output of a call; the user may also speak right after one."""
        if role == "tool" or "returncode" in extra:
            return True
        if not self._waiting:
            return False
        if _return_code(text)[0] is not None or text.startswith((_REJECTED, _KILLED)):
            return True
        return any(submit in call.command for call in self._waiting.values() for submit in _SUBMITS)

    def _result(self, message: Record, extra: Record, text: str) -> ToolResult:
        call_id = text_of(message.get("tool_call_id")) or next(iter(self._waiting), "")
        call = self._waiting.pop(call_id, None)
        written, output = _return_code(text)
        code = extra.get("returncode", written)
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if isinstance(code, int) and not isinstance(code, bool):
            outcome, evidence = ("error" if code else "ok"), "exit-code"
        elif text.startswith(_REJECTED):
            outcome, evidence = "error", "rejected"
        elif text.startswith(_KILLED):
            outcome, evidence = "error", "text"
        return ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text_of(extra.get("raw_output")) or output,
            exit_code=code if evidence == "exit-code" else None,
            origin=result_origin(call),
        )


def _without_command(text: str) -> tuple[str, str]:
    """What an assistant said, and the command in the code block of it."""
    start = _BLOCK_START.search(text)
    if start is None:
        return text, ""
    end = text.find("\n```", start.end() - 1)
    if end < 0:
        return text, ""
    said = text[: start.start()] + text[end + 4 :]
    return said.strip(), text[start.end() : end].strip()


def _return_code(text: str) -> tuple[int | None, str]:
    """The return code that an observation begins with, and the output without its tags."""
    body = text.partition("</exception>")[2].lstrip() if text.startswith("<exception>") else text
    found = _RETURN_CODE.match(body)
    if found is None:
        return None, text
    output = body[found.end() :]
    return int(found[1]), output.removeprefix("<output>\n").removesuffix("</output>").removesuffix("\n")


NAME = "swe-agent"
AGENT = "swe-agent"
READS = "trajectories of SWE-agent and of mini-swe-agent"
VERSIONS = "SWE-agent 0.x and 1.0, mini-swe-agent 1.x; mini-swe-agent-1.1 (2.x) *unverified*"

_FILE_COMMANDS = frozenset("open create goto scroll_up scroll_down find_file search_file search_dir".split())
_EDIT_COMMANDS = frozenset(("edit", "insert"))
_MAX_PARSED_CHARACTERS = 4_000
_STATE_SUFFIX = re.compile(r"\n?\(Open file: [^\n]*\)\r?\n\(Current directory: ([^\n]*)\)\r?\nbash-\$\s*$")
_TAIL_CHARACTERS_SEARCHED = 2_000
_EDIT_REFUSED = (
    "Your proposed edit has introduced new syntax error(s).",
    "No replacement was performed",
)
_TIMED_OUT = "EXECUTION TIMED OUT"


def recognises(source: Source) -> bool:
    beginning = source.beginning
    if not any(key in beginning for key in ('"trajectory"', '"history"', '"messages"', '"role"')):
        return False
    document = source.document
    if isinstance(document, list):
        return is_bare_chat(document)
    return isinstance(document, dict) and (_is_trajectory(document) or is_mini(document))


def read(source: Source) -> list[Session]:
    document = source.document
    name = _instance(source.path)
    if isinstance(document, dict) and not is_mini(document):
        return [_Run().session(document, name)]
    return [MiniChat().session(document, name, NAME)]


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
        self._messages.append(user_message(text, by="injected" if entry.get("is_demo") is True else "user"))

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
        tail = observation[-_TAIL_CHARACTERS_SEARCHED:]
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
            return shlex.split(text[:_MAX_PARSED_CHARACTERS] + quote)
        except ValueError:
            continue
    return text[:_MAX_PARSED_CHARACTERS].split()
