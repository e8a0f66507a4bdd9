"""What a sentence claims: for each of its parts the things it is about, in order, and whether they are wanted or not.

"Use pnpm, not npm" and "npm must not be used here, pnpm is the package manager" are the same two parts: pnpm, and not
npm. Words that only say how strongly it is meant are left out; names, numbers, paths and commands stay whole.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from hardwon.harvest import foreign, vocabulary
from hardwon.harvest.rules.tongues import marks
from hardwon.harvest.sentence import CODE, INSTEAD, LEADS, NAMES, TOKEN, Run, Token, runs

_UNSPACED = [(re.compile(pattern), negates) for pattern, negates in foreign.UNSPACED]
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNSPACED_RUN = re.compile(r"`[^`]+`|[A-Za-z0-9_./-]+|[^\W\dA-Za-z_]+")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_IS = frozenset("is are be named called".split())
_TIMES = frozenset(("before", "after", "then"))
_NEED = vocabulary.root("need")


class Thing(NamedTuple):
    """Something that a part of a sentence is about."""

    name: str
    kind: str
    """`word`, `when`, or what kind of name or value it is."""
    after: str
    """The preposition or verb that it follows."""


class Part(NamedTuple):
    things: tuple[Thing, ...]
    wanted: bool
    may: bool
    """It allows something, and orders nothing."""
    doing: frozenset[int] = frozenset()
    """What is done, if it is no more than using, putting, needing."""
    context: frozenset[str] = frozenset()
    """What the part beside it says of where or when, if this one is held against it."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(thing.name for thing in self.things)


def parts(sentence: str) -> tuple[Part, ...]:
    text = normalize("NFKC", sentence).replace("’", "'")
    is_english = not marks(CODE.sub(" ", sentence)) and foreign.SIGNS.isdisjoint(text.casefold().split())
    if not is_english and _WITHOUT_SPACES.search(text):
        return (_unspaced(text),)
    found: list[Part] = []
    for run in runs(text, is_english):
        part = _Reading(run, is_english).part()
        if part.things or not part.wanted:
            _put(found, run, part)
    return tuple(part for part in found if part.things)


def _put(found: list[Part], run: Run, part: Part) -> None:
    """Beside the parts before it, or as the rest of one of them."""
    before = found[-1] if found else None
    if before is None or run.joint in ";.":
        found.append(part)
    elif run.joint == INSTEAD or (run.is_aside and before.wanted and not part.wanted):
        found[-1:] = _contrasted(before, part)
    elif run.first in LEADS and part.wanted and any(one.wanted for one in found):
        at = max(at for at, one in enumerate(found) if one.wanted)
        found[at] = found[at]._replace(things=found[at].things + part.things)
    elif run.first == "without" or part.wanted == before.wanted or not (before.wanted or run.acts):
        # A list goes on until somebody does something.
        wanted = before.wanted != (run.first == "without")
        found[-1] = before._replace(things=before.things + part.things, wanted=wanted)
    else:
        found.append(part)


def _contrasted(before: Part, part: Part) -> tuple[Part, Part]:
    """`X instead of Y for Z`: Z is said of both."""
    own: list[Thing] = []
    shared: list[Thing] = []
    for at, thing in enumerate(part.things):
        (shared if at and (shared or thing.after in vocabulary.PREPOSITIONS) else own).append(thing)
    around = (*before.things[:-1], *shared)  # the last one is what it is held against
    context = frozenset(thing.name for thing in around if thing.after in vocabulary.PREPOSITIONS)
    against = Part(tuple(own), not before.wanted, before.may, before.doing, context - {thing.name for thing in own})
    return before._replace(things=before.things + tuple(shared)), against


class _Reading:
    """One run of tokens, read from its beginning to its end."""

    def __init__(self, run: Run, is_english: bool) -> None:
        self._tokens = run.tokens
        self._is_english = is_english
        self._wanted = run.joint != INSTEAD
        self._negated = self._needs = self._may = False
        self._after = ""
        self._things: list[Thing] = []
        self._plain: list[Thing] = []

    def part(self) -> Part:
        for at, token in enumerate(self._tokens):
            if token.kind == "word":
                self._word(token.text, at)
            elif token.kind in NAMES:
                unit = self._unit(at + 1) if token.kind == "number" else ""
                self._things.append(Thing(f"{_named(token)} {unit}".strip(), _kind(token), self._after))
        says_something = any(thing.kind != "when" for thing in self._things)
        wanted = self._wanted != self._negated
        doing = (vocabulary.DOING.get(thing.name) for thing in self._plain)
        return Part(
            tuple(self._things if says_something else self._plain),
            wanted,
            self._may if wanted else self._needs,  # `need not` allows, too
            frozenset(one for one in doing if one is not None),
        )

    def _unit(self, at: int) -> str:
        found = vocabulary.root(self._tokens[at].text) if at < len(self._tokens) else ""
        return found if found in vocabulary.UNITS else ""

    def _word(self, text: str, at: int) -> None:
        if not self._is_english and text in foreign.NEGATORS:
            self._negated = True  # one thing is often negated by two words: `ne … pas`
        elif self._negates(text, at):
            self._wanted, self._after = not self._wanted, text
            self._needs = self._needs or text == "optional"
        elif text in _TIMES:
            self._things.append(Thing(text, "when", ""))
            self._after = text
        elif text in vocabulary.PREPOSITIONS:
            self._after = text
        elif self._is_english and text in vocabulary.PERMITTING:
            self._may = True
        elif text in vocabulary.FILLERS or (not self._is_english and text in foreign.FILLERS):
            self._after = "be" if text in _IS else self._after
        elif not (at and self._tokens[at - 1].kind == "number" and self._unit(at)):
            self._thing(text, at)

    def _thing(self, text: str, at: int) -> None:
        name = vocabulary.NUMBERS.get(text) or (vocabulary.root(text) if self._is_english else _foreign_root(text))
        thing = Thing(name, "number" if text in vocabulary.NUMBERS else "word", self._after)
        numbered = at + 1 < len(self._tokens) and self._tokens[at + 1].kind == "number"
        is_plain = name in (vocabulary.PLAIN if self._is_english else foreign.PLAIN)
        is_plain = is_plain and not (text == "go" and numbered)  # the language
        self._needs = self._needs or name == _NEED
        (self._plain if is_plain else self._things).append(thing)
        if self._after not in LEADS or not is_plain:
            self._after = name if is_plain else "be" if text in _IS else ""

    def _negates(self, text: str, at: int) -> bool:
        if not self._is_english:
            return text in foreign.WITHOUT
        following = self._tokens[at + 1].text if at + 1 < len(self._tokens) else ""
        if text in vocabulary.STOPPING:
            return following.endswith("ing")
        return text in vocabulary.NEGATORS or vocabulary.root(text) in vocabulary.NEGATING_VERBS


def _named(token: Token) -> str:
    name = token.text.strip().rstrip("/.").casefold()
    if token.kind == "number":
        return name.lstrip(":v")
    if token.kind == "code" and name.isalpha():
        return vocabulary.root(name)
    return " ".join(name.split()) or token.text


def _kind(token: Token) -> str:
    """A command in quotes is one; a name in quotes is what it would be without."""
    if token.kind != "code" or " " in token.text:
        return token.kind
    match = TOKEN.fullmatch(token.text)
    return match.lastgroup if match and match.lastgroup in NAMES else "code"


@lru_cache(maxsize=1 << 12)
def _foreign_root(word: str) -> str:
    """Verbs change their ends with mood and person; what is left tells them apart well enough."""
    word = normalize("NFC", _ACCENTS.sub("", normalize("NFD", word)))
    bare = word[2:] if word.startswith("ge") and word.endswith(("t", "en")) and len(word) > 6 else word
    for ending in foreign.ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= (2 if bare.startswith("us") else 3):
            return bare[: -len(ending)]
    return bare


def _unspaced(text: str) -> Part:
    wanted = True
    for pattern, negates in _UNSPACED:
        text, count = pattern.subn("", text)
        wanted ^= bool(count and negates)
    things: list[Thing] = []
    for match in _UNSPACED_RUN.finditer(text):
        run = match[0]
        if _WITHOUT_SPACES.match(run):
            things += [Thing(run[at : at + 2], "word", "") for at in range(max(1, len(run) - 1))]
        else:
            things.append(Thing(run.strip("`").casefold(), "number" if run.isdigit() else "name", ""))
    return Part(tuple(things), wanted, may=False)
