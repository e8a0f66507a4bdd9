"""Take text and objects out of records of no known shape."""

from __future__ import annotations

import msgspec

from hardwon.model.session import Record


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def joined(content: object) -> str:
    """Message content: a string, or a list of parts with text."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return text(content)


def json_object(value: object) -> Record | None:
    """The object that a JSON string holds, or the object itself."""
    if isinstance(value, str | bytes):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None
    return value if isinstance(value, dict) else None
