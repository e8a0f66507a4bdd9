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
from hardwon.failures.tools import danger
from hardwon.failures.turns import Turn, turns
from hardwon.harvest.trust import Admission, found_by_agent, with_origins
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.model.session import Origin, Session
from hardwon.text.language import FUNCTION_WORDS, is_without_spaces
from hardwon.text.words import terms

RULE = "distilled"
NOTED = "noted in one session"
"""Told as that, apart from what is believed, until a second session or a person says so."""
_CLAIM_CHARACTERS = range(12, 261)
_QUOTE_CHARACTERS = range(4, 701)
_MOST_QUOTES = 4
_MOST_ITEMS = 60
_MOST_CONFIDENCE = 0.9
_USUAL_CONFIDENCE = 0.6
_SHARE_OF_ONE_MESSAGE = 0.5
"""Of a claim's words that must stand in one message: more than that may not be put together from several."""
_SHARE_FOR_A_SECOND_SOURCE = 0.6
"""Of a claim's words that must stand in a quote for it to say the same."""
_RELATED_WORDS = 2
_WORDS_NOBODY_SAID = 2
_SHARE_NOBODY_SAID = 0.2
"""Of what is told as unconfirmed: words that none of its quotes has; never a name, a number or a negation."""
_SHARE_AT_THE_JOINTS = 0.25
"""The same where no spaces part words, and pairs of characters stand for them: joining two passages makes new ones."""
_SIGNS_OF_DENIAL = re.compile("[不没沒别別勿禁無无未]|ない|なく|ません|안 |없")
"""Negations of such scripts, which no word stands for."""
_SHARE_OF_WHAT_IS_MEANT = 0.4
"""Of a claim's words that the user typed, where the others are the model's for it."""
_PASSAGE = 300
"""Characters of a passage that is cited for the claim."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\s+(?=[-*•] |\d+[.)] )")
_OF_COMMANDS = frozenset(("ran", "failed", "then", "then failed", "worked"))
_FAILS = "` fails"
_LONGEST_TOLD = 240
_LETTERS_OF_A_SLIP = 5
_ALIKE = 0.83
"""Of the letters of two words, one of them mistyped: `frontned`, `behing`."""

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


ITEMS = _object(
    items={
        "type": "array",
        "items": _object(
            claim=_TEXT,
            kind={"enum": list(KINDS)},
            quotes={"type": "array", "items": _object(at=_TEXT, text=_TEXT)},
            relation={"enum": list(get_args(Relation))},
            known=_TEXT,
            confidence={"type": "number"},
        ),
    }
)
VERDICTS = _object(
    verdicts={
        "type": "array",
        "items": _object(
            number={"type": "integer"},
            keep={"type": "boolean"},
            alone={"type": "boolean"},
            wide={"type": "boolean"},
            claim=_TEXT,
        ),
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
    alone: bool = False
    """Whether the user's quotes say it without the claim."""
    wide: bool = True
    """Whether most sessions may need it, whatever part of the project they work on."""


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
    """Whether the user's quotes say it by themselves, as the second look finds."""
    wide: bool = True
    own: bool = False
    """Whether its words are the model's for what was said, and not those of what the agent had read."""


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
    quotes = [found for one in item.quotes[:_MOST_QUOTES] if (found := _found(one, entries)) is not None]
    if not quotes:
        return None, "no quote stands where it says"
    quotes += _lacking(text, quotes, entries)
    missing = [name for name in _names(text) if not _in_quotes(name, quotes)]
    if not all(words_of(name) <= words for name in missing):
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
    return _cited(one, one.text if _is_command(one) else quote)  # half a command is another one


def _is_command(one: Entry | Quote) -> bool:
    return one.origin == "agent" and one.how in _OF_COMMANDS


def _is_measured(one: Quote) -> bool:
    """A command, or what one said of an error."""
    return bool(one.quotable) or _is_command(one)


def _cited(entry: Entry, text: str) -> Quote:
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
    missing = _content(text, _FREE) - set().union(*(words_of(one.text) for one in (*quotes, *found)))
    passages = [
        (entry, passage)
        for entry in entries
        if (entry.typed and entry.session in typed) or (entry.how.startswith("agent") and entry.session in sessions)
        for passage in _passages(entry.text)
    ]
    while missing and passages and len(found) < _MOST_QUOTES:
        entry, passage = max(passages, key=lambda one: (len(missing & words_of(one[1])), one[0].typed, -len(one[1])))
        if not missing & words_of(passage):
            break
        found.append(_cited(entry, passage))
        missing -= words_of(passage)
    return found


def _is_cited(entry: Entry, quotes: Sequence[Quote]) -> bool:
    return any(one.session == entry.session and one.text in entry.text and one.how == entry.how for one in quotes)


def _passages(text: str) -> list[str]:
    """Sentences and items of a message, none of them too long to be a quote."""
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part[at : at + _PASSAGE] for part in parts for at in range(0, len(part), _PASSAGE) if part]


def with_true_origins(session: Session, quotes: Iterable[Quote]) -> dict[Quote, Quote | None]:
    """Each quote of a session with whose words they are: what repeats a tool, a page or a file is theirs.

    None for our own words. What the agent said right before counts only where it is the agent's own. A command is the
    agent's own unless output proposed it, or it fetches, reaches out or destroys.
    """
    each = list(quotes)
    said = [one for one in each if not _is_command(one)]
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
        if _is_command(quote):
            before_it = [turn for turn in calls if turn.message_index < quote.message]
            found[quote] = msgspec.structs.replace(quote, doubtful=_doubt(quote, before_it))
    return found


def in_own_words(session: Session, claims: Sequence[tuple[str, int]]) -> list[bool]:
    """Of claims, with the messages they rest on: whether each is the model's own, and not what the agent had read."""
    calls = turns(session)
    return found_by_agent(session, claims, lambda name, at: _ran_by_itself(name, at, calls))


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
    if quote.ran:
        return doubt([command], (), before, None)
    return "" if may_be_shown(command) else "a command that a person should see first"


def _draft(quote: Quote, text: str, origin: Origin) -> Draft:
    source = Source(message_index=quote.message, quote=text or "-", origin=origin)
    return Draft(kind="fact", text=text, confidence=0.5, source=source, rule=RULE)


# What a claim may become, by its words and theirs.

_NEGATIONS = frozenset(
    terms(
        "not no never without avoid stop rid dont doesnt cant wont isnt shouldnt none neither nor cannot nothing "
        "nobody nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca jamás sin não nem sem bez nao non "
        "nie niet inte degil senza zonder utan"
    )
)
_FREE = frozenset(
    terms(
        "use user want prefer should must need make sure work task project session agent keep let ensure rather "
        "instead when via per also both each within during about regarding before after until run first then while "
        "one thing way order set get go going please like just well ever "
        "kept located called named defined follow here stay belong go come include contain mean meant ask say write "
        "describe itself own give "
    )
).union(terms(" ".join(FUNCTION_WORDS))) - _NEGATIONS.union(terms("only nur because weil porque"))
"""Words that join what the quotes say, and add nothing to it."""
_REASONS = frozenset(terms("because since although though whether now made done over several everywhere"))
"""Joins that add a little: free in what is told as unconfirmed alone."""
_MEASURED = frozenset(
    terms("fail fails failed works worked pass passes passed help helps succeed succeeds command needs")
)
"""What a claim may say of commands that failed, and of one that worked."""
_SUGGESTS = re.compile(
    r"\bwhy (?:not\b|don'?t (?:we|you|i)\b)|\b(?:ca|could|should|would)n'?t (?:we|you|i)\b", re.IGNORECASE
)
"""A question that denies nothing: "can't we keep it here?" wants it kept there."""
_ORDERS = re.compile(
    r"\b(?:you|your|please|ignore|remember|from now on|make sure|ensure)\b"
    r"|(?:^|[.;:,(–—-] )\W*(?:always|never|must|should|shall|do not|don't)\b"
    r"|\b(?:agents?|assistants?|sessions?|models?|tools?|who(?:ever)?|every(?:one|body)|all)\b.{0,30}?"
    r"\b(?:must|should|shall|always|never|needs? to|have to)\b",
    re.IGNORECASE,
)
"""What no finding of an agent says: it states, and whoever reads it decides. A thing that must be so is stated."""
_LETTERS = re.compile(r"[^\W\d_]+")
_FOLDER = re.compile(r"^\$ |cd [^&;]+(?:&&|;)\s*")
_CODE = re.compile(r"`[^`]*`")
_NOT_THERE = re.compile(
    r"no such file|not found|cannot access|did not match any files?|does not exist|cd: |directory prefix", re.IGNORECASE
)
_ONE_THING = re.compile(r"(?<![\w.:-])#?\d{3,}(?![\w.-])|\b[0-9a-f]{8,}\b")
_CLAUSE = re.compile(r"[,;:.!?](?=\s|$)|[\n()—]|\bbut\b")
_NAMED = re.compile(
    r"`([^`]+)`|((?<![\w-])--?[A-Za-z][\w-]*)|(\b[\w.-]*/[\w./-]+)|(\b\w+\.[A-Za-z]{1,5}\b)|(\b\w*\d[\w.]*)|"
    r"(\b\w+_\w+\b)|(\b[a-z]+[A-Z]\w*\b)|(\b[A-Z][a-z0-9]+[A-Z]\w*\b)|(\b[A-Z]{2,}\b)",
    re.ASCII,  # a letter of another script may stand right beside a name
)


class Decision(NamedTuple):
    """What a claim becomes, in which words, and why no more."""

    text: str
    admission: Admission | None
    """None for one that says too much."""
    why: str


def decided(claim: Claim) -> Decision:
    """Active where every word is the user's or was measured; else, where the quotes can, in the quotes' own words.

    The model chooses what is worth telling; what is told are words that somebody typed, or that commands showed.
    """
    names = _names(claim.text)
    if any(not _in_quotes(name, claim.quotes) and name not in claim.named for name in names):
        return Decision(claim.text, None, "names something that it was not shown")
    if danger(claim.text):
        return Decision(claim.text, Admission("candidate", "untrusted"), "dangerous")
    if claim.kind != "question" and claim.text.endswith(("?", "？")):
        return Decision(claim.text, Admission("candidate", "untrusted"), "a question")
    typed = [one for one in claim.quotes if one.origin == "user" and one.typed]
    measured = _measured(claim.quotes)
    if typed and _is_borne_out(claim.text, typed):
        return Decision(claim.text, Admission("active", "human"), "")
    mended = bool(_mended(measured)) and _names_one_of(claim.text, measured)
    if mended and _is_borne_out(claim.text, [*measured, *typed], _FREE | _MEASURED):
        return Decision(claim.text, Admission("active", "measured"), "")
    said = _in_their_words(claim.text, typed) if claim.alone else ""
    if said and not danger(said):
        return Decision(said, Admission("active", "human"), "")
    if (shown := _as_it_ran(claim.text, measured)) and not danger(shown):
        return Decision(shown, Admission("active", "measured"), "")
    return Decision(claim.text, *_waits(claim, names, typed))


def _waits(claim: Claim, names: Sequence[str], typed: Sequence[Quote]) -> tuple[Admission, str]:
    if _is_noted(claim, typed) or _is_meant(claim, typed):
        return Admission("candidate", "claimed"), NOTED
    said = [one for one in claim.quotes if one.origin in ("user", "agent")]
    if not said:
        return Admission("candidate", "untrusted"), "what a tool, a page or a file said"
    if doubt := next((one.doubtful for one in said if one.doubtful), ""):
        return Admission("candidate", "untrusted"), doubt
    if any(not _in_quotes(name, said) for name in names):
        return Admission("candidate", "untrusted"), "names what its quotes do not"
    if not supports(claim.text, said):
        return Admission("candidate", "untrusted"), "goes beyond its quotes"
    return Admission("candidate", "untrusted"), "says more than its quotes"


def lacking(claim: Claim) -> list[str]:
    """The words of a claim that neither the user, nor the agent on its own, nor a command of its own said."""
    said = set().union(*(words_of(one.text) | words_of(one.before) for one in _own(claim)))
    known = said | _FREE | _MEASURED | _NEGATIONS
    return [word for word in dict.fromkeys(claim.text.split()) if words_of(word) - known]


def _own(claim: Claim) -> list[Quote]:
    """What the user typed, what the agent found out, the commands it ran, and what these said of an error."""
    return [
        msgspec.structs.replace(one, text=one.quotable) if one.quotable else one
        for one in claim.quotes
        if (one.origin == "user" and one.typed) or one.found or one.quotable or (_is_command(one) and not one.doubtful)
    ]


def _is_noted(claim: Claim, typed: Sequence[Quote]) -> bool:
    """Whether it may be told as what one session noted: all of it in somebody's own words, and no order of an agent."""
    if _is_about_one_call(claim.text) or (_orders(claim) and not (typed and supports(claim.text, typed))):
        return False
    own = _own(claim)
    if _FAILS in claim.text and all(map(_is_measured, own)) and not _mended(_measured(claim.quotes)):
        return False  # that a command failed, and another ran, is no cause and no help
    said = set().union(*(words_of(one.text) | words_of(one.before) for one in own))
    wanted = _content(claim.text, _FREE | _MEASURED | _NEGATIONS | _REASONS)
    missing = wanted - said
    most = _WORDS_NOBODY_SAID
    share = _SHARE_NOBODY_SAID
    if is_without_spaces(claim.text):
        most, share = len(wanted), _SHARE_AT_THE_JOINTS
        heard = {sign for one in own for sign in _SIGNS_OF_DENIAL.findall(f"{one.text} {one.before}")}
        if set(_SIGNS_OF_DENIAL.findall(claim.text)) - heard:
            return False
    if len(missing) > min(most, share * len(wanted)):
        return False
    return _is_borne_out(claim.text, own, _FREE | _MEASURED | _REASONS | missing, in_one_session=True)


def _orders(claim: Claim) -> bool:
    """Whether it says what to do, and not in the words of an error, of which nothing addresses a reader."""
    errors = " ".join(one.quotable for one in claim.quotes).lower()
    return any(found.lower() not in errors for found in _ORDERS.findall(claim.text))


def _is_meant(claim: Claim, typed: Sequence[Quote]) -> bool:
    """Whether it may be told as what the user meant: other words for what was typed, and nothing that it denies."""
    denies = words_of(claim.text) & _NEGATIONS
    denied = {word for one in typed for word in words_of(f"{one.text} {one.before}") & _NEGATIONS}
    wanted = _content(claim.text, _FREE)
    said = {word for one in typed for word in words_of(f"{one.text} {one.before}")}
    turned = _turned(typed) & wanted - _denied(claim.text, 3)
    return (
        claim.own
        and bool(typed)
        and not turned
        and not (denies and not denied)
        and len(wanted & said) >= _SHARE_OF_WHAT_IS_MEANT * len(wanted)
        and not _is_about_one_call(claim.text)
    )


def _is_about_one_call(text: str) -> bool:
    """That a command works, that one thing was not there, or what was done to one ticket: no later session needs it."""
    commands = _CODE.findall(text)
    around = _content(_CODE.sub(" ", text), _FREE | _MEASURED)
    is_bare = bool(commands) and not around
    return is_bare or bool(commands and _NOT_THERE.search(text)) or any(map(_ONE_THING.search, commands))


def _measured(quotes: Sequence[Quote]) -> list[Quote]:
    """The agent's own commands that failed or worked, and what was said of it; none where one may be somebody else's.

    What was done between the two counts only where it has to do with the error.
    """
    commands = [one for one in quotes if one.how == "ran" or one.ran]
    if any(one.origin != "agent" or one.doubtful for one in commands):
        return []
    errors = [msgspec.structs.replace(one, text=one.quotable) for one in quotes if one.quotable]
    return [*commands, *errors] if commands else []


def _names_one_of(text: str, measured: Sequence[Quote]) -> bool:
    """Whether a claim is about a command: what one printed says nothing alone."""
    return any(not one.quotable and _content(text, _FREE | _MEASURED) & words_of(one.text) for one in measured)


def _in_their_words(text: str, typed: Sequence[Quote]) -> str:
    """What the user typed in one place, where that says what the claim says; empty where it does not, or is too long.

    Passages of several places, put together, read as nobody speaks: then the claim says it better.
    """
    own = [Quote("", "", 0, 0, "user", passage) for one in typed for passage in _passages(one.text)]
    fitting = [
        one
        for one in own
        if not one.text.endswith(("?", "？")) and len(one.text) <= _LONGEST_TOLD and supports(text, [one])
    ]
    wanted = _content(text, _FREE)
    best = max(fitting, key=lambda one: (len(wanted & words_of(one.text)), -len(one.text)), default=None)
    return f'The user: "{best.text}"' if best else ""


def _as_it_ran(text: str, measured: Sequence[Quote]) -> str:
    """The command, what it said and what worked, in a sentence; empty where that is not what the claim is about."""
    parts = _mended(measured)
    if not parts or not supports(text, measured):
        return ""
    ran, said, worked = (parts[how].removeprefix("$ ") for how in ("ran", "failed", "worked"))
    told = f"`{ran}` fails: {said}; `{worked}` works."
    return told if len(told) <= _LONGEST_TOLD else ""


def _mended(measured: Sequence[Quote]) -> dict[str, str]:
    """A command that failed, what it said, and the one that then worked for the same end; empty where none did.

    That one worked is nothing new, nor that a folder was missed.
    """
    together: dict[tuple[str, int], dict[str, str]] = {}
    for one in measured:
        if one.how != "worked" or one.ran:
            together.setdefault((one.session, one.piece), {})[one.how] = one.text
    for parts in together.values():
        if {"ran", "failed", "worked"} <= parts.keys() and _FOLDER.sub("", parts["ran"]) != _FOLDER.sub(
            "", parts["worked"]
        ):
            return parts
    return {}


def _is_borne_out(
    text: str, quotes: Sequence[Quote], free: frozenset[str] = _FREE, *, in_one_session: bool = False
) -> bool:
    """Whether every word, number, name and negation stands in the quotes or right before; most in one message."""
    each = [words_of(one.text) for one in quotes]
    said = {word for one in quotes for word in words_of(one.before)}.union(*each)
    typed = {word for one in quotes for word in _LETTERS.findall(f"{one.text} {one.before}".lower())}
    wanted = _content(_spelled(text, said, typed), free | _NEGATIONS)
    if not wanted or not wanted <= said:
        return False
    together: dict[tuple[str, int], set[str]] = {}
    for one, words in zip(quotes, each, strict=True):
        together.setdefault((one.session, 0 if in_one_session else one.message), set()).update(words)
    if max(len(wanted & words) for words in together.values()) < _SHARE_OF_ONE_MESSAGE * len(wanted):
        return False
    denied = set().union(*(_denied(one.text, 3) for one in quotes))
    turned = _turned(quotes) & wanted - _denied(text, 3)
    mine = _denied(_spelled(text, denied, typed), 1)
    return not turned and mine <= denied and all(_in_quotes(name, quotes) for name in _names(text))


def _spelled(text: str, said: Set[str], typed: Set[str]) -> str:
    """The text with its words as somebody in a hurry typed them, where they are not there as they should be."""

    def as_typed(found: re.Match[str]) -> str:
        word = found[0].lower()
        if len(word) < _LETTERS_OF_A_SLIP or set(terms(word)) <= said:
            return found[0]
        near = sorted(one for one in typed if one[0] == word[0] and abs(len(one) - len(word)) <= 2)
        return next((one for one in near if SequenceMatcher(None, one, word).ratio() >= _ALIKE), found[0])

    return _LETTERS.sub(as_typed, text)


def _turned(quotes: Sequence[Quote]) -> set[str]:
    """The words that quotes have nowhere but right behind a negation: who says them without it says the opposite."""
    denied = [_denied(one.text, 1) for one in quotes]
    affirmed = (words_of(one.text) - words for one, words in zip(quotes, denied, strict=True))
    return set().union(*denied) - set().union(*affirmed)


def _denied(text: str, reach: int) -> set[str]:
    """The words that a negation stands right before, in the same clause."""
    found: set[str] = set()
    for clause in _CLAUSE.split(text):
        if _SUGGESTS.search(clause):
            continue
        words = [word for word in terms(clause) if word not in _FREE]
        for at, word in enumerate(words):
            if word in _NEGATIONS:
                found.update(words[at + 1 : at + 1 + reach])
    return found - _NEGATIONS


def supports(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether the quotes say most of it, with what was said right before them."""
    wanted = _content(text, _FREE)
    said = {word for one in quotes for word in words_of(one.text) | words_of(one.before)}
    own = {word for one in quotes for word in words_of(one.text)}
    enough = _SHARE_FOR_A_SECOND_SOURCE * len(wanted)
    return bool(wanted) and len(wanted & said) >= enough and len(wanted & own) >= enough / 2


def is_borne_out_by(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether what a person typed holds every word of it."""
    typed = [one for one in quotes if one.origin == "user" and one.typed]
    return bool(typed) and _is_borne_out(text, typed)


def are_related(text: str, other: str) -> bool:
    """Whether two sentences can be about the same thing."""
    return len(_content(text, _FREE) & _content(other, _FREE) - _NEGATIONS) >= _RELATED_WORDS


def words_of(text: str) -> set[str]:
    """A file that is named with an @ is that file."""
    return set(terms(text.replace("@", " ")))


def _content(text: str, free: frozenset[str]) -> set[str]:
    return words_of(text) - free


def _names(text: str) -> list[str]:
    """Identifiers, paths, flags, commands and numbers."""
    return sorted({next(filter(None, found)).strip(".") for found in _NAMED.findall(text)})


def _in_quotes(name: str, quotes: Sequence[Quote]) -> bool:
    """As a whole: port 80 does not stand in port 8080. Of a command in a claim all words, one after the other."""
    edges = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(' '.join(name.split()))}(?![A-Za-z0-9_-])", re.IGNORECASE)
    return any(edges.search(one.text) or edges.search(one.before) for one in quotes)


def gist(text: str) -> frozenset[str]:
    """What two claims have in common that say the same: their words, but for those that join them."""
    return frozenset(_content(text, _FREE))
