"""What came of an attempt."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    ROLLBACK = "rollback"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


FAILED = (Outcome.FAILURE, Outcome.ROLLBACK)
