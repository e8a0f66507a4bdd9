"""Attempts from JSON lines, with the field names of an Attempt."""

from __future__ import annotations

import msgspec

from hardwon.errors import NotAllowed
from hardwon.model.attempt import Attempt

_GIVEN_BY_US = ("id", "key", "source", "embedding")


def read(text: str) -> list[Attempt]:
    """Every line an attempt; one that is none is an error, so that a file is taken whole or not at all."""
    return [_attempt(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _attempt(line: str, number: int) -> Attempt:
    try:
        fields = msgspec.json.decode(line, type=dict[str, object])
        unknown = sorted(set(fields) - set(Attempt.__struct_fields__))
        if unknown:
            raise NotAllowed(f"line {number}: unknown field {', '.join(unknown)}")
        wanted = {name: value for name, value in fields.items() if name not in _GIVEN_BY_US and value is not None}
        return msgspec.convert(wanted, Attempt, strict=False)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NotAllowed(f"line {number} is not an attempt: {error}") from error
