"""Whose words a draft is made of, what it may become, and what is not worth keeping."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from hardwon.failures.tools import danger
from hardwon.harvest.heard import Heard
from hardwon.harvest.rules.sentences import LONGEST_SENTENCE, is_of_a_length, specific
from hardwon.model.lesson import Draft, Kind, Status, Trust
from hardwon.model.session import Message, Origin, Session
from hardwon.store.statements import Said

# Whose words they are: a sentence or command that repeats what a tool, a page or a file said is theirs.
# An agent reads a page and says the same in its own message, or runs what the page proposed: that is no second
# source. The check looks back only, at what stood in the session before.

_KEEP_REFUSALS_APART = frozenset(("openhands", "copilot-cli", "aider"))


def with_origins(session: Session, drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts from words, each with the origin of the words; drafts from what was measured as they are."""
    found = list(drafts)
    if not any(_from_words(draft) for draft in found):
        return found
    chosen = {index for index, message in enumerate(session.messages) if _holds_answers(message)}
    said = [draft for draft in found if _from_words(draft)]
    claims = {part for draft in said if _is_claim(draft, chosen) for part in _quoted(draft, chosen)}
    heard = Heard(session, claims.union(draft.source.quote for draft in said), claims)
    doubtful = _may_be_forged(session)
    return [
        _forged(draft)
        if draft.source.message_index in doubtful and draft.source.origin == "user" and not draft.dropped
        else _with_origin(draft, heard, chosen)
        if _from_words(draft)
        else draft
        for draft in found
    ]


def typed(session: Session, said: Sequence[Said]) -> list[Said]:
    """Those of a person's sentences that repeat nothing which stood in the session before: a paste is not said."""
    if not said:
        return []
    doubtful = _may_be_forged(session)
    heard = Heard(session, {one.quote for one in said})
    return [
        one
        for one in said
        if one.message_index not in doubtful and heard.repeated(one.quote, one.message_index) is None
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


def _is_claim(draft: Draft, chosen: Collection[int]) -> bool:
    return draft.source.origin != "user" or draft.source.message_index in chosen


def _quoted(draft: Draft, chosen: Collection[int]) -> list[str]:
    """The quote, or a question and what was answered."""
    return draft.source.quote.split('"="') if draft.source.message_index in chosen else [draft.source.quote]


def _with_origin(draft: Draft, heard: Heard, chosen: Collection[int]) -> Draft:
    quote, index = draft.source.quote, draft.source.message_index
    if _is_claim(draft, chosen):
        found = (look(part, index) for part in _quoted(draft, chosen) for look in (heard.repeated, heard.drawn_on))
        source = min(filter(None, found), key=lambda piece: piece.message, default=None)
    else:
        source = heard.repeated(quote, index)
    if source is None:
        if draft.source.origin == "agent" and heard.names_what_nobody_typed(quote, index):
            return replace(draft, untrusted=draft.untrusted or "names a command or a host that nobody typed")
        return draft
    if source.origin == "injected":
        return replace(draft, dropped="our own words" if source.is_own else "restates the prompt")
    origin: Origin = source.origin if source.origin in ("tool", "web", "file") else "tool"
    reason = draft.untrusted or f"repeats what {_WHO[origin]} said"
    return replace(draft, untrusted=reason, source=replace(draft.source, origin=origin))


_WHO: dict[Origin, str] = {"tool": "a tool", "web": "a page", "file": "a file"}


def of_another(draft: Draft) -> Draft:
    """The same, said in somebody else's session: whoever spoke there is nobody here."""
    if draft.dropped or draft.source.origin == "injected":
        return draft
    return replace(draft, source=replace(draft.source, origin="foreign"))


Basis = Literal["stated", "measured", "doubtful"]
"""Said by somebody · shown by a command that ran · either of them, but proposed by output, or dangerous."""


class Admission(NamedTuple):
    status: Status
    trust: Trust


_WAITS = Admission("candidate", "untrusted")
TABLE: dict[tuple[Origin, Basis], Admission | None] = {
    ("user", "stated"): Admission("active", "human"),
    ("user", "measured"): Admission("active", "measured"),
    ("user", "doubtful"): _WAITS,
    ("agent", "stated"): Admission("candidate", "claimed"),
    ("agent", "measured"): Admission("active", "measured"),
    ("agent", "doubtful"): _WAITS,
    ("tool", "stated"): _WAITS,
    ("tool", "measured"): Admission("active", "measured"),
    ("tool", "doubtful"): _WAITS,
    ("web", "stated"): _WAITS,
    ("web", "measured"): _WAITS,
    ("web", "doubtful"): _WAITS,
    ("file", "stated"): _WAITS,
    ("file", "measured"): _WAITS,
    ("file", "doubtful"): _WAITS,
    ("import", "stated"): _WAITS,
    ("import", "measured"): _WAITS,
    ("import", "doubtful"): _WAITS,
    ("foreign", "stated"): _WAITS,
    ("foreign", "measured"): _WAITS,
    ("foreign", "doubtful"): _WAITS,
    ("reviewer", "stated"): Admission("active", "human"),
    ("reviewer", "measured"): Admission("active", "human"),
    ("reviewer", "doubtful"): Admission("active", "human"),
    ("injected", "stated"): None,
    ("injected", "measured"): None,
    ("injected", "doubtful"): None,
}
"""None: it is not kept at all."""


_CODE = re.compile(r"`[^`]*`|--[\w-]+")
_WARNS = re.compile(r"\b(?:never|don't|do not|not|no|avoid|without|stop|must not|mustn't)\b", re.IGNORECASE)


def basis(draft: Draft) -> Basis:
    # A warning of a dangerous command is not a recommendation of it.
    if draft.untrusted or (danger(draft.text) and not _WARNS.search(_CODE.sub("", draft.text))):
        return "doubtful"
    return "measured" if draft.measured else "stated"


def admit(draft: Draft) -> Admission | None:
    """What a draft may become by itself; None when it is our own text."""
    return TABLE[(draft.source.origin, basis(draft))]


# How good a lesson is: specific, actionable, fresh, and from whom. It orders the review queue and sets the
# bar.

MIN_QUALITY = 0.4
"""A draft below it is not kept."""
_HALF_LIFE = 90 * 24 * 3_600_000_000
_SOURCE: dict[Trust, float] = {"measured": 1.0, "human": 1.0, "corroborated": 0.8, "claimed": 0.5, "untrusted": 0.2}
_NAMES_SOMETHING = re.compile(r"`[^`]+`")
_TELLS_WHAT_TO_DO = re.compile(
    r"\b(?:use|run|do|don't|never|always|must|should|only|instead|avoid|keep|put|call|test|build|commit|before|after|"
    r"until|without|prefer|is|are|decided|want|let's)\b",
    re.IGNORECASE,
)
_MAX_LESSON_CHARACTERS = 320
"""A pitfall names the call, the error and what helped."""


class Quality(NamedTuple):
    """Each part is 0 to 1."""

    specific: float
    actionable: float
    fresh: float
    source: float

    @property
    def score(self) -> float:
        return round(0.35 * self.specific + 0.25 * self.actionable + 0.15 * self.fresh + 0.25 * self.source, 3)


def quality(text: str, kind: Kind, trust: Trust, *, sources: int = 1, age: int = 0) -> Quality:
    """`age` is microseconds since it was last confirmed."""
    named = 1.0 if _NAMES_SOMETHING.search(text) else 0.8 if specific(text) else 0.2
    acts = 0.5 if kind == "question" else 1.0 if _TELLS_WHAT_TO_DO.search(text) else 0.4
    support = min(1.0, _SOURCE[trust] + 0.1 * (sources - 1))
    return Quality(named, acts, math.exp2(-max(0, age) / _HALF_LIFE), support)


def shortcoming(draft: Draft, trust: Trust) -> str:
    """Why a draft is not worth keeping; empty when it is."""
    if not is_of_a_length(draft.text, _MAX_LESSON_CHARACTERS if draft.measured else LONGEST_SENTENCE):
        return "too short or too long"
    return "" if quality(draft.text, draft.kind, trust).score >= MIN_QUALITY else "below the bar"
