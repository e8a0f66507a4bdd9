"""Transcripts as people read them: out of the agent's own file, if it is still there, scrubbed, for the owner alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from hardwon.api import Hardwon
from hardwon.api.from_git import session_file
from hardwon.errors import HardwonError
from hardwon.model.nouns import Source
from hardwon.model.session import Message, Session
from hardwon.serve.pages import frame
from hardwon.serve.permissions import Caller
from hardwon.sessions.reader import read
from hardwon.sessions.tool_calls import changes, with_changes
from hardwon.store import meta
from hardwon.store.sessions import session_id

_MAX_BYTES = 32 * 1024 * 1024
_MAX_CHARACTERS = 12_000
_SEEN_CHARACTERS, _SEEN_LINES = 1_500, 24
"""Of a long message, before it is unfolded."""
_MAX_FILES, _MAX_LINES_CHANGED, _MAX_CHARACTERS_CHANGED, _MAX_CHARACTERS_OF_A_LINE = 50, 400, 80_000, 1_000
"""Files of a session; lines and characters of what it changed in one."""
_SIGNS = ("+", "-", " ")
_MAX_CHARACTERS_SEARCHED = 200_000
"""Of one message."""
_BESIDE = 80
_AROUND = 240
"""Characters of a message on either side of a quote."""


class Quoted(NamedTuple):
    """A quote and what stood around it."""

    before: str
    quote: str
    after: str
    role: str
    previous: str
    """The end of the message before it."""


class ShownCall(NamedTuple):
    tool: str
    what: str


class ShownResult(NamedTuple):
    outcome: str
    text: str
    lines: int


class ShownMessage(NamedTuple):
    number: int
    role: str
    origin: str
    text: str
    more: str
    """What is folded away."""
    calls: list[ShownCall]
    results: list[ShownResult]


def may_read(caller: Caller) -> bool:
    """Files of the service's machine are shown to nobody but its owner."""
    return "admin" in caller.scopes and not caller.limited


def session_of(caller: Caller, id: str, path: str) -> Session | None:
    """A session as its file has it; None where that is gone, or another one by now."""
    if not path or not may_read(caller):
        return None
    try:
        with session_file(path) as file:
            status = file.stat()
            if not file.is_file() or status.st_size > _MAX_BYTES:
                return None
            found = _read(str(file), status.st_mtime_ns, status.st_size)
    except (OSError, HardwonError):
        return None
    return next((one for one in found if session_id(one) == id), None)


@lru_cache(maxsize=2)
def _read(path: str, modified: int, size: int) -> Sequence[Session]:  # noqa: ARG001 - a changed file is read anew
    with with_changes():
        return read(Path(path)).sessions


def around(memory: Hardwon, caller: Caller, source: Source) -> Quoted | None:
    """What stood around a quote."""
    session = session_of(caller, source.source, source.path) if source.quote else None
    if session is None or not 0 <= source.message_index < len(session.messages):
        return None
    message = session.messages[source.message_index]
    kept = _kept(memory)
    text = kept(_words(message))
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
        previous=kept(_words(earlier))[-_AROUND:] if earlier else "",
    )


def messages(memory: Hardwon, session: Session, first: int, number: int) -> list[ShownMessage]:
    kept = _kept(memory)

    def cut(text: str) -> str:
        """Scrubbed with some of what follows, so that no secret is cut in two and missed."""
        clean = kept(text[: 2 * _MAX_CHARACTERS])
        return clean if len(text) <= _MAX_CHARACTERS else f"{clean[:_MAX_CHARACTERS]} …"

    return [
        ShownMessage(
            first + at,
            one.role,
            "unsure" if one.unsure else one.origin,
            *_folded(cut("\n".join((one.text, *(part.text for part in one.beside))).strip()), one.role),
            [ShownCall(call.name, cut(call.command or call.target)) for call in one.calls],
            [ShownResult(result.outcome, cut(result.text), result.text.count("\n") + 1) for result in one.results],
        )
        for at, one in enumerate(session.messages[first : first + number])
    ]


def _folded(text: str, role: str) -> tuple[str, str]:
    """(what is seen, what is folded away): whole lines, of what was set up for the agent the first."""
    lines = text.split("\n")
    seen, characters = 0, 0
    for line in lines[: 1 if role == "system" else _SEEN_LINES]:
        characters += len(line)
        if seen and characters > _SEEN_CHARACTERS:
            break
        seen += 1
    return "\n".join(lines[:seen]), "\n".join(lines[seen:]).strip("\n")


class Changed(NamedTuple):
    """What a session did to a file."""

    path: str
    messages: list[int]
    added: int
    gone: int
    lines: list[tuple[str, str]]
    left_out: int
    """Lines that are not shown."""


def changed(memory: Hardwon, session: Session) -> list[Changed]:
    """File by file, without the edits that failed."""
    failed = {result.call_id for result in session.results() if result.outcome == "error"}
    by_file: dict[str, list[tuple[int, str]]] = {}
    for number, message in enumerate(session.messages):
        for call in message.calls:
            if call.action == "edit" and call.id not in failed:
                for path, change in changes(call):
                    by_file.setdefault(path, []).append((number, change))
    kept = _kept(memory)
    return [
        _changed(kept, path.removeprefix(f"{session.cwd}/"), edits) for path, edits in [*by_file.items()][:_MAX_FILES]
    ]


def _changed(kept: Callable[[str], str], path: str, edits: list[tuple[int, str]]) -> Changed:
    whole = "\n".join(change for _, change in edits if change)
    lines = frame.diff("\n".join(_clean(kept, whole[:_MAX_CHARACTERS_CHANGED])))
    added, gone = (sum(each == kind for each, _ in lines) for kind in ("added", "gone"))
    left_out = whole[_MAX_CHARACTERS_CHANGED:].count("\n") + max(0, len(lines) - _MAX_LINES_CHANGED)
    shown = [(kind, line[:_MAX_CHARACTERS_OF_A_LINE]) for kind, line in lines[:_MAX_LINES_CHANGED]]
    return Changed(kept(path), [*dict.fromkeys(at for at, _ in edits)], added, gone, shown, left_out)


def _clean(kept: Callable[[str], str], diff: str) -> Iterator[str]:
    """A diff as the store would keep it: its signs would hide a secret of several lines."""
    for sign, lines in groupby(diff.splitlines(), key=lambda line: line[:1] if line[:1] in _SIGNS else ""):
        body = kept("\n".join(line.removeprefix(sign) for line in lines))
        yield from (f"{sign}{line}" for line in body.split("\n"))


class Found(NamedTuple):
    """Where a session speaks of something."""

    number: int
    role: str
    before: str
    match: str
    after: str


def search(memory: Hardwon, session: Session, words: str, most: int) -> list[Found]:
    """The messages that have these words, each with the first place; what is scrubbed is not found."""
    kept, wanted = _kept(memory), words.casefold()
    found: list[Found] = []
    for number, message in enumerate(session.messages):
        said = _words(message)[:_MAX_CHARACTERS_SEARCHED]
        if wanted not in said.casefold():
            continue
        text = kept(said)
        at = text.lower().find(words.lower())
        if at >= 0:
            end = at + len(words)
            before, after = text[max(0, at - _BESIDE) : at], text[end : end + _BESIDE]
            found.append(Found(number, message.role, before, text[at:end], after))
        if len(found) == most:
            break
    return found


def _kept(memory: Hardwon) -> Callable[[str], str]:
    """A text as the store would keep it: without secrets and what was forgotten."""
    scrubber, forgotten = memory.scrubber(), meta.load_tombstones(memory.reading())
    return lambda text: forgotten.masked(scrubber.scrub(text))


def _words(message: Message) -> str:
    """All that a message says, calls and results included."""
    parts = [message.text, *(part.text for part in message.beside)]
    parts += [f"$ {call.command}" if call.command else f"{call.name} {call.target}" for call in message.calls]
    parts += [result.text for result in message.results]
    return "\n".join(part for part in parts if part.strip())
