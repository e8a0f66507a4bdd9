"""A session's calls in order, each with what came of it."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.model.session import Session, ToolCall, ToolResult


class Turn(NamedTuple):
    """One call and what came of it, in order."""

    position: int
    message_index: int
    at: int | None
    call: ToolCall
    result: ToolResult | None

    @property
    def failed(self) -> bool:
        return self.result is not None and self.result.outcome == "error"

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.outcome == "ok"

    @property
    def stopped(self) -> bool:
        """The user refused or interrupted it."""
        return self.result is not None and self.result.evidence in ("rejected", "interrupted")

    @property
    def output(self) -> str:
        return self.result.text if self.result else ""


def turns(session: Session) -> list[Turn]:
    results = {result.call_id: result for result in session.results()}
    paired = ((at, message.at, call) for at, message in enumerate(session.messages) for call in message.calls)
    return [
        Turn(position, message_index, at, call, results.get(call.id))
        for position, (message_index, at, call) in enumerate(paired)
    ]
