"""The trust gate: where a claim came from decides what it may become."""

from __future__ import annotations

from oldhand.model.lesson import Draft, Status, Trust


def admit(draft: Draft) -> tuple[Status, Trust]:
    """Measured failures and a user's own words may be active at once; all else waits for a person."""
    if draft.untrusted:
        return "candidate", "untrusted"
    if draft.source.origin == "user":
        return "active", "human"
    if draft.failure:
        return "active", "measured"
    return "candidate", "claimed" if draft.source.origin == "agent" else "untrusted"
