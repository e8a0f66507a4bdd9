"""A sentence cut up for comparing: words, names and values in order, and the runs of them that may be negated apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hardwon.harvest import vocabulary

INSTEAD = "\x00"
"""Before a run that is held against the one before it: `instead of`, `rather than`, `not`."""
NAMES = frozenset(("code", "url", "set", "flag", "path", "number", "compound", "name"))
"""Kinds of token that are compared whole."""
LEADS = vocabulary.PREPOSITIONS | {"before", "after"}
TOKEN = re.compile(
    r"`(?P<code>[^`]+)`|(?P<url>https?://[^\s,;)]+)|(?P<set>\b[A-Z][A-Z0-9_]*=[^\s,;]+)|"
    r"(?P<flag>(?<![\w-])--?[A-Za-z][\w-]*(?:=[^\s,;]+)?)|"
    r"(?P<path>(?:[~.]{0,2}/|@)?[\w.*-]+(?:/[\w.*-]+)+/?|(?<![\w/])[\w.-]*\w/(?=\s|[.,;]|$)|(?<![\w/])/[\w./-]+|"
    r"\b[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}\b|\b\w+\(\))|"
    r"(?P<number>:?\bv?\d+(?:[._]\d+)*%?(?![\w-]))|(?P<compound>\b\d[\w.]*(?:-\w+)+)|"
    r"(?P<name>\b(?=[\w-]*\d)[A-Za-z]\w*(?:-\w+)+\b|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*\b)|"
    r"(?P<word>[^\W\d_]+(?:-[^\W\d_]+)*|\d+\w+)|(?P<mark>[,;.:()–—]|\s-\s)"
)
_CONTRACTED = re.compile(r"\b([A-Za-z]+)n't\b|\b(can)not\b", re.IGNORECASE)
_PHRASES = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in vocabulary.PHRASES]
_ANY_PHRASE = re.compile("|".join(rf"\b(?:{pattern})\b" for pattern, _ in vocabulary.PHRASES), re.IGNORECASE)
_CONTRAST = re.compile(vocabulary.CONTRAST, re.IGNORECASE)
CODE = re.compile(r"(`[^`]*`)")
_AND = frozenset("and but und y et e".split())
_NOT = frozenset("not never no nicht nie niemals pas jamais nunca non mai não не".split())
_PREFER = frozenset("prefer favour favor choose bevorzuge".split())
_FRONTS = LEADS | vocabulary.SUBORDINATORS | {"without"}


class Token(NamedTuple):
    text: str
    kind: str


class Run(NamedTuple):
    """Tokens that may be negated apart from the others, and what stands before them."""

    tokens: list[Token]
    joint: str

    @property
    def first(self) -> str:
        return self.tokens[0].text

    @property
    def acts(self) -> bool:
        """Somebody does something in it."""
        return any(map(_acts, self.tokens))

    @property
    def is_aside(self) -> bool:
        """`…, not Y` and `…, never Y`, where nothing is done to Y."""
        return self.joint == "," and self.first in _NOT and not any(map(_acts, self.tokens[1:]))


def runs(text: str, is_english: bool) -> Iterator[Run]:
    """What is put in front (`In CI, …`) stays with what follows."""
    tokens = list(_tokens(text, is_english))
    prefers = any(token.text in _PREFER for token in tokens)
    run: list[Token] = []
    joint = ""
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        begins = _joint(token, run, following, prefers=prefers)
        if not begins:
            run.append(token)
            continue
        if run:
            yield Run(run, joint)
        run, joint = [], begins
    if run:
        yield Run(run, joint)


def _joint(token: Token, run: list[Token], following: str, *, prefers: bool) -> str:
    """What a token is that begins another run; nothing when it does not."""
    if token.kind == "mark":
        return "" if token.text == "," and _is_front(run) else token.text.strip() or "-"
    if token.text in _AND and following in _NOT:
        return ","
    contrasts = token.text in ("not", "nicht") and _lacks_a_verb(run)
    if run and (contrasts or (prefers and token.text in ("over", "to") and run[-1].text not in _PREFER)):
        return INSTEAD
    return ""


def _is_front(run: list[Token]) -> bool:
    """`In CI, …`, `Before each commit, …`, `Locally, …`: what follows is the sentence."""
    if not run or any(token.text == "," for token in run):
        return False
    first = run[0].text.lower()
    return first in _FRONTS or (len(run) == 1 and first.endswith("ly"))


def _lacks_a_verb(run: list[Token]) -> bool:
    """`use X not Y`: without a verb to be negated, it is Y that is not wanted."""
    orders = bool(run) and run[0].text in ("use", "verwende", "nutze", "run", "prefer", "always", "please")
    return orders and run[-1].text not in vocabulary.AUXILIARIES and len(run) > 1


def _acts(token: Token) -> bool:
    return token.text in vocabulary.AUXILIARIES or vocabulary.root(token.text) in vocabulary.PLAIN


def _tokens(text: str, is_english: bool) -> Iterator[Token]:
    for at, piece in enumerate(CODE.split(text)):
        if at % 2:
            yield Token(piece.strip("`").strip(), "code")
            continue
        for more, part in enumerate(_CONTRAST.split(piece)):
            if more:
                yield Token(INSTEAD, "mark")
            yield from _plain_tokens(part, is_english)


def _plain_tokens(text: str, is_english: bool) -> Iterator[Token]:
    if is_english:
        text = _CONTRACTED.sub(r"\1\2 not", text)
        if _ANY_PHRASE.search(text):
            for pattern, instead in _PHRASES:
                text = pattern.sub(instead, text)
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        yield Token(match[0].lower() if kind == "word" else match[0], kind)
