"""What stood in a session that neither the user nor the agent said, and which sentences repeat it or draw on it.

All sentences are looked for at once, word by word, in each text once: the time grows with the session's length alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from hardwon import former
from hardwon.failures.shell import commands
from hardwon.model.session import Origin, Session
from hardwon.text import fence
from hardwon.text.comparable import comparable
from hardwon.text.words import terms

_OWN_NAMES = ("hardwon", former.NAME)
_WORDS_IN_A_RUN = 4
"""Words in a row that are not the same by chance."""
_MAX_WORDS_OF_A_NAME = 12
_SHARE_OF_RUNS_THAT_REPEATS = 0.5
_SHARE_OF_TERMS_THAT_REPEATS = 0.8
_WORD = re.compile(r"\w+")
_NAMED = re.compile(
    r"`([^`\s][^`]*)`|(https?://\S+)|((?<![\w-])--[a-z][\w-]+)|(\b[\w.-]+@[\w.-]+\b)|((?:[\w.-]+/)+[\w.-]+)",
    re.IGNORECASE,
)
_TO_BE_TYPED = re.compile(
    r"`[^`\s]+[ \t]+[^`]+`|\w+://[^\s`\"'<>)]+|\b[\w.-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/|"
    r"\b(?:curl|wget|npx|uvx|pipx|(?:pip3?|npm|pnpm|yarn|bun|cargo|brew|go|gem|apt|apt-get|uv)[ \t]+(?:\w+[ \t]+)?"
    r"(?:install|add|get|i|tap|run|exec))[ \t]+\S+",
    re.IGNORECASE,
)
"""A command, or a host: what a person must have typed before a sentence about it is believed."""

Run = tuple[str, ...]


class Piece(NamedTuple):
    message: int
    is_beside: bool
    """In the same message as what was typed there, and so before it as well."""
    origin: Origin
    is_own: bool
    """It holds a briefing of ours."""


class _Wanted(NamedTuple):
    """What of a sentence is looked for."""

    runs: frozenset[Run]
    names: frozenset[Run]
    terms: frozenset[str]


class Heard:
    """The texts of a session, searched for some sentences of it."""

    def __init__(self, session: Session, sentences: Iterable[str], claims: Collection[str] = ()) -> None:
        """Claims are those of the sentences that may only draw on what was heard, too, which costs more to find."""
        self._wanted = {sentence: _wanted(sentence, is_claim=sentence in claims) for sentence in set(sentences)}
        self._typed = {
            index: _words(message.text) for index, message in enumerate(session.messages) if message.origin == "user"
        }
        self._repeated: defaultdict[str, list[Piece]] = defaultdict(list)
        self._named: defaultdict[Run, list[Piece]] = defaultdict(list)
        self._rephrased: defaultdict[str, list[Piece]] = defaultdict(list)
        self._search(session)

    def repeated(self, sentence: str, index: int) -> Piece | None:
        """What stood before message `index`, and half of the sentence's runs of words in it."""
        return _first(self._repeated[sentence], index)

    def drawn_on(self, sentence: str, index: int) -> Piece | None:
        """What stood before, and names what the sentence names and the user did not, or has most of its words."""
        names = [name for name in self._wanted[sentence].names if not self._was_typed(name, index)]
        found = [piece for name in names if (piece := _first(self._named[name], index))]
        found += [piece] if (piece := _first(self._rephrased[sentence], index)) else []
        return min(found, key=lambda piece: piece.message) if found else None

    def names_what_nobody_typed(self, sentence: str, index: int) -> bool:
        """Whether it tells of a command or a host that the user has not written by then."""
        told = (_words(found[0]) for found in _TO_BE_TYPED.finditer(sentence))
        return any(not self._was_typed(words, index) for words in told)

    def _was_typed(self, name: Run, index: int) -> bool:
        return any(_holds(words, name) for at, words in self._typed.items() if at <= index)

    def _search(self, session: Session) -> None:
        by_run: defaultdict[Run, list[str]] = defaultdict(list)
        by_term: defaultdict[str, list[str]] = defaultdict(list)
        for sentence, wanted in self._wanted.items():
            for run in wanted.runs:
                by_run[run].append(sentence)
            for term in wanted.terms:
                by_term[term].append(sentence)
        names = frozenset().union(*(wanted.names for wanted in self._wanted.values()))
        sought = by_run.keys() | names
        firsts, lengths = {run[0] for run in sought}, sorted({len(run) for run in sought})
        for piece, text in _pieces(session):
            words = _words(text)
            found = {
                run
                for at, word in enumerate(words)
                if word in firsts
                for length in lengths
                if (run := words[at : at + length]) in sought
            }
            for run in found & names:
                self._named[run].append(piece)
            shared = Counter(sentence for run in found if run in by_run for sentence in by_run[run])
            for sentence, count in shared.items():
                if count >= max(1, _SHARE_OF_RUNS_THAT_REPEATS * len(self._wanted[sentence].runs)):
                    self._repeated[sentence].append(piece)
            said = set(terms(" ".join(set(words)))) if by_term else set()
            alike = Counter(sentence for term in said if term in by_term for sentence in by_term[term])
            for sentence, count in alike.items():
                if count >= _SHARE_OF_TERMS_THAT_REPEATS * len(self._wanted[sentence].terms):
                    self._rephrased[sentence].append(piece)


def _wanted(sentence: str, *, is_claim: bool) -> _Wanted:
    words = _words(sentence)
    ends = range(min(len(words), _WORDS_IN_A_RUN), len(words) + 1) if words else ()
    runs = frozenset(words[max(0, end - _WORDS_IN_A_RUN) : end] for end in ends)
    if not is_claim:
        return _Wanted(runs, frozenset(), frozenset())
    named = (_words(next(filter(None, found)))[:_MAX_WORDS_OF_A_NAME] for found in _NAMED.findall(sentence))
    return _Wanted(runs, frozenset(filter(None, named)), frozenset(terms(comparable(sentence))))


def _words(text: str) -> Run:
    return tuple(_WORD.findall(comparable(text)))


def _holds(words: Run, run: Run) -> bool:
    return any(words[at : at + len(run)] == run for at, word in enumerate(words) if word == run[0]) if run else True


def _first(pieces: list[Piece], index: int) -> Piece | None:
    return next((one for one in pieces if one.message < index or (one.is_beside and one.message == index)), None)


def _pieces(session: Session) -> Iterator[tuple[Piece, str]]:
    """Everything that neither the user nor the agent said."""
    own = {call.id for message in session.messages for call in message.calls if _is_own(call.command)}
    for index, message in enumerate(session.messages):
        for part in message.beside:
            yield Piece(index, True, part.origin, _holds_our_tag(part.text)), part.text
        if message.text and message.origin not in ("user", "agent"):
            yield Piece(index, False, message.origin, _holds_our_tag(message.text)), message.text
        for result in message.results:
            if result.text and result.evidence != "rejected":
                is_own = result.call_id in own or fence.is_in(result.text)
                origin: Origin = "injected" if is_own else result.origin
                yield Piece(index, False, origin, _holds_our_tag(result.text)), result.text


def _holds_our_tag(text: str) -> bool:
    return any(tag in text for tag in fence.TAGS)


@lru_cache(maxsize=256)
def _is_own(command: str) -> bool:
    return any(name in command for name in _OWN_NAMES) and any(
        one.program.startswith(_OWN_NAMES) for one in commands(command)
    )
