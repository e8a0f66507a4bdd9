"""Session, Message, ToolCall, ToolResult: what every agent's transcript becomes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

from hardwon.clock import moment

Origin = Literal["user", "agent", "tool", "web", "file", "unsure", "injected", "reviewer", "import", "foreign"]
"""Who said a piece of text. `injected` is text put in by the client or by Hardwon itself, `foreign` stands in somebody
else's session; `unsure` are words in the user's name of a lesson that a tool may have forged."""

Role = Literal["user", "assistant", "tool", "system"]
Outcome = Literal["ok", "error", "unknown"]
SessionOutcome = Literal["failure", "completed", "unknown"]

Evidence = Literal[
    "flag",  # the format says so
    "no-flag",  # the format flags errors, and this is not flagged
    "exit-code",
    "text",  # a fixed wording of the agent or tool
    "test-report",  # the line that a test runner or a build closes with
    "piped",  # what it printed shows a failure, and its exit code is that of `| tail`
    "clean-output",  # it came back with what it was asked for, and no word of trouble
    "rejected",  # the user refused the call
    "interrupted",  # the user stopped it
    "none",
]


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call of a tool, with its command or target already pulled out of the arguments."""

    id: str
    name: str
    action: Literal["run", "edit", "read", "web", "other"] = "other"
    command: str = ""
    """The shell command, when `action` is `run`."""
    target: str = ""
    """The file, folder or address the call is about."""
    detail: str = ""
    """For an edit: the head of what it wrote, so that a fix can be told in a line."""
    others: tuple[str, ...] = ()
    """For an edit of several files: all but the first, which is the target."""
    gone: tuple[str, ...] = ()
    """For an edit: those of its files that it deleted or moved away."""
    change: str = ""
    """For an edit: the lines that went and came, where they were asked for (`tool_calls`)."""
    folder: str = ""
    """Where a command ran, while a file is read; then `command` begins with it, if the session was elsewhere."""

    @property
    def files(self) -> tuple[str, ...]:
        """Of an edit all that it changed."""
        return (self.target, *self.others) if self.target else ()


class ToolResult(Struct, frozen=True, kw_only=True):
    """What came back for a call. `text` is the output alone, without the agent's envelope."""

    call_id: str
    outcome: Outcome
    evidence: Evidence
    text: str = ""
    exit_code: int | None = None
    origin: Origin = "tool"


class Part(Struct, frozen=True):
    """A piece of a message that another said than the rest of it."""

    origin: Origin
    text: str


class Message(Struct, frozen=True, kw_only=True):
    """One message of the conversation, joined from however many records it was written as."""

    role: Role
    origin: Origin
    text: str = ""
    """Of a user's message what was typed, if anything of it was."""
    beside: tuple[Part, ...] = ()
    """What stood in it besides: put there by the client, or pasted."""
    at: int | None = None
    """Microseconds since 1970, UTC."""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    unsure: bool = False
    """It stands in the user's place, but a tool may have printed it there: that it was typed is not shown."""

    @property
    def time(self) -> datetime | None:
        """When it was said, where the transcript tells."""
        return None if self.at is None else moment(self.at)

    @property
    def is_sent(self) -> bool:
        """Whether a person sent it, typed or pasted."""
        return self.role == "user" and self.origin in ("user", "file")


class Session(Struct, frozen=True, kw_only=True):
    """One agent's transcript, whatever its format."""

    external_id: str
    agent: str
    format: str
    version: str = ""
    subagent: str = ""
    """The sub-agent's id; empty for a root session."""
    cwd: str = ""
    remote: str = ""
    """The git remote, where the transcript names it."""
    branch: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    messages: tuple[Message, ...] = ()
    unknown_records: int = 0

    @property
    def start_time(self) -> datetime | None:
        """When its first record was written."""
        return None if self.started_at is None else moment(self.started_at)

    @property
    def end_time(self) -> datetime | None:
        """When its last record was written."""
        return None if self.ended_at is None else moment(self.ended_at)

    @property
    def tool_calls(self) -> int:
        return sum(len(message.calls) for message in self.messages)

    @property
    def user_messages(self) -> int:
        return sum(message.is_sent for message in self.messages)

    @property
    def unsure_messages(self) -> int:
        return sum(message.unsure for message in self.messages)

    def results(self) -> list[ToolResult]:
        return [result for message in self.messages for result in message.results]

    @property
    def unpaired_calls(self) -> int:
        answered = {result.call_id for result in self.results()}
        return sum(call.id not in answered for message in self.messages for call in message.calls)


class Damage(Struct, frozen=True):
    """A stretch of a file that could not be read, and why."""

    offset: int
    reason: str


class Loss(Struct, frozen=True):
    """Something of which a file seems to hold more than was read of it."""

    what: str
    """`user messages`, `tool calls` and the like."""
    seen: int
    read: int


class Transcript(Struct, frozen=True, kw_only=True):
    """Everything one file holds: usually one session, sometimes several."""

    path: str
    format: str
    sessions: tuple[Session, ...]
    damaged: tuple[Damage, ...] = field(default=())
    suspected_loss: tuple[Loss, ...] = field(default=())
    """Told by `inspect`, which counts what the file seems to hold by other means than its reader's."""


Record = dict[str, Any]
"""One decoded line of a transcript: hostile, so of no known shape."""


class Summary(Struct, frozen=True, array_like=True):
    """A session's counts, exact, without its content."""

    external_id: str
    agent: str
    format: str
    subagent: str = ""
    project: str = ""
    """Its key: the git remote, else the folder; empty when nothing is known."""
    started_at: int | None = None
    ended_at: int | None = None
    messages: int = 0
    tool_calls: int = 0
    errors: int = 0
    outcome: SessionOutcome = "unknown"
    """How the last judged call ended; a session that the user stopped failed."""
