"""What a claim may become, by its words and those of its quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from difflib import SequenceMatcher
from typing import NamedTuple

import msgspec

from hardwon.failures.tools import danger
from hardwon.harvest.distil.claims import (
    CLAUSE,
    FREE,
    NEGATIONS,
    SUGGESTS,
    Claim,
    Quote,
    affirmed,
    content,
    is_command,
    is_in,
    names_in,
    passages_of,
    words_of,
)
from hardwon.harvest.trust import Admission, to_be_typed
from hardwon.scrub.rules.told_passwords import is_common
from hardwon.text.words import language, terms

NOTED = "noted in one session"
"""Told as that, apart from what is believed, until a second session or a person says so."""
_SHARE_OF_ONE_MESSAGE = 0.5
"""Of a claim's words that must stand in one message: more than that may not be put together from several."""
_SHARE_FOR_A_SECOND_SOURCE = 0.6
"""Of a claim's words that must stand in a quote for it to say the same."""
_RELATED_WORDS = 2
_SIGNS_OF_DENIAL = re.compile("[不没沒别別勿禁無无未]|ない|なく|ません|안 |없")
"""Negations of such scripts, which no word stands for."""
_SHARE_HEARD, _SHARE_HEARD_OF_AN_ECHO = 0.4, 0.25
"""Of a claim's words: what stood first in something that the agent read."""
_SHARE_SAID = 0.4
_WORDS_LOST = 2
"""Of a claim's, that what the user said may lack: it is how it is put."""
_NUMBER = re.compile(r"(?=\D{0,3}\d)[\w.,:/%]{1,6}")
"""A size, a count, a duration, a name of three signs: `60s`, `22/22`, `E2E`."""
_FAILS = "` fails"
_LONGEST_TOLD = 240
_LETTERS_OF_A_SLIP = 5
_ALIKE = 0.83
"""Of the letters of two words, one of them mistyped: `frontned`, `behing`."""
_MEASURED = frozenset(
    terms("fail fails failed works worked pass passes passed help helps succeed succeeds command needs")
)
"""What a claim may say of commands that failed, and of one that worked."""
_ORDERS = re.compile(
    r"\b(?:you|your|please|ignore|remember|from now on|make sure|ensure)\b"
    r"|(?:^|[.;:,(–—-] )\W*(?:always|never|must|should|shall|do not|don't)\b"
    r"|\b(?:agents?|assistants?|sessions?|models?|tools?|who(?:ever)?|every(?:one|body)|all)\b.{0,30}?"
    r"\b(?:must|should|shall|always|never|needs? to|have to)\b",
    re.IGNORECASE,
)
"""What no finding of an agent says: it states, and whoever reads it decides. A thing that must be so is stated."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ACRONYM = re.compile(r"[A-Z]{2,5}")
"""HTTP, JSON: a word like others in what is told as unconfirmed."""
_FOLDER = re.compile(r"^\$ |cd [^&;]+(?:&&|;)\s*")
_CODE = re.compile(r"`[^`]*`")
_NOT_THERE = re.compile(
    r"no such file|not found|cannot access|did not match any files?|does not exist|cd: |directory prefix", re.IGNORECASE
)
_NO_COMMAND = re.compile(
    r"command not found|command '\S+' not found|: not found\b|is not recognized as\b|[\"']&&[\"']|[\"']\|\|[\"']",
    re.IGNORECASE,
)
"""What this machine or its shell cannot do, and no slip of one call."""
_COUNTED = re.compile(r"\b(?:total|tests?|failures?|succeeded|skipped|seconds|[\d.,]+ ?m?s?)\b", re.IGNORECASE)
"""How many tests passed that day."""
_ONE_THING = re.compile(r"(?<![\w.:-])#?\d{3,}(?![\w.-])|\b[0-9a-f]{8,}\b")
_NEXT_CLAUSE = re.compile(r"[;:；：](?=\s|[^\x00-\x7f])|\s[—–-]\s")
_CODE_OR_IN_BRACKETS = re.compile(r"(`[^`]*`)|\s*[(（][^()（）]*[)）]")
_LIMITS = re.compile(
    rf"\b(?:only|unless|except|until|till|if|when|but|though|nur|außer|sauf|salvo|{'|'.join(sorted(NEGATIONS))})\b|n't\b|只|除|但|不",
    re.IGNORECASE,
)
"""A clause that takes back some of what was said before it."""
_WORDS_OF_A_HEAD, _SHARE_OF_A_HEAD = 5, 0.5
"""Less of a claim leaves out what it is about."""


class Decision(NamedTuple):
    """What a claim becomes, in which words, and why no more."""

    text: str
    admission: Admission | None
    """None for one that says too much."""
    why: str


def decided(claim: Claim) -> Decision:
    """Active where every word is the user's or was measured; else, where the quotes can, in the quotes' own words.

    The model chooses what is worth telling; what is told are words that somebody typed, or that commands showed. Of a
    claim that would wait, the clauses at its beginning are told that need not.
    """
    found = _decided(claim)
    if found.admission is not None and found.admission.trust == "untrusted":
        for head in _heads(claim.text):
            part = _decided(msgspec.structs.replace(claim, text=head))
            if part.admission is not None and part.admission.trust != "untrusted":
                return part
    return found


def _heads(text: str) -> list[str]:
    """The claim without what stands in brackets, without its last clause, without its last two and so on.

    Never without one that limits what stands before it.
    """
    bare = _CODE.sub(lambda code: "_" * len(code[0]), text)
    ends = [len(text), *(found.start() for found in reversed([*_NEXT_CLAUSE.finditer(bare)]))]
    heads = [text[:end].rstrip(" .") for end in ends if not _LIMITS.search(text[end:]) and _is_whole(text[:end])]
    each = [one for head in heads for one in (head, _CODE_OR_IN_BRACKETS.sub(r"\1", head))]
    least = max(_WORDS_OF_A_HEAD, _SHARE_OF_A_HEAD * len(content(text, FREE)))
    return [
        one if one.endswith("。") else f"{one}."
        for one in dict.fromkeys(each)
        if one != text.rstrip(" .") and len(content(one, FREE)) >= least
    ]


def _is_whole(text: str) -> bool:
    """Whether no bracket is left open."""
    return all(text.count(opening) == text.count(closing) for opening, closing in ("()", "（）"))


def _decided(claim: Claim) -> Decision:
    names = names_in(claim.text)
    if any(not is_in(name, claim.quotes) and name not in claim.named for name in names):
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
    if mended and _is_borne_out(claim.text, [*measured, *typed], FREE | _MEASURED):
        return Decision(claim.text, Admission("active", "measured"), "")
    said = _in_their_words(claim.text, typed) if claim.alone else ""
    as_said = Decision(said, Admission("active", "human"), "") if said and not danger(said) else None
    if as_said and _says_all(said, claim.text):
        return as_said
    if (shown := _as_it_ran(claim.text, measured)) and not danger(shown):
        return Decision(shown, Admission("active", "measured"), "")
    waits = Decision(claim.text, *_waits(claim, names, typed))
    return as_said if as_said and waits.why != NOTED else waits


def _says_all(said: str, text: str) -> bool:
    """Whether nothing is lost where the user's words stand for a claim."""
    whole = [Quote("", "", 0, 0, "user", said)]
    lost = content(text, FREE) - words_of(said)
    return len(lost) <= _WORDS_LOST and all(is_in(name, whole) for name in names_in(text))


def _waits(claim: Claim, names: Sequence[str], typed: Sequence[Quote]) -> tuple[Admission, str]:
    if _may_be_noted(claim, typed):
        return Admission("candidate", "claimed"), NOTED
    said = [one for one in claim.quotes if one.origin in ("user", "agent")]
    if not said:
        return Admission("candidate", "untrusted"), "what a tool, a page or a file said"
    if doubt := next((one.doubtful for one in said if one.doubtful), ""):
        return Admission("candidate", "untrusted"), doubt
    if any(not is_in(name, said) for name in names):
        return Admission("candidate", "untrusted"), "names what its quotes do not"
    if not supports(claim.text, said):
        return Admission("candidate", "untrusted"), "goes beyond its quotes"
    return Admission("candidate", "untrusted"), "says more than its quotes"


def _own(claim: Claim) -> list[Quote]:
    """What the user typed, what the agent found out, the commands it ran, and what these said of an error."""
    return [
        msgspec.structs.replace(one, text=one.quotable) if one.quotable else one
        for one in claim.quotes
        if (one.origin == "user" and one.typed) or one.found or one.quotable or (is_command(one) and not one.doubtful)
    ]


def _orders(claim: Claim, typed: Sequence[Quote]) -> bool:
    """Whether it says what to do, and neither the user said most of that, nor an error, which addresses no reader.

    A command in it is none of the words that give an order; it must be somebody's own by itself.
    """
    errors = " ".join(one.quotable for one in claim.quotes).lower()
    gives_one = any(found.lower() not in errors for found in _ORDERS.findall(claim.text))
    return gives_one and not (typed and supports(_CODE.sub(" ", claim.text), typed))


def _may_be_noted(claim: Claim, typed: Sequence[Quote]) -> bool:
    """Whether it may be told as what a session noted: in the model's words, but of what user and agent said and did."""
    own = _own(claim)
    return (
        bool(own)
        and not _orders(claim, typed)
        and not _is_only_that_it_failed(claim, own)
        and not _is_about_one_call(claim.text)
        and all(_is_theirs(name, claim, own) for name in names_in(claim.text))
        and all(is_in(_as_typed(name), own) for name in to_be_typed(claim.text))
        and _is_hardly_heard(claim, own)
        and not _is_turned_round(claim.text, own)
    )


def _as_typed(name: str) -> str:
    """A command as it is, an address without the sign behind it that ends a sentence."""
    return name.strip("`") if name.startswith("`") else name.rstrip("/.,:;!?)\"'")


def _is_theirs(name: str, claim: Claim, own: Sequence[Quote]) -> bool:
    """Whether a name stands in their quotes, or in another that is cited if they had it first."""
    plain = _ACRONYM.fullmatch(name) or _NUMBER.fullmatch(name)
    short = name.rpartition("/")[2]
    is_their_file = "." in short and short != name and is_in(short, own)
    return bool(plain) or is_in(name, own) or ((is_their_file or name in claim.said) and is_in(name, claim.quotes))


def _is_hardly_heard(claim: Claim, own: Sequence[Quote]) -> bool:
    """Whether few of its words stood first in what the agent read, and enough of them are user's and agent's.

    Where the whole sounds like something that was read, none of the few may be a rare word.
    """
    wanted, heard = content(_without_names(claim.text), FREE), set(claim.heard)
    known = set(claim.said).union(*(words_of(f"{one.text} {one.before}") for one in own))
    most = _SHARE_HEARD if claim.own else _SHARE_HEARD_OF_AN_ECHO
    if len(wanted & heard - known) > most * len(wanted) or len(wanted & known) < _SHARE_SAID * len(wanted):
        return False
    words = [] if claim.own else _LETTERS.findall(_without_names(claim.text))
    if language([word.lower() for word in words]) not in ("en", ""):
        return True  # which words are rare is known of English alone
    return all(is_common(word) or not heard.intersection(terms(word)) for word in words)


def _without_names(text: str) -> str:
    """The words around commands, files and identifiers, which are looked at one by one."""
    return " ".join(word for word in _CODE.sub(" ", text).split() if not names_in(word))


def _is_turned_round(text: str, own: Sequence[Quote]) -> bool:
    """Whether it affirms what they deny, or denies what they affirm."""
    said = [f"{one.text} {one.before}" for one in own]
    denies = NEGATIONS.isdisjoint(set().union(*map(words_of, said)))
    denied = _denied(text, 3)
    return bool(
        _turned(own) & content(text, FREE) - denied
        or (denies and denied & set().union(*map(affirmed, said)))
        or _denies_more(text, own)
    )


def _denies_more(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether it denies in a script that writes this inside of words, and no quote denies anything."""
    said = [f"{one.text} {one.before}" for one in quotes]
    denied = any(_SIGNS_OF_DENIAL.search(one) or not NEGATIONS.isdisjoint(words_of(one)) for one in said)
    return bool(_SIGNS_OF_DENIAL.search(text)) and not denied


def _is_only_that_it_failed(claim: Claim, own: Sequence[Quote]) -> bool:
    """That a command failed is no cause and no help, unless it names another that ran."""
    if _FAILS not in claim.text or not all(map(_is_measured, own)) or _mended(_measured(claim.quotes)):
        return False
    if any(_NO_COMMAND.search(one.quotable) for one in own):
        return False
    named = {
        name for name in _CODE.findall(claim.text) if is_in(name.strip("`"), [one for one in own if is_command(one)])
    }
    return len(named) < 2


def _is_about_one_call(text: str) -> bool:
    """That a command works, that one thing was not there, or what was done to one ticket: no later session needs it."""
    commands = _CODE.findall(text)
    around = content(_COUNTED.sub(" ", _CODE.sub(" ", text)), FREE | _MEASURED)
    is_bare = bool(commands) and not around
    is_slip = bool(commands and _NOT_THERE.search(_NO_COMMAND.sub("", text)))
    is_mended = _FAILS in text and len(commands) > 1 and len({one.split()[0] for one in commands}) == 1
    return is_bare or is_slip or (not is_mended and any(map(_ONE_THING.search, commands)))


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
    return any(not one.quotable and content(text, FREE | _MEASURED) & words_of(one.text) for one in measured)


def _in_their_words(text: str, typed: Sequence[Quote]) -> str:
    """What the user typed in one place, where that says what the claim says; empty where it does not, or is too long.

    Passages of several places, put together, read as nobody speaks: then the claim says it better.
    """
    own = [Quote("", "", 0, 0, "user", passage) for one in typed for passage in passages_of(one.text)]
    fitting = [
        one
        for one in own
        if not one.text.endswith(("?", "？")) and len(one.text) <= _LONGEST_TOLD and supports(text, [one])
    ]
    wanted = content(text, FREE)
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


def _is_borne_out(text: str, quotes: Sequence[Quote], free: frozenset[str] = FREE) -> bool:
    """Whether every word, number, name and negation stands in the quotes or right before; most in one message."""
    each = [words_of(one.text) for one in quotes]
    said = {word for one in quotes for word in words_of(one.before)}.union(*each)
    typed = {word for one in quotes for word in _LETTERS.findall(f"{one.text} {one.before}".lower())}
    wanted = content(_spelled(text, said, typed), free | NEGATIONS)
    if not wanted or not wanted <= said:
        return False
    together: dict[tuple[str, int], set[str]] = {}
    for one, words in zip(quotes, each, strict=True):
        together.setdefault((one.session, one.message), set()).update(words)
    if max(len(wanted & words) for words in together.values()) < _SHARE_OF_ONE_MESSAGE * len(wanted):
        return False
    denied = set().union(*(_denied(one.text, 3) for one in quotes))
    turned = _turned(quotes) & wanted - _denied(text, 3)
    mine = _denied(_spelled(text, denied, typed), 1)
    return not turned and mine <= denied and all(is_in(name, quotes) for name in names_in(text))


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
    denied: set[str] = set().union(*(_denied(one.text, 1) for one in quotes if not one.lent))
    return denied.difference(*(affirmed(one.text) for one in quotes))


def _denied(text: str, reach: int) -> set[str]:
    """The words that a negation stands right before, in the same clause."""
    found: set[str] = set()
    for clause in CLAUSE.split(text):
        if SUGGESTS.search(clause):
            continue
        words = [word for word in terms(clause) if word not in FREE]
        for at, word in enumerate(words):
            if word in NEGATIONS:
                found.update(words[at + 1 : at + 1 + reach])
    return found - NEGATIONS


def supports(text: str, quotes: Sequence[Quote]) -> bool:
    """Whether the quotes say most of it, with what was said right before them."""
    wanted = content(text, FREE)
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
    return len(content(text, FREE) & content(other, FREE) - NEGATIONS) >= _RELATED_WORDS


def gist(text: str) -> frozenset[str]:
    """What two claims have in common that say the same: their words, but for those that join them."""
    return frozenset(content(text, FREE))


def _is_measured(one: Quote) -> bool:
    """A command, or what one said of an error."""
    return bool(one.quotable) or is_command(one)
