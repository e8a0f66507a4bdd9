"""What a model says it read, held to the words that it cites: each item by itself, mechanically."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import Struct

from hardwon.failures.provenance import doubt, may_be_shown
from hardwon.failures.turns import Turn, turns
from hardwon.harvest.trust import first_said, found_by_agent, with_origins
from hardwon.model.lesson import DISTILLED, Draft, Kind, Source
from hardwon.model.session import Origin, Session
from hardwon.scrub.rules.told_passwords import is_common
from hardwon.text.words import FUNCTION_WORDS, terms

_CLAIM_CHARACTERS = range(12, 261)
_QUOTE_CHARACTERS = range(4, 701)
_MOST_QUOTES = 4
_MOST_ITEMS = 60
_MOST_CONFIDENCE = 0.9
_USUAL_CONFIDENCE = 0.7
_WORDS_PRINTED_IN_A_ROW = 3
_AROUND_WORDS = "`\"'()[],;:.!?“”。，；："
_PASSAGE = 300
"""Characters of a passage that is cited for the claim."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\s+(?=[-*•] |\d+[.)] )")
_OF_COMMANDS = frozenset(("ran", "failed", "then", "then failed", "worked", "printed"))
Relation = Literal["new", "repeats", "contradicts", "withdraws", "answers"]
KINDS: dict[str, Kind] = {
    "preference": "preference",
    "decision": "decision",
    "workflow": "pattern",
    "fact": "fact",
    "pitfall": "pitfall",
    "quirk": "tool-quirk",
    "question": "question",
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


_FLAG = {"type": "boolean"}
_ALWAYS = {"claim": _TEXT, "kind": {"enum": list(KINDS)}, "quotes": {"type": "array", "items": _TEXT}}
_IF_SO = {
    "confidence": {"type": "number"},
    "alone": _FLAG,
    "wide": _FLAG,
    "relation": {"enum": list(get_args(Relation))},
    "known": _TEXT,
}
_ITEM = _object(**_ALWAYS, **_IF_SO) | {"required": list(_ALWAYS)}
ITEMS = _object(items={"type": "array", "items": _ITEM})
_LABELLED = re.compile(r"\[?(S\d+:\d+)\]?:?\s+(.+)", re.DOTALL)


class _Passage(Struct, frozen=True):
    at: str
    text: str


def _passage(quote: _Passage | str) -> _Passage:
    """`S1:8 the words`: where they stand, and what they are."""
    if isinstance(quote, _Passage):
        return quote
    found = _LABELLED.match(quote)
    return _Passage(found[1], found[2]) if found else _Passage("", quote)


class Item(Struct, frozen=True):
    """One thing that a model read, as it says so."""

    claim: str
    quotes: list[_Passage | str]
    kind: str = "fact"
    relation: Relation = "new"
    known: str = ""
    confidence: float = _USUAL_CONFIDENCE
    alone: bool = False
    """Whether the user's quotes say it without the claim."""
    wide: bool = True
    """Whether most sessions may need it, whatever part of the project they work on."""


def items(value: Any, rejected: Counter[str]) -> list[Item]:
    """The well-formed ones; a bad one costs itself alone."""
    found = []
    given = value.get("items") if isinstance(value, dict) else None
    for one in (given if isinstance(given, list) else [])[:_MOST_ITEMS]:
        try:
            found.append(msgspec.convert(one, Item, strict=False))
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
    typed: bool = False
    ran: bool = False
    how: str = ""
    """As what it was shown: `user`, `ran`, `failed`, `worked`, …"""
    quotable: str = ""
    """Of an error: what of it may be told."""
    piece: int = -1
    """What was shown together has the same number."""
    doubtful: str = ""
    """Why a person must look first, though it is the agent's own."""
    found: bool = False
    """The agent's own words for what it found out, though it may have read of it."""
    lent: bool = False
    """Not cited by the model: it has a word of the claim that what was cited lacks."""


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
    alone: bool = False
    """Whether the user's quotes say it by themselves."""
    wide: bool = True
    own: bool = False
    """Whether its words are the model's for what was said, and not those of what the agent had read."""
    said: list[str] = []
    """Of its words and names, what the user typed, or the agent had before something that it read."""
    heard: list[str] = []
    """What neither of them had before."""


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
    how: str
    quotable: str
    piece: int


def grounded(item: Item, entries: Sequence[Entry], words: Set[str], known: dict[str, str]) -> tuple[Claim | None, str]:
    """The item with its quotes as they stand in the sessions, or why it is none.

    `words` are those of all entries; `known` has the lessons by their numbers.
    """
    text = " ".join(item.claim.split())
    if len(text) not in _CLAIM_CHARACTERS:
        return None, "too short or too long"
    if item.kind not in KINDS:
        return None, "not of the shape that was asked for"
    quotes = [found for one in item.quotes[:_MOST_QUOTES] if (found := _found(_passage(one), entries)) is not None]
    if not quotes:
        return None, "no quote stands where it says"
    quotes += _lacking(text, quotes, entries)
    missing = [name for name in names_in(text) if not is_in(name, quotes)]
    if not all(is_in(name, entries) or words_of(name) <= words for name in missing):
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
        alone=item.alone,
        wide=item.wide,
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
    return _cited(one, one.text if is_command(one) else quote)  # half a command is another one


def is_command(one: Entry | Quote) -> bool:
    return one.origin == "agent" and one.how in _OF_COMMANDS


def _cited(entry: Entry, text: str, *, lent: bool = False) -> Quote:
    return Quote(
        session=entry.session,
        root=entry.root,
        at=entry.at,
        message=entry.message,
        origin=entry.origin,
        text=text,
        before=entry.before if entry.typed else "",
        typed=entry.typed,
        ran=entry.ran,
        how=entry.how,
        quotable=entry.quotable,
        piece=entry.piece,
        lent=lent,
    )


def _lacking(text: str, quotes: Sequence[Quote], entries: Sequence[Entry]) -> list[Quote]:
    """The passages that hold the words which a claim has and its quotes have not.

    What the same person typed in the same session, what its agent said, and the whole of a failure that one is about:
    the command, what it said, what was done then.
    """
    cited = {(one.session, one.piece) for one in quotes}
    typed = {one.session for one in quotes if one.typed}
    sessions = {one.session for one in quotes}
    found = [
        _cited(one, one.text)
        for one in entries
        if one.how in _OF_COMMANDS and (one.session, one.piece) in cited and not _is_cited(one, quotes)
    ][:_MOST_QUOTES]
    missing = content(text, FREE) - set().union(*(words_of(one.text) for one in (*quotes, *found)))
    passages = [
        (entry, passage)
        for entry in entries
        if (entry.typed and entry.session in typed) or (entry.how.startswith("agent") and entry.session in sessions)
        for passage in passages_of(entry.text)
    ]
    while missing and passages and len(found) < _MOST_QUOTES:
        entry, passage = max(passages, key=lambda one: (len(missing & affirmed(one[1])), one[0].typed, -len(one[1])))
        if not missing & affirmed(passage):
            break  # what is denied there is not said there
        found.append(_cited(entry, passage, lent=True))
        missing -= affirmed(passage)
    return found


def _is_cited(entry: Entry, quotes: Sequence[Quote]) -> bool:
    return any(one.session == entry.session and one.text in entry.text and one.how == entry.how for one in quotes)


def passages_of(text: str) -> list[str]:
    """Sentences and items of a message, none of them too long to be a quote."""
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part[at : at + _PASSAGE] for part in parts for at in range(0, len(part), _PASSAGE) if part]


def with_true_origins(session: Session, quotes: Iterable[Quote]) -> dict[Quote, Quote | None]:
    """Each quote of a session with whose words they are: what repeats a tool, a page or a file is theirs.

    None for our own words. What the agent said right before counts only where it is the agent's own. A command is the
    agent's own unless output proposed it, or it fetches, reaches out or destroys.
    """
    each = list(quotes)
    said = [one for one in each if not is_command(one)]
    found: dict[Quote, Quote | None] = {}
    said_first = with_origins(session, [_draft(one, one.text, one.origin) for one in said])
    leads = with_origins(session, [_draft(one, one.before, "agent") for one in said])
    calls = turns(session)
    own_words = found_by_agent(
        session, [(one.text, one.message) for one in said], lambda name, at: _ran_by_itself(name, at, calls)
    )
    for quote, first, lead, own_word in zip(said, said_first, leads, own_words, strict=True):
        own = lead.source.origin == "agent" and not lead.dropped and not lead.untrusted
        true = msgspec.structs.replace(
            quote,
            origin=first.source.origin,
            before=quote.before if own else "",
            doubtful=first.untrusted,
            found=own_word and quote.origin == "agent",
        )
        found[quote] = None if first.dropped else true
    for quote in each:
        if is_command(quote):
            before_it = [turn for turn in calls if turn.message_index < quote.message]
            found[quote] = msgspec.structs.replace(quote, doubtful=_doubt(quote, before_it))
    return found


def in_own_words(session: Session, claims: Sequence[Claim], id: str) -> list[bool]:
    """Of claims that cite a session: whether each is the model's own, and not what the agent had read in it.

    What a command printed and may be told is no such reading: it is left out of what is looked for.
    """
    calls = turns(session)
    rests_on = [max(quote.message for quote in claim.quotes if quote.session == id) for claim in claims]
    own = list(map(_without_what_was_printed, claims))
    found = found_by_agent(
        session, list(zip(own, rests_on, strict=True)), lambda name, at: _ran_by_itself(name, at, calls)
    )
    return [is_own or not text for text, is_own in zip(own, found, strict=True)]


def whose_words(session: Session, claims: Sequence[Claim], id: str) -> tuple[frozenset[str], frozenset[str]]:
    """Of the words and names of claims that cite a session: what user or agent had first in it, and what they heard."""
    wanted = frozenset().union(*(words_of(claim.text).union(names_in(claim.text)) for claim in claims))
    last = max(quote.message for claim in claims for quote in claim.quotes if quote.session == id)
    return first_said(session, wanted, last)


def _without_what_was_printed(claim: Claim) -> str:
    """A claim without the runs of its words that stand in lines of output which may be told."""
    words = claim.text.split()
    bare = [word.strip(_AROUND_WORDS).lower() for word in words]
    kept = [True] * len(words)
    for quote in claim.quotes:
        said = [word.strip(_AROUND_WORDS).lower() for word in quote.quotable.split()]
        for block in SequenceMatcher(None, bare, said, autojunk=False).get_matching_blocks():
            if block.size >= _WORDS_PRINTED_IN_A_ROW:
                kept[block.a : block.a + block.size] = [False] * block.size
    return " ".join(word for word, is_kept in zip(words, kept, strict=True) if is_kept)


def _ran_by_itself(name: str, at: int, calls: Sequence[Turn]) -> bool:
    """Whether it is a command that the agent had come to by itself by then, and ran."""
    command = " ".join(name.strip("`").split())
    return any(
        command in " ".join(turn.call.command.split())
        and not doubt([turn.call.command], (), calls[: turn.position], None)
        for turn in calls
        if turn.message_index <= at and not turn.stopped
    )


def _doubt(quote: Quote, before: Sequence[Turn]) -> str:
    command = quote.text.removeprefix("$ ").removeprefix("run ")
    if found := doubt([command], (), before, None):
        return found
    return "" if may_be_shown(command) else "a command that a person should see first"


def _draft(quote: Quote, text: str, origin: Origin) -> Draft:
    source = Source(message_index=quote.message, quote=text or "-", origin=origin)
    return Draft(kind="fact", text=text, confidence=0.5, source=source, rule=DISTILLED)


# The words of a claim, and whether quotes have them.

NEGATIONS = frozenset(
    terms(
        "not no never without avoid stop rid dont doesnt cant wont isnt shouldnt none neither nor cannot nothing "
        "nobody nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca jamás sin não nem sem bez nao non "
        "nie niet inte degil senza zonder utan"
    )
)
FREE = frozenset(
    terms(
        "use user want prefer should must need make sure work task project session agent keep let ensure rather "
        "instead when via per also both each within during about regarding before after until run first then while "
        "one thing way order set get go going please like just well ever "
        "kept located called named defined follow here stay belong go come include contain mean meant ask say write "
        "describe itself own give left open "
        "utilisateur veut voulu préfère choisi demande usuario quiere prefiere pide usuário quer prefere pede pediu "
        "benutzer nutzer will möchte bevorzugt utente vuole preferisce gebruiker wil 用户 ユーザー agente selon según "
        "segundo laut l d n c qu aux puis entre avant apres lors dont cette ces son sa lui afin ainsi pelo pela depois "
        "antes mais dass damit dann noch "
    )
).union(terms(" ".join(FUNCTION_WORDS))) - NEGATIONS.union(terms("only nur because weil porque"))
"""Words that join what the quotes say, and add nothing to it."""
_NAMED = re.compile(
    r"`([^`]+)`|((?<![\wÀ-ɏ-])--?[A-Za-z][\w-]*)|(\b[\w.-]*/[\w./-]+)|(\b[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{1,5}\b)|(\b\w*\d[\w.]*(?:-(?:\d|(?:pre|rc|alpha|beta|dev|next)\b)[\w.]*)*)|"
    r"(\b\w+_\w+\b)|(\b[a-z]+[A-Z]\w*\b)|((?:\b[A-Z]\w*-)?\b[A-Z][a-z0-9]+[A-Z]\w*\b)|(\b[A-Z]{2,}\b)",
    re.ASCII,  # a letter of another script may stand right beside a name
)

CLAUSE = re.compile(r"[,;:.!?](?=\s|$)|[\n()—]|\bbut\b")
SUGGESTS = re.compile(
    r"\bwhy (?:not\b|don'?t (?:we|you|i)\b)|\b(?:ca|could|should|would)n'?t (?:we|you|i)\b"
    r"|\b(?:do|does|did|is|are|was|has|have|should|could|would|can)(?:n'?t (?:it|this|that|they|we|the)"
    r"| (?:it|this|that|they|we|you|i) not)\b",
    re.IGNORECASE,
)
"""A question that denies nothing: "can't we keep it here?" wants it kept there."""
_NO_NAMES = frozenset(("e.g", "i.e"))
_EITHER_OR = re.compile(r"[a-z_]{3,}(?:/[a-z_]{3,})+")
_PROPER = re.compile(r"[A-Z][a-z]+[A-Z][a-z]+")


def words_of(text: str) -> set[str]:
    """A file that is named with an @ is that file."""
    return set(terms(text.replace("@", " ")))


def affirmed(text: str) -> set[str]:
    """The words that stand somewhere without a negation right before them."""
    found: set[str] = set()
    for clause in CLAUSE.split(text):
        words = [word for word in terms(clause.replace("@", " ")) if word not in FREE]
        denies = not SUGGESTS.search(clause)
        found.update(
            word for before, word in zip(["", *words], words, strict=False) if not (denies and before in NEGATIONS)
        )
    return found


def content(text: str, free: frozenset[str]) -> set[str]:
    return words_of(text) - free


def names_in(text: str) -> list[str]:
    """Identifiers, paths, flags, commands and numbers; not what everybody knows, such as TypeScript."""
    found = {next(filter(None, found)).strip(".'\"").rstrip("/") for found in _NAMED.findall(text)}
    return sorted(name for name in found - _NO_NAMES - {""} if not (_PROPER.fullmatch(name) and is_common(name)))


def is_in(name: str, quotes: Sequence[Quote] | Sequence[Entry]) -> bool:
    """As a whole: port 80 does not stand in port 8080. Of a command in a claim all words, one after the other.

    Two words with a slash between them (`customers/vendors`) are two words.
    """
    if _EITHER_OR.fullmatch(name):
        return all(is_in(word, quotes) for word in name.split("/"))
    parts = (re.escape(part.strip()) for part in " ".join(name.split()).split("…"))  # where it leaves something out
    edges = re.compile(rf"(?<![A-Za-z0-9_-]){'.*'.join(parts)}(?![A-Za-z0-9_-])", re.IGNORECASE)
    return any(edges.search(one.text) or edges.search(one.before) for one in quotes)
