"""Passwords that are plainly said to be one, whatever they look like: words, phrases, numbers, answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hardwon.scrub.rule import Candidate, Rule
from hardwon.scrub.rules.spoken_passwords import (
    ANY_NAME,
    DIGIT,
    FILE,
    KEYWORDS,
    KEYWORDS_FOR_IT,
    LETTER,
    NAMES,
    OTHER_THING,
    PROBE_FOR_IT,
    QUANTITY,
    SO,
    TECHNICAL,
    TOLD,
    WHOSE,
    is_said_password,
    is_told_before_or_words,
)
from hardwon.scrub.shapes import is_code, is_path, is_plain_word, is_stand_in, is_test_name, places_of
from hardwon.text.normalise import MARK_ENDS

# What is plainly said to be the password may look like anything but code, or be a word of no other meaning.

_WIDE = (
    r"(?P<opened>[\"'`“„«「『*]{0,2})"
    rf"(?P<secret>[^\s\"'`“”«»「」『』<>，。、{MARK_ENDS}]{{4,64}}(?<![.,:;!?)…]))"
)
_CLAUSE_ENDS = re.compile(r"[\"'`”“»」』*]{0,2}(?:[.,;!)。，、]|\s*(?:\n|\Z)|[ ](?:and|but|for|on|btw|lol|if|so|\())")
_ENGLISH = re.compile(r"(?:password|passphrase|passcode|passwd|pass|pwd?)(?![a-z])", re.I)
_SAYS_SO = re.compile(r"(?:[ ](?:is|was|to|now|still|just)\b|[:=]|→|[-=]>).*", re.S)
_MIXED = re.compile(r"(?=\S*[^\W\d_])(?=\S*\d)\S*[^\w\s]\S*|\S*[^\W\d_]\S*[!@#$%^&*~+=][^\W\d_]\S*")


_ASSIGNS = frozenset(("=", ":", ":=", "=>", "->"))
"""Without a blank it is code or a setting, of which other rules know where the value ends."""
_IDENTIFIER = re.compile(
    r"(?i:passw|passphr|token|secret)|\A(?:user|form|this|self|req|config)\.|\A[a-z]+(?:_[a-z0-9]+)+\Z"
    r"|\A(?:get|set|is|has|on|use|handle|fetch|load|create|update|validate|check)[A-Z]"
)


def is_said_widely(candidate: Candidate) -> bool:
    value, text = candidate.value, candidate.text
    if is_stand_in(value) or is_code(value) or is_path(value) or "://" in value or _IDENTIFIER.search(value):
        return False
    if OTHER_THING.search(candidate.group("whose")) or candidate.group("so") in _ASSIGNS:
        return False
    if TECHNICAL.match(value) or QUANTITY.fullmatch(value) or FILE.fullmatch(value) or is_test_name(value):
        return False
    if _MIXED.fullmatch(value):
        return True
    if not _CLAUSE_ENDS.match(text, candidate.match.end("secret")):
        return False
    so, opened = candidate.group("so"), candidate.group("opened")
    if _IS_GIVEN_TO.search(so) and not _CHANGES.search(
        text, max(0, candidate.match.start() - 48), candidate.match.start()
    ):
        return False
    if len(value) >= _MIN_GIVEN and LETTER.search(value) and DIGIT.search(value) and is_plain_word(value):
        return True
    if not is_plain_word(value):
        return False
    return bool(opened or _OF_PARTS.search(value) or (_ENGLISH.match(candidate.match[0]) and _SAYS_SO.match(so)))


_MIN_GIVEN = 6
_IS_GIVEN_TO = re.compile(r"[ ](?:to|as|on|na|als|para|como)[ ]")
_CHANGES = re.compile(r"(?:set|chang|reset|rotat|updat|auf|mud|cambi)", re.I)
_OF_PARTS = re.compile(r"[-._&+/^]|[a-zß-ÿ][A-ZÀ-Þ]")


# A phrase in quotes that is said to be the passphrase.

_PHRASES = (
    "passphrase",
    "pass phrase",
    "phrase secrète",
    "phrase de passe",
    "frase de paso",
    "парольная фраза",
    "passwort",
    "password",
)
_IN_PHRASE_QUOTES = rf"[\"“„«][ ]?(?P<secret>[^\n\"“”„«»{MARK_ENDS}]{{8,120}}?)[ ]?[\"”“»]"
_SPEAKS_OF_IT = re.compile(
    r"(?:must|require|character|invalid|error|please|cannot|passw|passphr|wrong|enter|forgot|match)", re.I
)


def is_said_phrase(candidate: Candidate) -> bool:
    words = candidate.value.split()
    return 3 <= len(words) <= 20 and not _SPEAKS_OF_IT.search(candidate.value) and not is_stand_in(candidate.value)


# A number that opens something: `the PIN of the card is 4417`.

_PIN_WORDS = ("pin", "пин")
_PIN = (
    r"(?<![a-z0-9_])(?:pin|пин)(?P<code>[- ]?(?:code|kodu|код|码|number))?(?![a-z0-9_])"
    r"(?P<whose>(?:,?[ ][^\s\d,;:=]{1,24}){0,7}?)(?P<so>,?[ ]?(?:[:=—–-]|是)?[ ]?)"
    r"(?P<secret>\d{4,8})(?![\d%]|[.:/,-]\d)"
)


def is_pin(candidate: Candidate) -> bool:
    """Not the pins of a chip: it is written large, or called a code."""
    written = candidate.text[candidate.match.start() : candidate.match.start() + 3]
    return bool(
        written.isupper() or candidate.group("code") or written.lower() == "пин" or candidate.group("so").strip()
    )


# An answer in the next line: `What is the password?` and nothing but it.

_NEXT_LINE = (
    r"[^\n]{0,60}[?:.][ ]{0,2}\n{1,2}(?:>[ ]|[a-z]{1,9}:[ ])?(?P<whose>)(?P<so>)"
    rf"(?P<secret>[^\s\"'`<>{{}}{MARK_ENDS}]{{4,64}}(?<![.,:;?]))(?=[ ]*(?:\n|\Z))"
)


def is_answer(candidate: Candidate) -> bool:
    value = candidate.value
    if is_stand_in(value) or is_code(value) or is_path(value) or FILE.fullmatch(value) or "://" in value:
        return False
    return bool(_MIXED.fullmatch(value)) or is_plain_word(value) or is_said_password(candidate)


# `use wintergarden as the password`.

_GIVEN_AS = (
    "use using try set put type choose pick with nimm mit nutze verwende setze mets utilise usa usé puesto pon coloca"
    " coloquei usei impostato metti gebruik wpisz ustaw použij поставь введи поставили"
).split()
_AS_PASSWORD = (
    r"[\"'`”»]?[ ](?:as|for|als|como|come|comme|jako|как)[ ](?:[^\W\d_]{1,12}[ ]){0,2}?"
    r"(?:[\w-]{0,12}password|passphrase|passwort|kennwort|mot de passe|contraseña|senha|parola|wachtwoord|hasło"
    r"|heslo|пароль)"
)


def is_given_as(candidate: Candidate) -> bool:
    value = candidate.value
    if TECHNICAL.match(value) or OTHER_THING.search(candidate.text, candidate.match.end(), candidate.match.end() + 48):
        return False
    return is_plain_word(value) or bool(_MIXED.fullmatch(value) and not is_code(value) and not is_path(value))


# What is typed when somebody asks for it: `enter hunter2 when sudo asks`, `at the prompt type hunter2`.

_ASKED = (
    *(
        "when it asks",
        "when asked",
        "when prompted",
        "if prompted",
        "if it asks",
        "when sudo asks",
        "when sudo prompts",
    ),
    *(
        "when it prompts",
        "at the prompt",
        "when ssh asks",
        "if sudo asks",
        "wenn es fragt",
        "wenn er fragt",
        "quand il demande",
    ),
    *("cuando pregunte", "cuando lo pida", "quando pedir", "quando chiede", "когда спросит", "если спросит"),
)
_TYPED = (
    "type enter use give say answer put paste send tippe gib tape saisis escribe digite digita введи введите".split()
)
_MOST_BEFORE = 60


def _typed_when_asked(text: str) -> Iterator[int]:
    """Where what is to be typed may begin, before the asking and behind it."""
    for place in places_of(_ASKED, text):
        begin = max(0, text.rfind("\n", 0, place) + 1, place - _MOST_BEFORE)
        end = text.find("\n", place, place + _MOST_BEFORE)
        end = end if end >= 0 else min(len(text), place + _MOST_BEFORE)
        yield from (found.end() for found in _TO_TYPE.finditer(text, begin, end))


_TO_TYPE = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_TYPED)})[ ](?:(?:it|in|with|back|ein)[ ])?")

# A login in two letters: `u: bob p: hunter2`, `user/pw bob/hunter2`.

_IN_LETTERS = (
    r"(?<![a-z0-9])(?:u|usr|user|username|benutzer|usuario|usuário|utente)[ ]?[:=][ ]?"
    r"[^\s,;/|]{1,64}[ ]{0,2}[,;/|]?[ ]{0,2}(?<=[ ,])(?:p|pw|pass|p/w)[:=][ ]?"
)

PLAINLY_SAID = (
    Rule(
        "password",
        "Whatever is plainly said to be the password",
        rf"(?:{ANY_NAME}|(?<![a-z0-9_])(?:passwd|pwd?))(?:['’]s)?"
        rf"(?:(?<=[^\x00-\x7f])|(?![a-z0-9_]|-[^ ])){WHOSE}{SO}{_WIDE}",
        (*KEYWORDS, "passwd", "pw"),
        is_said_widely,
        any_case=True,
        places=partial(places_of, (*NAMES, "passwd", "pw")),
        probe=f"(?:{ANY_NAME}|passwd|pw)",
    ),
    Rule(
        "password",
        "“use … as the password”, whatever it is",
        rf"(?<![^\W\d_])(?:{'|'.join(_GIVEN_AS)})[ ][\"'`“„«]?"
        rf"(?P<secret>[^\s\"'`“”«»<>{MARK_ENDS}]{{4,64}})(?={_AS_PASSWORD})",
        KEYWORDS_FOR_IT,
        is_given_as,
        any_case=True,
        probe=PROBE_FOR_IT,
    ),
    Rule(
        "password",
        "A phrase in quotes that is said to be the passphrase",
        rf"(?:{'|'.join(_PHRASES)})(?![a-z0-9_]){WHOSE}{SO}{_IN_PHRASE_QUOTES}",
        _PHRASES,
        is_said_phrase,
        any_case=True,
        places=partial(places_of, _PHRASES),
        probe=f"(?:{'|'.join(_PHRASES)})",
    ),
    Rule(
        "password",
        "“the PIN is …”",
        _PIN,
        _PIN_WORDS,
        is_pin,
        any_case=True,
        places=partial(places_of, _PIN_WORDS),
        probe=r"(?:pin|пин).*\d\d\d\d",
    ),
    Rule(
        "password",
        "The next line, after a line that asks for the password",
        rf"{ANY_NAME}(?![a-z0-9_-]){_NEXT_LINE}",
        KEYWORDS,
        is_answer,
        any_case=True,
        places=partial(places_of, NAMES),
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "“type … when it asks” in a sentence",
        rf"(?P<whose>)(?P<so>){TOLD}",
        _ASKED,
        is_told_before_or_words,
        any_case=True,
        places=_typed_when_asked,
        probe=f"(?:{'|'.join(_ASKED)})",
    ),
    Rule(
        "password",
        "u: USER p: PASSWORD",
        rf"{_IN_LETTERS}(?P<whose>)(?P<so>){TOLD}",
        tuple(f"{before}{name}{sign}" for before in " ," for name in ("p", "pw", "pass", "p/w") for sign in ":="),
        is_told_before_or_words,
        any_case=True,
        probe=r"(?:u|usr|user|username|benutzer|usuario|usuário|utente) ?[:=].*[ ,](?:p|pw|pass|p/w)[:=]",
    ),
)
