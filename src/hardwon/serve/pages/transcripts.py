"""Transcripts as people read them: out of the agent's own file, if it is still there, and scrubbed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hardwon.api import Hardwon
from hardwon.errors import HardwonError
from hardwon.model.nouns import Source
from hardwon.model.session import Message, Session
from hardwon.serve.permissions import Caller
from hardwon.sessions.reader import read
from hardwon.store.sessions import session_id

_MAX_BYTES = 32 * 1024 * 1024
_MAX_CHARACTERS = 4_000
_AROUND = 600
"""Characters of a message on either side of a quote."""


class Quoted(NamedTuple):
    """A quote and what stood around it."""

    before: str
    quote: str
    after: str
    role: str
    previous: str
    """The end of the message before it."""


def session_of(id: str, path: str) -> Session | None:
    """A session as its file has it; None where that is gone, or another one by now."""
    file = Path(path).expanduser()
    try:
        status = file.stat()
        if not path or not file.is_file() or status.st_size > _MAX_BYTES:
            return None
        found = _read(str(file), status.st_mtime_ns, status.st_size)
    except (OSError, HardwonError):
        return None
    return next((one for one in found if session_id(one) == id), None)


@lru_cache(maxsize=4)
def _read(path: str, modified: int, size: int) -> Sequence[Session]:  # noqa: ARG001 - a changed file is read anew
    return read(Path(path)).sessions


def around(memory: Hardwon, caller: Caller, source: Source) -> Quoted | None:
    """What stood around a quote. Files are shown to nobody who may see only some projects."""
    if caller.limited or source.origin == "foreign" or not source.quote:
        return None
    session = session_of(source.source, source.path)
    if session is None or not 0 <= source.message_index < len(session.messages):
        return None
    message = session.messages[source.message_index]
    scrub = memory.scrubber().scrub
    text = scrub(words_of(message))
    at = text.find(source.quote)
    if at < 0:
        return None
    end = at + len(source.quote)
    earlier = session.messages[source.message_index - 1] if source.message_index else None
    return Quoted(
        before=("…" if at > _AROUND else "") + text[max(0, at - _AROUND) : at],
        quote=text[at:end],
        after=text[end : end + _AROUND] + ("…" if len(text) > end + _AROUND else ""),
        role=message.role,
        previous=scrub(words_of(earlier))[-_AROUND:] if earlier else "",
    )


def words_of(message: Message) -> str:
    """All that a message says, calls and results included."""
    parts = [message.text, *(part.text for part in message.beside)]
    parts += [f"$ {call.command}" if call.command else f"{call.name} {call.target}" for call in message.calls]
    parts += [result.text for result in message.results]
    return "\n".join(part for part in parts if part.strip())
