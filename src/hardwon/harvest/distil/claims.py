"""What a model says it read, held to the words that it cites: each item by itself, mechanically."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from hardwon.failures.tools import danger
from hardwon.harvest.trust import Admission, with_origins
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.model.session import Origin, Session
from hardwon.text.words import terms

RULE = "distilled"
_CLAIM_CHARACTERS = range(12, 261)
_QUOTE_CHARACTERS = range(4, 701)
_MOST_QUOTES = 4
_MOST_ITEMS = 60
_MOST_CONFIDENCE = 0.9
_USUAL_CONFIDENCE = 0.6
_SHARE_OF_ONE_QUOTE = 0.5
"""Of a claim's words that must stand in one quote: more than that may not be put together from several."""
_SHARE_FOR_A_SECOND_SOURCE = 0.6
"""Of a claim's words that must stand in a quote for it to say the same."""
_RELATED_WORDS = 2
_LETTERS_OF_A_SLIP = 5
_ALIKE = 0.83
"""Of the letters of two words, one of them mistyped: `frontned`, `behing`."""

Relation = Literal["new", "repeats", "contradicts", "withdraws"]
KINDS: dict[str, Kind] = {
    "preference": "preference",
    "decision": "decision",
    "workflow": "pattern",
    "fact": "fact",
    "pitfall": "pitfall",
    "person": "identity",
}
"""What a model may call it → the kind of lesson."""


# What is asked for, as a schema, and what was answered, item by item.

_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


ITEMS = _object(
    items={
        "type": "array",
        "items": _object(
            claim=_TEXT,
            kind={"enum": list(KINDS)},
            quotes={"type": "array", "items": _object(at=_TEXT, text=_TEXT)},
            relation={"enum": ["new", "repeats", "contradicts", "withdraws"]},
            known=_TEXT,
            confidence={"type": "number"},
        ),
    }
)
VERDICTS = _object(
    verdicts={
        "type": "array",
        "items": _object(number={"type": "integer"}, keep={"type": "boolean"}, claim=_TEXT),
    }
)


class _Passage(Struct, frozen=True):
    at: str
    text: str


class Item(Struct, frozen=True):
    """One thing that a model read, as it says so."""

    claim: str
    quotes: list[_Passage]
    kind: str = "fact"
    relation: Relation = "new"
    known: str = ""
    confidence: float = _USUAL_CONFIDENCE


class Verdict(Struct, frozen=True):
    number: int
    keep: bool
    claim: str = ""


def items(value: Any, rejected: Counter[str]) -> list[Item]:
    """The well-formed ones; a bad one costs itself alone."""
    return _each(value, "items", Item, rejected)


def verdicts(value: Any, rejected: Counter[str]) -> dict[int, Verdict]:
    return {one.number: one for one in _each(value, "verdicts", Verdict, rejected)}


def _each(value: Any, name: str, kind: Any, rejected: Counter[str]) -> list[Any]:
    found = []
    given = value.get(name) if isinstance(value, dict) else None
    for one in (given if isinstance(given, list) else [])[:_MOST_ITEMS]:
        try:
            found.append(msgspec.convert(one, kind, strict=False))
        except (msgspec.ValidationError, RecursionError):
            rejected["not of the shape that was asked for"] += 1
    return found


# A claim with the passages that were found where it says they stand.


class Quote(Struct, frozen=True):
    """Words of a session, found there."""

    session: str
    root: str
    at: int
    """When the session began."""
    message: int
    origin: Origin
    """Whose words they are, whatever the model says."""
    text: str
    before: str = ""
    """What the agent had said right before."""
    around: str = ""
    """The rest of what the user typed there."""
    typed: bool = False
    ran: bool = False
    doubtful: str = ""
    """Why a person must look first, though it is the agent's own."""


class Claim(Struct, frozen=True):
    text: str
    kind: Kind
    confidence: float
    quotes: list[Quote]
    named: list[str]
    """What it names that stands in what the model was shown, though not in the quotes."""
    relation: Relation = "new"
    known: str = ""
    """The lesson that it speaks of."""


class Entry(NamedTuple):
    """A passage that a model was shown, with the label by which it may be cited."""

    label: str
    session: str
    root: str
    at: int
    message: int
    origin: Origin
    text: str
    """With one space between words."""
    before: str
    typed: bool
    ran: bool


def grounded(item: Item, entries: Sequence[Entry], words: Set[str], known: dict[str, str]) -> tuple[Claim | None, str]:
    """The item with its quotes as they stand in the sessions, or why it is none.

    `words` are those of all entries; `known` has the lessons by their numbers.
    """
    text = " ".join(item.claim.split())
    if len(text) not in _CLAIM_CHARACTERS:
        return None, "too short or too long"
    if item.kind not in KINDS:
        return None, "not of the shape that was asked for"
    quotes = [found for one in item.quotes[:_MOST_QUOTES] if (found := _found(one, entries)) is not None]
    if not quotes:
        return None, "no quote stands where it says"
    missing = [name for name in _names(text) if not _in_quotes(name, quotes)]
    if not all(set(terms(name)) <= words for name in missing):
        return None, "names something that it was not shown"
    relation, about = item.relation, known.get(item.known.strip("[] "), "")
    sure = item.confidence if 0 <= item.confidence <= 1 else _USUAL_CONFIDENCE
    claim = Claim(
        text=text,
        kind=KINDS[item.kind],
        confidence=min(sure, _MOST_CONFIDENCE),
        quotes=quotes,
        named=missing,
        relation=relation if about else "new",
        known=about if relation != "new" else "",
    )
    return claim, ""


def _found(passage: _Passage, entries: Sequence[Entry]) -> Quote | None:
    """Where a passage stands, word for word: where it is said to, else in the least trusted of the places."""
    quote = " ".join(passage.text.split())
    if len(quote) not in _QUOTE_CHARACTERS:
        return None
    places = [one for one in entries if quote in one.text]
    label = passage.at.strip("[] ")
    named = [one for one in places if one.label == label] or places
    if not named:
        return None
    one = max(named, key=lambda entry: (entry.origin != "user", not entry.typed, entry.origin != "agent"))
    before, around = (one.before, one.text) if one.typed else ("", "")
    return Quote(one.session, one.root, one.at, one.message, one.origin, quote, before, around, one.typed, one.ran)


def with_true_origins(session: Session, quotes: Iterable[Quote]) -> dict[Quote, Quote | None]:
    """Each quote of a session with whose words they are: what repeats a tool, a page or a file is theirs.

    None for our own words. What the agent said right before counts only where it is the agent's own.
    """
    found: dict[Quote, Quote | None] = {}
    each = list(quotes)
    said_first = with_origins(session, [_draft(one, one.text, one.origin) for one in each])
    leads = with_origins(session, [_draft(one, one.before, "agent") for one in each])
    for quote, said, lead in zip(each, said_first, leads, strict=True):
        own = lead.source.origin == "agent" and not lead.dropped and not lead.untrusted
        before = quote.before if own else ""
        true = msgspec.structs.replace(quote, origin=said.source.origin, before=before, doubtful=said.untrusted)
        found[quote] = None if said.dropped else true
    return found


def _draft(quote: Quote, text: str, origin: Origin) -> Draft:
    source = Source(message_index=quote.message, quote=text or "-", origin=origin)
    return Draft(kind="fact", text=text, confidence=0.5, source=source, rule=RULE)


# What a claim may become, by its words and theirs.

_FREE = frozenset(
    terms(
        "use user want prefer should must need make sure work task project session agent keep let ensure rather "
        "instead when via per also both each within during about regarding before after until run first then while "
        "one thing way order set get go going please like just well ever "
        "kept located called named defined follow here"
    )
)
"""Words that join what the quotes say, and add nothing to it."""
_MEASURED = frozenset(
    terms("fail fails failed works worked pass passes passed help helps succeed succeeds command needs")
)
"""What a claim of what commands did may say of them."""
_NEGATIONS = frozenset(
    terms(
        "not no never without avoid stop rid dont doesnt cant wont isnt shouldnt none neither nor cannot nothing "
        "nobody nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca jamás sin não nem sem bez"
    )
)
_CLAUSE = re.compile(r"[,;:.!?](?=\s|$)|[\n()—]|\bbut\b")
_NAMED = re.compile(
    r"`([^`]+)`|((?<![\w-])--?[A-Za-z][\w-]*)|(\b[\w.-]*/[\w./-]+)|(\b\w+\.[A-Za-z]{1,5}\b)|(\b\w*\d[\w.]*)|"
    r"(\b\w+_\w+\b)|(\b[a-z]+[A-Z]\w*\b)|(\b[A-Z][a-z0-9]+[A-Z]\w*\b)|(\b[A-Z]{2,}\b)"
)


def admitted(claim: Claim) -> tuple[Admission | None, str]:
    """What a claim may become by itself and why no more; None with the reason for one that says too much."""
    names = _names(claim.text)
    if any(not _in_quotes(name, claim.quotes) and name not in claim.named for name in names):
        return None, "names something that it was not shown"
    if danger(claim.text):
        return Admission("candidate", "untrusted"), "dangerous"
    typed = [one for one in claim.quotes if one.origin == "user" and one.typed]
    if typed and _is_borne_out(claim.text, typed):
        return Admission("active", "human"), ""
    ran = [one for one in claim.quotes if one.ran and one.origin == "agent" and not one.doubtful]
    if ran and _is_borne_out(claim.text, ran, free=_FREE | _MEASURED):
        return Admission("active", "measured"), ""
    said = [one for one in claim.quotes if one.origin in ("user", "agent")]
    if not said:
        return Admission("candidate", "untrusted"), "what a tool, a page or a file said"
    if doubt := next((one.doubtful for one in said if one.doubtful), ""):
        return Admission("candidate", "untrusted"), doubt
    if any(not _in_quotes(name, said) for name in names):
        return Admission("candidate", "untrusted"), "names what its quotes do not"
    if not supports(claim.text, said):
        return Admission("candidate", "untrusted"), "goes beyond its quotes"
    return Admission("candidate", "claimed"), "not in the user's own words" if typed else "what the agent said"


def _is_borne_out(text: str, quotes: Sequence[Quote], free: frozenset[str] = _FREE) -> bool:
    """Whether every word, number, name and negation stands in the quotes or right before, most of them in one quote."""
    wanted = _content(text, free | _NEGATIONS)
    each = [_words(one.text) for one in quotes]
    lead = {word for one in quotes for text in (one.before, one.around) for word in _words(text)}
    wanted = {_spelled(word, lead.union(*each)) for word in wanted}
    if not wanted or not wanted <= lead.union(*each):
        return False
    if max(len(wanted & one) for one in each) < _SHARE_OF_ONE_QUOTE * len(wanted):
        return False
    denied = set().union(*(_denied(one.text, 3) for one in quotes))
    turned = set().union(*(_denied(one.text, 1) for one in quotes)) & wanted - _denied(text, 3)
    mine = {_spelled(word, denied) for word in _denied(text, 1)}
    return not turned and mine <= denied and all(_in_quotes(name, quotes) for name in _names(text))


def _spelled(word: str, said: Set[str]) -> str:
    """The word as somebody in a hurry typed it, where it is not there as it should be."""
    if word in said or len(word) < _LETTERS_OF_A_SLIP or not word.isalpha():
        return word
    near = (one for one in said if one[0] == word[0] and one.isalpha() and abs(len(one) - len(word)) <= 2)
    return next((one for one in sorted(near) if SequenceMatcher(None, one, word).ratio() >= _ALIKE), word)


def _denied(text: str, reach: int) -> set[str]:
    """The words that a negation stands right before, in the same clause."""
    found: set[str] = set()
    for clause in _CLAUSE.split(text):
        words = [word for word in terms(clause) if word not in _FREE]
        for at, word in enumerate(words):
            if word in _NEGATIONS:
                found.update(words[at + 1 : at + 1 + reach])
    return found - _NEGATIONS


def supports(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether the quotes say most of it, with what was said right before them."""
    wanted = _content(text, _FREE)
    said = {word for one in quotes for word in _words(one.text) | _words(one.before)}
    own = {word for one in quotes for word in _words(one.text)}
    enough = _SHARE_FOR_A_SECOND_SOURCE * len(wanted)
    return bool(wanted) and len(wanted & said) >= enough and len(wanted & own) >= enough / 2


def is_borne_out_by(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether what a person typed holds every word of it."""
    typed = [one for one in quotes if one.origin == "user" and one.typed]
    return bool(typed) and _is_borne_out(text, typed)


def are_related(text: str, other: str) -> bool:
    """Whether two sentences can be about the same thing."""
    return len(_content(text, _FREE) & _content(other, _FREE) - _NEGATIONS) >= _RELATED_WORDS


def _words(text: str) -> set[str]:
    """A file that is named with an @ is that file."""
    return set(terms(text.replace("@", " ")))


def _content(text: str, free: frozenset[str]) -> set[str]:
    return _words(text) - free


def _names(text: str) -> list[str]:
    """Identifiers, paths, flags, commands and numbers."""
    return sorted({next(filter(None, found)).strip(".") for found in _NAMED.findall(text)})


def _in_quotes(name: str, quotes: Sequence[Quote]) -> bool:
    """As a whole: port 80 does not stand in port 8080. Of a command in a claim all words, one after the other."""
    edges = re.compile(rf"(?<![\w-]){re.escape(' '.join(name.split()))}(?![\w-])", re.IGNORECASE)
    return any(edges.search(one.text) or edges.search(one.before) for one in quotes)


def gist(text: str) -> frozenset[str]:
    """What two claims have in common that say the same: their words, but for those that join them."""
    return frozenset(_content(text, _FREE))
