"""opencode: an exported document, a folder of small JSON files, or a database, all of the same messages and parts."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from hardwon.clock import Period
from hardwon.model.session import Damage, Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source, opened_database
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "opencode"
AGENT = "opencode"
READS = "exported documents, storage folders and the SQLite store: messages, sub-agents, tool calls and results"
VERSIONS = "1.2.5 exported; storage folders and SQLite *unverified*"

_COLUMNS = {
    "session": {"id", "parent_id", "directory", "version", "time_created", "time_updated"},
    "message": {"id", "session_id", "time_created", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_SESSION_FIELDS = ("id", "parentID", "directory", "version", "time_created", "time_updated")
_SESSIONS = (
    "SELECT id, parent_id, directory, version, time_created, time_updated FROM session ORDER BY time_created, id"
)
# As bytes, so that a row with bad text is lost alone.
_MESSAGES = "SELECT id, CAST(data AS BLOB) FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, CAST(data AS BLOB) FROM part WHERE session_id = ? ORDER BY message_id, id"
_KNOWN_PARTS = frozenset(
    "text tool step-start step-finish reasoning patch file agent compaction snapshot subtask retry".split()
)
_REFUSED = re.compile(r"(?:\w+: )?The user (?:rejected permission|has specified a rule|dismissed this question)")
_STOPPED = re.compile(r"(?:\w+: )?Tool execution aborted")
_NOTE_ENDS = re.compile(r"</((?:bash_|shell_)?metadata)>\s*\Z")
_OLD_NOTE = re.compile(r"\n\n\((Command timed out after \d+ ms|Command was aborted)\)\Z")
_MAX_NOTE_CHARACTERS = 100


def recognises(source: Source) -> bool:
    if source.is_database:
        return _holds_sessions(source)
    found = _document(source)
    return _is_export(found) or _is_stored(found)


def read(source: Source) -> list[Session]:
    if source.is_database:
        return _from_database(source)
    found = _document(source)
    if _is_export(found):
        conversation = _Conversation(found["info"], source.stem)
        for entry in found["messages"]:
            body = entry if isinstance(entry, dict) else {}
            conversation.add(body.get("info"), body.get("parts"))
    else:
        conversation = _Conversation(found, source.path.stem)
        for info, parts in _stored(source.path):
            conversation.add(info, parts)
    return [conversation.session()]


def _document(source: Source) -> Record:
    """The one object of a file that names an opencode session early on; empty for any other file."""
    found = source.document if '"ses_' in source.beginning else None
    return found if isinstance(found, dict) else {}


def _is_export(found: Record) -> bool:
    info, messages = found.get("info"), found.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    return text_of(info.get("id")).startswith("ses_") and all(
        isinstance(entry, dict) and isinstance(entry.get("info"), dict) and "parts" in entry for entry in messages[:3]
    )


def _is_stored(found: Record) -> bool:
    known = "title" in found and ("projectID" in found or "directory" in found) and "messages" not in found
    return known and text_of(found.get("id")).startswith("ses_") and isinstance(found.get("time"), dict)


def _stored(path: Path) -> Iterator[tuple[Record | None, list[Record | None]]]:
    """The messages of a session file, from the folders beside its own; ids are the files' names."""
    storage = path.parent.parent.parent
    for message in _json_files(storage / "message" / path.stem):
        yield _decoded(message), [_decoded(part) for part in _json_files(storage / "part" / message.stem)]


def _json_files(folder: Path) -> list[Path]:
    """In the order of their names, which is that of their making."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.endswith(".json") and e.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _decoded(path: Path) -> Record | None:
    try:
        return json_object(path.read_bytes())
    except OSError:
        return None


def _holds_sessions(source: Source) -> bool:
    """Told by tables only: a view could be made to never end."""
    query = "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    columns: defaultdict[object, set[object]] = defaultdict(set)
    try:
        with closing(opened_database(source)) as database:
            for table, column in database.execute(query):
                columns[table].add(column)
    except (apsw.Error, UnicodeDecodeError):
        return False
    return all(wanted <= columns[table] for table, wanted in _COLUMNS.items())


def _from_database(source: Source) -> list[Session]:
    sessions: list[Session] = []
    try:
        with closing(opened_database(source)) as database:
            for row in database.execute(_SESSIONS):
                fields = dict(zip(_SESSION_FIELDS, row, strict=True))
                sessions.append(_from_row(database, fields))
    except (apsw.Error, UnicodeDecodeError) as error:
        source.damaged.append(Damage(0, f"the database could not be read to its end: {error}"))
    return sessions


def _from_row(database: apsw.Connection, row: Record) -> Session:
    session_id = row["id"]
    stamps = {"created": row["time_created"], "updated": row["time_updated"]}
    conversation = _Conversation({**row, "time": stamps}, text_of(session_id))
    parts: defaultdict[object, list[Record | None]] = defaultdict(list)
    for message_id, data in database.execute(_PARTS, (session_id,)):
        parts[message_id].append(json_object(data))
    for message_id, data in database.execute(_MESSAGES, (session_id,)):
        conversation.add(json_object(data), parts[message_id])
    return conversation.session()


class _Conversation:
    """A session's messages as they come, whichever of the three stores they come from."""

    def __init__(self, info: Record, fallback_id: str) -> None:
        self._id = text_of(info.get("id")) or fallback_id
        self._subagent = self._id if text_of(info.get("parentID")) else ""
        self._version = text_of(info.get("version"))
        self._cwd = text_of(info.get("directory"))
        self._messages: list[Message] = []
        self._unknown = 0
        self._period = Period()
        self._period.add(_stamp(info, "created"))
        self._period.add(_stamp(info, "updated"))

    def add(self, info: object, parts: object) -> None:
        role = info.get("role") if isinstance(info, dict) else None
        if not isinstance(info, dict) or role not in ("user", "assistant"):
            self._unknown += 1
            return
        at = self._period.add(_stamp(info, "created"))
        listed = parts if isinstance(parts, list) else []
        known = [part for part in listed if isinstance(part, dict) and text_of(part.get("type")) in _KNOWN_PARTS]
        self._unknown += len(listed) - len(known)
        if role == "user":
            self._add_user(known, at)
        else:
            self._add_assistant(info, known, at)

    def _add_user(self, parts: list[Record], at: int | None) -> None:
        """The client puts what a prompt attaches, and its own instructions, beside the typed text."""
        typed = _text(part for part in parts if part.get("synthetic") is not True and part.get("ignored") is not True)
        if typed.strip():
            self._messages.append(user_message(typed, at, "agent" if self._subagent else "user"))
        if added := _text(part for part in parts if part.get("synthetic") is True):
            self._messages.append(Message(role="user", origin="injected", at=at, text=added))

    def _add_assistant(self, info: Record, parts: list[Record], at: int | None) -> None:
        calls: list[ToolCall] = []
        results: list[ToolResult] = []
        ended = at
        for part in parts:
            state = part.get("state")
            if part.get("type") != "tool" or not isinstance(state, dict):
                continue
            call_id = text_of(part.get("callID")) or f"{len(self._messages)}#{len(calls)}"
            call = tool_call(call_id, text_of(part.get("tool")), state.get("input"))
            calls.append(call)
            if (result := _result(call, state)) is not None:
                results.append(result)
                ended = self._period.add(_stamp(state, "end")) or ended
        text = _text(parts)
        if text or calls:
            # A summary of what was compacted away stands in the agent's place.
            origin: Origin = "injected" if info.get("summary") is True else "agent"
            self._messages.append(Message(role="assistant", origin=origin, at=at, text=text, calls=tuple(calls)))
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=ended, results=tuple(results)))
        error, place = info.get("error"), info.get("path")
        if isinstance(error, dict) and error.get("name") == "MessageAbortedError":
            self._messages.append(Message(role="user", origin="injected", at=ended, text=INTERRUPTED))
        if not self._cwd and isinstance(place, dict):
            self._cwd = text_of(place.get("cwd"))

    def session(self) -> Session:
        return Session(
            external_id=self._id,
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


def _text(parts: Iterator[Record] | list[Record]) -> str:
    return "\n".join(filter(None, (text_of(part.get("text")) for part in parts if part.get("type") == "text")))


def _stamp(record: Record, moment: str) -> object:
    time = record.get("time")
    return time.get(moment) if isinstance(time, dict) else None


def _result(call: ToolCall, state: Record) -> ToolResult | None:
    """The result of a call that has ended; a call that was still running has none."""
    status, metadata = state.get("status"), state.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    outcome: Outcome = "error"
    evidence: Evidence = "flag"
    if status == "error":
        text = text_of(state.get("error"))
        if _REFUSED.match(text):
            evidence = "rejected"
        elif _STOPPED.match(text):
            evidence = "interrupted"
    elif status == "completed":
        text, note = (
            _shell_output(joined(state.get("output"))) if call.action == "run" else (joined(state.get("output")), "")
        )
        if "aborted" in note:
            evidence = "interrupted"
        elif exit_code is not None:
            outcome, evidence = ("error" if exit_code else "ok"), "exit-code"
        elif "timeout" in note or "timed out" in note:
            text, evidence = f"{text}\n{note}".lstrip("\n"), "text"
        elif call.action == "run":
            outcome, evidence = "unknown", "none"
        else:
            outcome = "ok"
    else:
        return None
    return ToolResult(
        call_id=call.id,
        outcome=outcome,
        evidence=evidence,
        text=text,
        exit_code=exit_code,
        origin=result_origin(call),
    )


def _shell_output(output: str) -> tuple[str, str]:
    """The plain output, and what the client noted below it."""
    note = ""
    if found := _NOTE_ENDS.search(output, max(0, len(output) - _MAX_NOTE_CHARACTERS)):
        tag = f"<{found.group(1)}>"
        start = output.rfind(tag, 0, found.start())
        if start >= 0:
            note = output[start + len(tag) : found.start()].strip()
            output = output[:start].rstrip("\n")
    elif found := _OLD_NOTE.search(output, max(0, len(output) - _MAX_NOTE_CHARACTERS)):
        output, note = output[: found.start()], found.group(1)
    return "" if output == "(no output)" else output, note
