"""Zed's agent: a database of threads, each a document, compressed or not.

Shapes from Zed's published source: threads 0.3.0 (messages of users and agents) and 0.2.0 (roles and segments).
"""

from __future__ import annotations

import re
from contextlib import closing

import apsw
from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Damage, Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import json_object, text_of, unpacked
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source, columns, opened_database
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "zed"
AGENT = "zed"
READS = "threads.db: messages, sub-agents, tool calls and results"
VERSIONS = "threads 0.2.0 and 0.3.0, read from the published source, *unverified*"

_COLUMNS = {"id", "updated_at", "data_type", "data"}
_LATER = ("parent_id", "folder_paths", "created_at")
_MAX_THREAD_BYTES = 256 * 1024 * 1024
_EXITED = re.compile(r'Command ".{0,2000}?" failed with exit code (-?\d{1,9})\.\s*', re.DOTALL)
_CUT_SHORT = ("Command terminated unexpectedly", 'Command "')
_REFUSED = re.compile(r"Permission to run tool (?:action )?denied by user")
_STOPPED = re.compile(r"Tool cancell?ed by user")


def recognises(source: Source) -> bool:
    if not source.is_database:
        return False
    try:
        with closing(opened_database(source)) as database:
            return columns(database, "threads") >= _COLUMNS
    except (apsw.Error, UnicodeDecodeError):
        return False


def read(source: Source) -> list[Session]:
    sessions: list[Session] = []
    try:
        with closing(opened_database(source)) as database:
            known = columns(database, "threads")
            later = ", ".join(name if name in known else "NULL" for name in _LATER)
            query = (
                f"SELECT id, updated_at, data_type, CAST(data AS BLOB), {later} FROM threads ORDER BY updated_at, id"
            )
            for id, updated, kind, data, caller, folders, created in database.execute(query):
                thread = json_object(unpacked(data, _MAX_THREAD_BYTES) if kind == "zstd" else data)
                if thread is None:
                    source.damaged.append(Damage(0, f"the thread {text_of(id)[:80]!r} cannot be read"))
                    continue
                conversation = _Conversation(thread, text_of(caller), updated, created)
                session = conversation.session(text_of(id))
                sessions.append(replace(session, cwd=text_of(folders).partition("\n")[0] or session.cwd))
                if source.head_only:
                    break
    except (apsw.Error, UnicodeDecodeError) as error:
        source.damaged.append(Damage(0, f"the database could not be read to its end: {error}"))
    return sessions


class _Conversation:
    def __init__(self, thread: Record, caller: str, updated: object, created: object) -> None:
        self._caller = caller
        self._place = _place(thread)
        self._messages: list[Message] = []
        self._unknown = 0
        self._period = Period()
        self._period.add(created)
        self._period.add(updated)
        messages = thread.get("messages")
        for message in messages if isinstance(messages, list) else ():
            self._add(message)

    def _add(self, message: object) -> None:
        if message == "Resume":
            return
        body: Record = message if isinstance(message, dict) else {}
        said, answered = body.get("User"), body.get("Agent")
        if isinstance(said, dict):
            self._add_user(_listed(said.get("content")))
        elif isinstance(answered, dict):
            results = answered.get("tool_results")
            self._add_agent(
                _listed(answered.get("content")), list(results.values()) if isinstance(results, dict) else []
            )
        elif body.get("role") in ("user", "assistant"):
            self._add_older(body)
        elif body.get("role") != "system":
            self._unknown += 1

    def _add_older(self, body: Record) -> None:
        texts = [{"Text": part.get("text")} for part in _listed(body.get("segments")) if part.get("type") == "text"]
        if body["role"] == "user":
            self._add_user([*texts, {"Mention": {"content": body.get("context")}}])
        else:
            uses = [{"ToolUse": use} for use in _listed(body.get("tool_uses"))]
            self._add_agent([*texts, *uses], body.get("tool_results"))

    def _add_user(self, content: list[Record]) -> None:
        """What is mentioned stands beside what is typed."""
        typed = "".join(text_of(part.get("Text")) for part in content)
        if typed.strip():
            self._messages.append(user_message(typed, by="agent" if self._caller else "user"))
        mentions = (part.get("Mention") for part in content)
        attached = "\n".join(text_of(one.get("content")) for one in mentions if isinstance(one, dict)).strip()
        if attached:
            self._messages.append(Message(role="user", origin="injected", text=attached))

    def _add_agent(self, content: list[Record], answers: object) -> None:
        text = "\n".join(filter(None, (text_of(part.get("Text")) for part in content)))
        uses = [use for part in content if isinstance(use := part.get("ToolUse"), dict)]
        calls = {
            call.id: call
            for use in uses
            for call in (tool_call(text_of(use.get("id")), text_of(use.get("name")), use.get("input")),)
        }
        if text or calls:
            said = Message(role="assistant", origin="agent", text=text, calls=tuple(calls.values()))
            self._messages.append(said)
        if results := tuple(_result(calls.get(text_of(one.get("tool_use_id"))), one) for one in _listed(answers)):
            self._messages.append(Message(role="tool", origin="tool", results=results))

    def session(self, id: str) -> Session:
        git = self._place.get("git_state")
        state: Record = git if isinstance(git, dict) else {}
        return Session(
            external_id=self._caller or id,
            agent=AGENT,
            format=NAME,
            subagent=id if self._caller else "",
            cwd=text_of(self._place.get("worktree_path")),
            remote=text_of(state.get("remote_url")),
            branch=text_of(state.get("current_branch")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _listed(value: object) -> list[Record]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _place(thread: Record) -> Record:
    """The first folder of the project as it was when the thread began."""
    snapshot = thread.get("initial_project_snapshot")
    trees = _listed(snapshot.get("worktree_snapshots")) if isinstance(snapshot, dict) else []
    return trees[0] if trees else {}


def _result(call: ToolCall | None, answer: Record) -> ToolResult:
    text = _text(answer.get("content"))
    code = None
    outcome: Outcome = "ok"
    evidence: Evidence = "no-flag"
    if _REFUSED.match(text):
        outcome, evidence = "error", "rejected"
    elif _STOPPED.match(text):
        outcome, evidence = "error", "interrupted"
    elif call is not None and call.action == "run" and (exited := _EXITED.match(text)):
        code, text = int(exited.group(1)), text[exited.end() :]
        outcome, evidence = "error", "exit-code"
    elif answer.get("is_error") is True:
        outcome, evidence = "error", "flag"
    elif call is not None and call.action == "run" and text.startswith(_CUT_SHORT):
        outcome, evidence = "unknown", "none"
    return ToolResult(
        call_id=text_of(answer.get("tool_use_id")),
        outcome=outcome,
        evidence=evidence,
        text=text,
        exit_code=code,
        origin=result_origin(call),
    )


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("Text") or part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(filter(None, map(text_of, texts)))
