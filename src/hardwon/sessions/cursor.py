"""Cursor's database: a conversation's state in a row, every message (bubble) in a row of its own.

Shapes as published by others who read real stores: conversations (`composerData`) of versions 3 to 18, messages
(`bubbleId`) of version 3, Cursor 0.43 to 3.21; before that all of a conversation stood in the workspace's own store.
What one typed is the bubble's `text`; files, selections and terminals that were attached stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Damage, Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.discover import local_path, workspace_folder
from hardwon.sessions.lines import json_object, leniently, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source, columns, opened_database
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "cursor"
AGENT = "cursor"
READS = "state.vscdb: conversations with their messages, sub-agents, tool calls and results; the chats of 2024"
VERSIONS = "Cursor 0.43 to 3.21, read from published descriptions of real stores, *unverified*"

_CONVERSATIONS = "cursorDiskKV"
_STATE = "ItemTable"
_COMPOSERS = "composer.composerData"
_CHATS = "workbench.panel.aichat.view.aichat.chatdata"
_MAX_ROW_BYTES = 64 * 1024 * 1024
# The keys are indexed: of gigabytes only the rows of one conversation are touched. As bytes, so that a row with bad
# text is lost alone; what is absurdly long is not even loaded.
_VALUE = f"CASE WHEN octet_length(value) <= {_MAX_ROW_BYTES} THEN CAST(value AS BLOB) END"
_RANGE = (
    f"SELECT CAST(key AS BLOB), value IS NULL, {_VALUE} FROM {_CONVERSATIONS} WHERE key >= ? AND key < ? ORDER BY key"
)
_HEADERS = "composerHeaders"
"""A table of later versions: of each conversation what the list of them shows."""
_HEADER = f"SELECT CAST(composerId AS BLOB), {_VALUE} FROM {_HEADERS}"
_ITEM = f"SELECT {_VALUE} FROM {_STATE} WHERE key = ?"
_USER, _AGENT = (1, "1", "user"), (2, "2", "ai", "assistant")
_SUMMARY = 22
"""The capability whose bubble stands for what was compacted away."""
_SHELLS = frozenset(("run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"))
_TOOLS = {
    3: "ripgrep", 5: "read_file", 6: "list_dir", 7: "edit_file", 8: "file_search", 9: "codebase_search",
    11: "delete_file", 15: "run_terminal_cmd", 18: "web_search", 38: "edit_file_v2", 39: "list_dir",
    40: "read_file_v2", 41: "ripgrep", 42: "glob_file_search",
}  # fmt: skip
"""Names of those that older versions only number."""
_OUTPUT_KEYS = ("output", "contents", "content", "text")


class _Composer(Struct, rename="camel"):
    """Of the hundred fields of a conversation those that are read, of whatever type."""

    created_at: Any = None
    last_updated_at: Any = None
    status: Any = None
    conversation: Any = None
    conversation_map: Any = None
    full_conversation_headers_only: Any = None
    workspace_identifier: Any = None
    subagent_info: Any = None
    subagent_composer_ids: Any = None
    created_on_branch: Any = None


class _Bubble(Struct, rename="camel"):
    type: Any = None
    text: Any = None
    raw_text: Any = None
    created_at: Any = None
    capability_type: Any = None
    tool_former_data: Any = None
    attached_code_chunks: Any = None
    context: Any = None
    selections: Any = None
    workspace_uris: Any = None
    workspace_project_dir: Any = None


_composer = msgspec.json.Decoder(_Composer)
_bubble = msgspec.json.Decoder(_Bubble)


def recognises(source: Source) -> bool:
    """Told by its table, which VS Code's own store has not, or by a chat of before that table."""
    if not source.is_database:
        return False
    try:
        with closing(opened_database(source)) as database:
            if {"key", "value"} <= columns(database, _CONVERSATIONS):
                return True
            return {"key", "value"} <= columns(database, _STATE) and _item(database, _CHATS) is not None
    except (apsw.Error, UnicodeDecodeError):
        return False


def read(source: Source) -> list[Session]:
    """Of a store only looked at, no more than where and when its newest conversation was held."""
    found: list[Session] = []
    try:
        with closing(opened_database(source)) as database:
            if {"key", "value"} <= columns(database, _STATE):
                found += _in_workspace(source, database)
            if {"key", "value"} <= columns(database, _CONVERSATIONS):
                found += _Store(source, database).sessions()
    except (apsw.Error, UnicodeDecodeError) as error:
        source.damaged.append(Damage(0, f"the database could not be read to its end: {error}"))
    return sorted(found, key=lambda session: (session.started_at or 0, session.external_id, session.subagent))


def _item(database: apsw.Connection, key: str) -> Record | None:
    for (value,) in database.execute(_ITEM, (key,)):
        return json_object(value)
    return None


def _decoded(value: object, decoder: msgspec.json.Decoder[Any]) -> Any:
    try:
        return decoder.decode(value) if isinstance(value, bytes) else None
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _text(key: object) -> str:
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else ""


def _built(value: object) -> _Bubble | None:
    """A message that stands inside its conversation."""
    return leniently(value, _Bubble) if isinstance(value, dict) else None


class _Store:
    """The conversations of a user's store, one after the other."""

    def __init__(self, source: Source, database: apsw.Connection) -> None:
        self._source = source
        self._database = database
        self._callers: dict[str, str] = {}
        self._listed_folders: dict[str, str] = {}
        self._folders: dict[str, str] | None = None

    def sessions(self) -> list[Session]:
        found: list[Session] = []
        if not self._source.head_only and {"composerId", "value"} <= columns(self._database, _HEADERS):
            self._read_headers()
        for key, is_removed, value in self._database.execute(_RANGE, ("composerData:", "composerData;")):
            composer = _decoded(value, _composer)
            if composer is None:
                if not is_removed:
                    self._source.damaged.append(Damage(0, f"the row {_text(key)[:80]!r} is no conversation"))
                continue
            id = _text(key).partition(":")[2]
            self._note_subagents(id, composer)
            session = self._session(id, composer)
            if session.messages or self._source.head_only:
                found.append(session)
            if self._source.head_only and session.cwd and session.started_at is not None:
                break
        return [_of_caller(session, self._callers.get(session.external_id, "")) for session in found]

    def _read_headers(self) -> None:
        for key, value in self._database.execute(_HEADER):
            header = json_object(value) or {}
            self._note_caller(_text(key), header.get("subagentInfo"))
            identifier = header.get("workspaceIdentifier")
            if isinstance(identifier, dict) and (folder := local_path(identifier.get("uri"))):
                self._listed_folders[_text(key)] = folder

    def _note_caller(self, id: str, told: object) -> None:
        """A sub-agent whose caller is not named, or gone, is one all the same."""
        if isinstance(told, dict):
            self._callers[id] = text_of(told.get("parentComposerId")) or id

    def _note_subagents(self, id: str, composer: _Composer) -> None:
        for child in composer.subagent_composer_ids if isinstance(composer.subagent_composer_ids, list) else ():
            self._callers[text_of(child)] = id
        self._note_caller(id, composer.subagent_info)

    def _session(self, id: str, composer: _Composer) -> Session:
        conversation = _Conversation(composer)
        if not self._source.head_only:
            for bubble in self._bubbles(id, composer):
                conversation.add(bubble)
        session = conversation.session(id)
        return session if session.cwd or self._source.head_only else replace(session, cwd=self._folder(id))

    def _bubbles(self, id: str, composer: _Composer) -> Iterator[_Bubble | None]:
        """In the order of the conversation; what it does not name was rewound, unless it names nothing."""
        inline = composer.conversation
        if isinstance(inline, list) and inline:
            yield from (_built(entry) for entry in inline)
            return
        headers = composer.full_conversation_headers_only
        order = [_name_of(header) for header in headers] if isinstance(headers, list) else []
        kept = composer.conversation_map if isinstance(composer.conversation_map, dict) else {}
        stored = self._stored(id)
        if order:
            for name in dict.fromkeys(order):
                yield stored.get(name) or _built(kept.get(name))
        else:
            yield from sorted(stored.values(), key=lambda bubble: text_of(bubble.created_at))

    def _stored(self, id: str) -> dict[str, _Bubble]:
        prefix = f"bubbleId:{id}:"
        rows = self._database.execute(_RANGE, (prefix, f"{prefix[:-1]};"))
        found = ((_text(key)[len(prefix) :], _decoded(value, _bubble)) for key, _, value in rows)
        return {name: bubble for name, bubble in found if bubble is not None}

    def _folder(self, id: str) -> str:
        """From the list of conversations, or from the stores of the workspaces, each of which lists its own."""
        if id in self._listed_folders:
            return self._listed_folders[id]
        if self._folders is None:
            self._folders = {}
            storage = self._source.path.parent.parent / "workspaceStorage"
            for path in sorted(storage.glob("*/state.vscdb")):
                if folder := workspace_folder(path.parent):
                    self._folders.update(dict.fromkeys(_listed(path), folder))
        return self._folders.get(id, "")


def _name_of(header: object) -> str:
    return text_of(header.get("bubbleId")) if isinstance(header, dict) else ""


def _listed(path: Path) -> Iterator[str]:
    try:
        with closing(opened_database(Source(path))) as database:
            if {"key", "value"} <= columns(database, _STATE):
                yield from (text_of(entry.get("composerId")) for entry in _all_composers(database))
    except (apsw.Error, UnicodeDecodeError, OSError):
        return


def _all_composers(database: apsw.Connection) -> list[Record]:
    listed = (_item(database, _COMPOSERS) or {}).get("allComposers")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _in_workspace(source: Source, database: apsw.Connection) -> Iterator[Session]:
    """What a workspace's own store holds whole: chats, and the first conversations."""
    cwd = workspace_folder(source.path.parent)
    for entry in _all_composers(database):
        if isinstance(entry.get("conversation"), list) and entry["conversation"]:
            yield _inline(leniently(entry, _Composer), text_of(entry.get("composerId")), entry["conversation"], cwd)
    tabs = (_item(database, _CHATS) or {}).get("tabs")
    for tab in tabs if isinstance(tabs, list) else ():
        if isinstance(tab, dict) and isinstance(tab.get("bubbles"), list):
            composer = _Composer(last_updated_at=tab.get("lastSendTime"))
            session = _inline(composer, text_of(tab.get("tabId")), tab["bubbles"], cwd)
            if session.messages:
                yield session


def _inline(composer: _Composer, id: str, bubbles: Iterable[object], cwd: str) -> Session:
    conversation = _Conversation(composer)
    for bubble in bubbles:
        conversation.add(_built(bubble))
    session = conversation.session(id)
    return replace(session, cwd=session.cwd or cwd)


def _of_caller(session: Session, caller: str) -> Session:
    """A sub-agent's "user" is the agent that called it."""
    if not caller:
        return session
    said = tuple(
        replace(message, origin="agent") if message.origin == "user" else message for message in session.messages
    )
    return replace(session, external_id=caller, subagent=session.external_id, messages=said)


class _Conversation:
    def __init__(self, composer: _Composer) -> None:
        identifier = composer.workspace_identifier
        self._cwd = local_path(identifier.get("uri")) if isinstance(identifier, dict) else ""
        self._branch = text_of(composer.created_on_branch)
        self._stopped = composer.status == "aborted"
        self._messages: list[Message] = []
        self._unknown = 0
        self._period = Period()
        self._period.add(composer.created_at)
        self._period.add(composer.last_updated_at)

    def add(self, bubble: _Bubble | None) -> None:
        if bubble is None or bubble.type not in (*_USER, *_AGENT):
            self._unknown += 1
            return
        at = self._period.add(bubble.created_at)
        if bubble.type in _USER:
            self._add_user(bubble, at)
        else:
            self._add_assistant(bubble, at)

    def _add_user(self, bubble: _Bubble, at: int | None) -> None:
        if not self._cwd:
            addresses = bubble.workspace_uris if isinstance(bubble.workspace_uris, list) else []
            self._cwd = next(filter(None, map(local_path, addresses)), "") or text_of(bubble.workspace_project_dir)
        if typed := text_of(bubble.text) or text_of(bubble.raw_text):
            self._messages.append(user_message(typed, at))
        if attached := "\n".join(_attached(bubble)):
            self._messages.append(Message(role="user", origin="injected", at=at, text=attached))

    def _add_assistant(self, bubble: _Bubble, at: int | None) -> None:
        text = text_of(bubble.text) or text_of(bubble.raw_text)
        tool = bubble.tool_former_data
        call = _call(tool, f"{len(self._messages)}") if isinstance(tool, dict) else None
        if text.strip() or call is not None:
            origin: Origin = "injected" if bubble.capability_type == _SUMMARY else "agent"
            calls = (call,) if call is not None else ()
            self._messages.append(Message(role="assistant", origin=origin, at=at, text=text, calls=calls))
        if call is not None and (result := _result(call, tool)) is not None:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))

    def session(self, id: str) -> Session:
        if self._stopped and self._messages and self._messages[-1].role != "user":
            self._messages.append(Message(role="user", origin="injected", at=self._period.last, text=INTERRUPTED))
        return Session(
            external_id=id,
            agent=AGENT,
            format=NAME,
            cwd=self._cwd,
            branch=self._branch,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _attached(bubble: _Bubble) -> Iterator[str]:
    """The words of what was attached: pieces of files, selections, terminals."""
    chunks = bubble.attached_code_chunks if isinstance(bubble.attached_code_chunks, list) else []
    for chunk in chunks:
        lines = chunk.get("lines") if isinstance(chunk, dict) else None
        yield from (text_of(line) for line in lines) if isinstance(lines, list) else ()
    context = bubble.context if isinstance(bubble.context, dict) else {}
    for selected in (bubble.selections, *(context.get(key) for key in ("selections", "terminalSelections", "quotes"))):
        for one in selected if isinstance(selected, list) else ():
            if isinstance(one, dict):
                yield text_of(one.get("text")) or text_of(one.get("rawText"))


def _call(tool: Record, fallback_id: str) -> ToolCall | None:
    """None for the empty form of a call, which users' bubbles carry."""
    name = text_of(tool.get("name")) or _named(tool.get("tool"))
    id = text_of(tool.get("toolCallId"))
    if not name and not id:
        return None
    arguments = {**(json_object(tool.get("params")) or {}), **(json_object(tool.get("rawArgs")) or {})}
    return tool_call(id or fallback_id, name, arguments)


def _named(number: object) -> str:
    return _TOOLS.get(number, "") if isinstance(number, int) else text_of(number)


def _result(call: ToolCall, tool: Record) -> ToolResult | None:
    """None while a call is still running, or for ever if it never ended."""
    status = tool.get("status")
    if status not in ("completed", "success", "error", "cancelled", "rejected"):
        return None
    result = json_object(tool.get("result")) or {}
    code = _exit_code(result)
    outcome: Outcome = "error"
    evidence: Evidence = "flag"
    if result.get("rejected") is True or tool.get("userDecision") == "rejected" or status == "rejected":
        evidence = "rejected"
    elif status == "cancelled" or text_of(result.get("endedReason")).endswith("ABORTED"):
        evidence = "interrupted"
    elif status == "error":
        pass
    elif call.name in _SHELLS:
        outcome, evidence = _of_shell(code, text_of(result.get("endedReason")))
    elif not (result.get("error") or _inner_status(tool) == "error"):
        outcome = "ok"
    return ToolResult(
        call_id=call.id,
        outcome=outcome,
        evidence=evidence,
        text=_error(tool, result) if outcome == "error" and evidence == "flag" else _output(tool, result),
        exit_code=code,
        origin=result_origin(call),
    )


def _of_shell(code: int | None, ended: str) -> tuple[Outcome, Evidence]:
    if code is not None:
        return ("error" if code else "ok"), "exit-code"
    # A code of zero is left out where the fields are written without defaults.
    return ("ok", "no-flag") if ended.endswith("EXECUTION_COMPLETED") else ("unknown", "none")


def _exit_code(result: Record) -> int | None:
    for key in ("exitCodeV2", "exitCode"):
        code = result.get(key)
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def _inner_status(tool: Record) -> object:
    more = tool.get("additionalData")
    return more.get("status") if isinstance(more, dict) else None


def _output(tool: Record, result: Record) -> str:
    for key in _OUTPUT_KEYS:
        if isinstance(result.get(key), str):
            return str(result[key])
    raw = tool.get("result")
    return raw if isinstance(raw, str) else msgspec.json.encode(raw).decode() if raw else ""


def _error(tool: Record, result: Record) -> str:
    """What the model was told of it."""
    told = json_object(tool.get("error")) or {}
    inner: object = result.get("error")
    while isinstance(inner, dict):
        inner = inner.get("message") or inner.get("error")
    said = (told.get("modelVisibleErrorMessage"), told.get("clientVisibleErrorMessage"), tool.get("error"), inner)
    return next(filter(None, map(text_of, said)), "") or _output(tool, result)
