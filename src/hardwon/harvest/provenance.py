"""Whose words they are: a sentence or command that repeats what a tool, a page or a file said is theirs.

An agent reads a page and says the same in its own message, or runs what the page proposed: that is no second
source. The check looks back only, at what stood in the session before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from hardwon import former
from hardwon.failures.shell import commands
from hardwon.failures.turns import Turn
from hardwon.harvest.rules.routine import routines
from hardwon.model.lesson import Draft
from hardwon.model.session import Message, Origin, Session
from hardwon.text import fence
from hardwon.text.words import terms

_OWN_NAMES = ("hardwon", former.NAME)
_LONGEST_HEARD = 64 * 1024
_RUN = 4
"""Words in a row that are not the same by chance."""
_MOST_SHARED = 0.5
_MOST_TERMS = 0.8
_WORD = re.compile(r"\w+")
_NAMED = re.compile(
    r"`([^`\s][^`]*)`|(https?://\S+)|((?<![\w-])--[a-z][\w-]+)|(\b[\w.-]+@[\w.-]+\b)|((?:[\w.-]+/)+[\w.-]+)"
)


_KEEP_REFUSALS_APART = frozenset(("openhands", "copilot-cli", "aider"))


class _Heard(NamedTuple):
    message: int
    origin: Origin
    text: str


def with_origins(session: Session, drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts from words, each with the origin of the words; drafts from what was measured as they are."""
    found = list(drafts)
    if not any(_from_words(draft) for draft in found):
        return found
    heard = list(_heard(session))
    typed = [(index, message.text) for index, message in enumerate(session.messages) if message.origin == "user"]
    chosen = {index for index, message in enumerate(session.messages) if _holds_answers(message)}
    doubtful = _may_be_forged(session)
    return [
        _forged(draft)
        if draft.source.message_index in doubtful and draft.source.origin == "user" and not draft.dropped
        else _with_origin(draft, heard, typed, chosen)
        if _from_words(draft)
        else draft
        for draft in found
    ]


def _may_be_forged(session: Session) -> set[int]:
    """Messages in which a refusal, with the user's words, may be the output of what was called.

    A format that keeps refusals apart, a header before every output of a failed command, and tools whose errors are
    fixed words leave no room for that.
    """
    if session.format in _KEEP_REFUSALS_APART:
        return set()
    results = [result for message in session.messages for result in message.results]
    tells_exit_codes = any(result.exit_code for result in results)
    anything = ("other", "web") if tells_exit_codes else ("other", "web", "run")
    open_ended = {call.id for message in session.messages for call in message.calls if call.action in anything}
    return {
        index
        for index, message in enumerate(session.messages)
        if any(result.evidence == "rejected" and result.call_id in open_ended for result in message.results)
    }


def _forged(draft: Draft) -> Draft:
    reason = draft.untrusted or "may be what a tool said, and not the user"
    return replace(draft, untrusted=reason, source=replace(draft.source, origin="tool"))


def _holds_answers(message: Message) -> bool:
    """Whether what the user says in it was put to them by the agent: an option is the agent's words."""
    return message.origin != "user" and any(result.evidence != "rejected" for result in message.results)


def _from_words(draft: Draft) -> bool:
    return not draft.measured and not draft.dropped and draft.source.origin in ("user", "agent")


def _heard(session: Session) -> Iterator[_Heard]:
    """Everything that neither the user nor the agent said."""
    own = {call.id for message in session.messages for call in message.calls if _is_own(call.command)}
    for index, message in enumerate(session.messages):
        if message.text and message.origin not in ("user", "agent"):
            yield _Heard(index, message.origin, message.text[:_LONGEST_HEARD])
        for result in message.results:
            is_own = result.call_id in own or fence.is_in(result.text)
            if result.text and result.evidence != "rejected":
                origin: Origin = "injected" if is_own else result.origin
                yield _Heard(index, origin, result.text[:_LONGEST_HEARD])


def _is_own(command: str) -> bool:
    return any(name in command for name in _OWN_NAMES) and any(
        one.program.startswith(_OWN_NAMES) for one in commands(command)
    )


def _with_origin(
    draft: Draft, heard: Sequence[_Heard], typed: Sequence[tuple[int, str]], chosen: Collection[int]
) -> Draft:
    quote, index = draft.source.quote, draft.source.message_index
    before = [one for one in heard if one.message < index]
    if draft.source.origin == "user" and index not in chosen:
        source = next((one for one in before if _repeats(quote, one.text)), None)
    else:
        said = "\n".join(text for at, text in typed if at < index)
        parts = quote.split('"="') if index in chosen else [quote]  # a question, and what was answered
        source = next(
            (one for one in before for part in parts if _repeats(part, one.text) or _draws_on(part, one.text, said)),
            None,
        )
    if source is None:
        return draft
    if source.origin == "injected":
        return replace(
            draft, dropped="our own words" if any(tag in source.text for tag in fence.TAGS) else "restates the prompt"
        )
    origin: Origin = source.origin if source.origin in ("tool", "web", "file") else "tool"
    reason = draft.untrusted or f"repeats what {_WHO[origin]} said"
    return replace(draft, untrusted=reason, source=replace(draft.source, origin=origin))


_WHO: dict[Origin, str] = {"tool": "a tool", "web": "a page", "file": "a file"}


def _repeats(quote: str, text: str) -> bool:
    """Whether half of the quote's runs of words stand in the text."""
    words = _WORD.findall(quote.casefold())
    runs = [" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))]
    if not words:
        return False
    flat = f" {' '.join(_WORD.findall(text.casefold()))} "
    shared = sum(f" {run} " in flat for run in runs)
    return shared >= max(1, _MOST_SHARED * len(runs))


def _draws_on(quote: str, text: str, typed: str) -> bool:
    """Whether what the sentence names, or most of its words, come out of the text and not from the user."""
    named = {next(filter(None, found)) for found in _NAMED.findall(quote)}
    if any(name in text and name not in typed for name in named):
        return True
    wanted = set(terms(quote))
    return bool(wanted) and len(wanted & set(terms(text))) >= _MOST_TERMS * len(wanted)


def suggested_calls(calls: Sequence[Turn]) -> set[int]:
    """Positions of the routine commands whose words stood in the output of an earlier call."""
    asked: dict[str, list[int]] = {}
    for turn in calls:
        if turn.call.action == "run" and turn.succeeded and (found_here := routines(turn.call.command)):
            written = {routine.text for routine in found_here} | {one.text for one in commands(turn.call.command)}
            for text in written:
                asked.setdefault(text, []).append(turn.position)
    found: set[int] = set()
    for text, positions in asked.items():
        first = next((turn.position for turn in calls if text in turn.output and _proposes(turn, text)), None)
        if first is not None:
            found.update(position for position in positions if position > first)
    return found


def _proposes(turn: Turn, text: str) -> bool:
    """A script runner repeats the command that it was given; that is no proposal."""
    return text not in turn.call.command
