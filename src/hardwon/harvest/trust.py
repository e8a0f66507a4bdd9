"""Whose words a draft is made of, what it may become, and what is not worth keeping."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from msgspec.structs import replace

from hardwon import home
from hardwon.failures.provenance import comparable
from hardwon.failures.shell import commands
from hardwon.failures.tools import danger
from hardwon.harvest.rules.sentences import LONGEST_SENTENCE, is_of_a_length, specific
from hardwon.model.lesson import Draft, Kind, Status, Trust
from hardwon.model.session import Message, Origin, Session
from hardwon.store.sessions import Said
from hardwon.text import shown
from hardwon.text.normalise import lazy_pattern
from hardwon.text.words import language, language_of_prose, terms

# Whose words they are: a sentence or command that repeats what a tool, a page or a file said is theirs.
# An agent reads a page and says the same in its own message, or runs what the page proposed: that is no second
# source. The check looks back only, at what stood in the session before.

TYPED_CHARACTERS = 2_500
"""A longer message is a document: what of it are the user's own words cannot be told."""
FENCED = lazy_pattern(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_KEEP_REFUSALS_APART = frozenset(("openhands", "copilot-cli", "aider"))


def with_origins(session: Session, drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts from words, each with the origin of the words; drafts from what was measured as they are."""
    return with_origins_and_typed(session, drafts, ())[0]


def with_origins_and_typed(
    session: Session, drafts: Iterable[Draft], said: Sequence[Said]
) -> tuple[list[Draft], list[Said]]:
    """The same, and those of a person's sentences that repeat nothing which stood in the session before.

    A paste is not said. Together, for every text of a session is looked through.
    """
    found = list(drafts)
    worded = [draft for draft in found if _from_words(draft)]
    if not worded and not said:
        return found, []
    chosen = {index for index, message in enumerate(session.messages) if _holds_answers(message)}
    claims = {part for draft in worded if _is_claim(draft, chosen) for part in _quoted(draft, chosen)}
    quotes = {draft.source.quote for draft in worded}.union(one.quote for one in said)
    last = max((*(draft.source.message_index for draft in worded), *(one.message_index for one in said)))
    heard = Heard(session, claims | quotes, claims, last)
    doubtful = _may_be_forged(session)
    judged = [
        _forged(draft)
        if draft.source.message_index in doubtful and draft.source.origin == "user" and not draft.dropped
        else _with_origin(draft, heard, chosen)
        if _from_words(draft)
        else draft
        for draft in found
    ]
    typed = [
        one
        for one in said
        if one.message_index not in doubtful and heard.repeated(one.quote, one.message_index) is None
    ]
    return judged, typed


def found_by_agent(session: Session, said: Sequence[tuple[str, int]], is_own: Callable[[str, int], bool]) -> list[bool]:
    """Of sentences of the agent, with the messages they stand in: whether it put them so itself.

    It may speak of what it read; it may not repeat it, restate it, translate it, or name a command or a host that
    nobody typed and that is not its own.
    """
    sentences = {sentence for sentence, _ in said}
    heard = Heard(session, sentences, sentences, max((index for _, index in said), default=0), any_language=True)
    return [
        heard.repeated(sentence, index) is None
        and not heard.restated(sentence, index)
        and not heard.translated(sentence, index)
        and all(is_own(name, index) for name in heard.named_and_not_typed(sentence, index))
        for sentence, index in said
    ]


def first_said(session: Session, wanted: frozenset[str], last: int) -> tuple[frozenset[str], frozenset[str]]:
    """Of words and names: what the user typed, or the agent said or did before it can have read it; and what it read.

    Up to a message. A name is found as it is written, a word by its terms.
    """
    names = {name: name.lower() for name in wanted if not name.isalnum() or name != name.lower()}
    words = wanted - names.keys()
    said: set[str] = set()
    heard: set[str] = set()
    for message in session.messages[: last + 1]:
        if _is_typed(message):
            said |= _present(FENCED.sub("\n", message.text), words, names)
    for message in session.messages[: last + 1]:
        read = [part.text for part in message.beside]
        read += [message.text] if message.origin != "agent" and not _is_typed(message) else []
        for text in filter(None, read):
            heard |= _present(text, words, names) - said
        own = message.text if message.origin == "agent" else ""
        done = (f"{call.command} {call.target} {call.detail}" for call in message.calls)
        said |= _present(" ".join((own, *done)), words, names) - heard
        edited = " ".join(file for call in message.calls if call.action == "edit" for file in call.files)
        said |= _present(edited, frozenset(), names)  # a file that it worked on, wherever it had the name from
        for result in message.results:
            if result.text and result.evidence != "rejected":
                heard |= _present(result.text, words, names) - said
    return frozenset(said), frozenset(heard)


def _is_typed(message: Message) -> bool:
    return message.origin == "user" and len(FENCED.sub("", message.text)) <= TYPED_CHARACTERS


def _present(text: str, words: frozenset[str], names: dict[str, str]) -> frozenset[str]:
    if not text:
        return frozenset()
    lower = comparable(text).lower() if names else ""
    found = {name for name, written in names.items() if written in lower}
    present = frozenset(_words(text))
    return words.intersection(present.union(chain.from_iterable(map(_terms, present)))).union(found)


def _may_be_forged(session: Session) -> set[int]:
    """Messages whose words in the user's name may be the output of what was called: its reader says so, or it is a
    refusal.

    A format that keeps refusals apart, a header before every output of a failed command, and tools whose errors are
    fixed words leave no room for that.
    """
    unsure = {index for index, message in enumerate(session.messages) if message.unsure}
    if session.format in _KEEP_REFUSALS_APART:
        return unsure
    results = [result for message in session.messages for result in message.results]
    tells_exit_codes = any(result.exit_code for result in results)
    anything = ("other", "web") if tells_exit_codes else ("other", "web", "run")
    open_ended = {call.id for message in session.messages for call in message.calls if call.action in anything}
    return unsure | {
        index
        for index, message in enumerate(session.messages)
        if any(result.evidence == "rejected" and result.call_id in open_ended for result in message.results)
    }


def _forged(draft: Draft) -> Draft:
    reason = draft.untrusted or "may be what a tool said, and not the user"
    return replace(draft, untrusted=reason, source=replace(draft.source, origin="unsure"))


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
    if source.origin == "injected" and not source.is_own and not heard.restates(quote, index):
        return replace(draft, untrusted=draft.untrusted or "names what the prompt names")
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
    ("unsure", "stated"): _WAITS,
    ("unsure", "measured"): _WAITS,
    ("unsure", "doubtful"): _WAITS,
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


_CODE = lazy_pattern(r"`[^`]*`|--[\w-]+")
_WARNS = lazy_pattern(r"\b(?:never|don't|do not|not|no|avoid|without|stop|must not|mustn't)\b", re.IGNORECASE)


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
_NAMES_SOMETHING = lazy_pattern(r"`[^`]+`")
_TELLS_WHAT_TO_DO = lazy_pattern(
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


# What stood in a session that neither the user nor the agent said, and which sentences repeat it or draw on it.
#
# All sentences are looked for at once, word by word, in each text once: the time grows with the session's length alone.

_OWN_NAMES = ("hardwon", home.FORMER_NAME)
_WORDS_IN_A_RUN = 4
"""Words in a row that are not the same by chance."""
_MAX_WORDS_OF_A_NAME = 12
_LETTERS_OF_A_NAME = 4
_SHARE_OF_RUNS_THAT_REPEATS = 0.5
_SHARE_OF_TERMS_THAT_REPEATS = 0.8
_SHARE_IN_ONE_PLACE = 0.6
_WORDS_OF_ONE_PLACE = 30
"""So many of a sentence's terms, so close to each other in what an agent read, are what it restates."""
_WORD = lazy_pattern(r"\w+")
_APART = bytes(code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(256))
_NAMED = lazy_pattern(
    r"`([^`\s][^`]*)`|(https?://\S+)|((?<![\w-])--[a-z][\w-]+)|(\b[\w.-]+@[\w.-]+\b)|((?:[\w.-]+/)+[\w.-]+)",
    re.IGNORECASE,
)
_TOP_LEVEL = "com|org|net|io|dev|app|ai|cloud|co|uk|de|fr|eu|us|ru|cn|info|xyz|site|online|example"
_HOST_OR_INSTALLER = (
    r"\w+://[^\s`\"'<>)]+|\b[\w.-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/|"
    rf"\b(?:[\w-]+\.)+(?:{_TOP_LEVEL})\b(?!\.\w)|"
    r"(?<![\w-])--[a-z][\w-]+|"
    r"\b(?:curl|wget|npx|uvx|pipx|(?:pip3?|npm|pnpm|yarn|bun|cargo|brew|go|gem|apt|apt-get|uv)[ \t]+(?:\w+[ \t]+)?"
    r"(?:install|add|get|i|tap|run|exec))[ \t]+\S+"
)
_SPELLED_DOT = re.compile(
    r"(?<=[\w-])\s*(?:\[\.\]|\(\.\)|[\[(]?\b(?:dot|punkt|point|punto|ponto|точка)\b[\])]?"
    r"|(?<=[A-Za-z0-9])点(?=\s*[A-Za-z0-9])|(?<=[A-Za-z0-9]\s)点(?=\s*[A-Za-z0-9]))\s*(?=\w)"
)
"""In a host that is spelled out, for who reads it and not for who looks for hosts."""
_SPELLED_HOST = lazy_pattern(rf"[\w-]+(?:{_SPELLED_DOT.pattern}[\w-]+)+", re.IGNORECASE)
_A_POINT = lazy_pattern(rf"^[\w-]+[ -](?:point|punto|ponto|punkt) (?!(?:{_TOP_LEVEL})\b)", re.IGNORECASE)
"""A word of every day, unless what follows ends a host: `floating-point precision`."""
_ADDRESS = lazy_pattern(r"\w+://\S+")
_HOST = lazy_pattern(_HOST_OR_INSTALLER, re.IGNORECASE)
_CODE_OR_HOST = lazy_pattern(rf"`[^`]*`|{_HOST_OR_INSTALLER}", re.IGNORECASE)
_IS_TO_BE_TYPED = lazy_pattern(rf"`[^`\s:]+[ \t]+[^`]+`|{_HOST_OR_INSTALLER}", re.IGNORECASE)
"""A command, or a host: what a person must have typed before a sentence about it is believed. `key: value` is none."""
_IS_CODE = lazy_pattern(
    r"`(?![$&])(?:[^`|;&]*\s(?:[=!]=+|=|=>|->)\s[^`|;&]*|[\[({\"'<][^`|;&]*|(?:[A-Z]\w*)(?:[ \t]+[A-Z]\w*)+|"
    r"(?:if|elif|for|while|def|class|return|raise|except|import|from|const|let|var|async|await|new|public|private|"
    r"static|function|func|fn|type|interface|enum|struct)[ \t][^`|;&]*)`"
)
"""An expression, a statement or a title: nobody runs it. With a pipe or a second command in it, somebody may."""

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

    def __init__(
        self,
        session: Session,
        sentences: Iterable[str],
        claims: Collection[str],
        last: int,
        *,
        any_language: bool = False,
    ) -> None:
        """Claims are those of the sentences that may only draw on what was heard, too, which costs more to find.

        `last` is the last message that one of them stands in: nothing behind it was heard before. Only with
        `any_language` is it seen what was `translated`.
        """
        self._wanted = {sentence: _wanted(sentence, is_claim=sentence in claims) for sentence in set(sentences)}
        self._said_by_user = [
            (index, message.text) for index, message in enumerate(session.messages) if message.origin == "user"
        ]
        self._repeated: defaultdict[str, list[Piece]] = defaultdict(list)
        self._named: defaultdict[Run, list[Piece]] = defaultdict(list)
        self._rephrased: defaultdict[str, list[Piece]] = defaultdict(list)
        self._close: defaultdict[str, list[Piece]] = defaultdict(list)
        self._foreign: defaultdict[str, defaultdict[str, list[Piece]]] = defaultdict(lambda: defaultdict(list))
        self._claims = {claim: _told_of(claim) for claim in claims} if any_language else {}
        self._told_of = frozenset().union(*(names for _, names in self._claims.values()))
        self._done_with = _first_deeds(session, self._told_of)
        self._search(session, last)

    def repeated(self, sentence: str, index: int) -> Piece | None:
        """What stood before message `index`, and half of the sentence's runs of words in it."""
        return _first(self._repeated[sentence], index)

    def drawn_on(self, sentence: str, index: int) -> Piece | None:
        """What stood before, and names what the sentence names and the user did not, or has most of its words."""
        names = [name for name in self._wanted[sentence].names if not self._was_typed(name, index)]
        found = [piece for name in names if (piece := _first(self._named[name], index))]
        found += [piece] if (piece := _first(self._rephrased[sentence], index)) else []
        return min(found, key=lambda piece: piece.message) if found else None

    def restates(self, sentence: str, index: int) -> bool:
        """Whether something that stood before says most of it, and does not only name what it names."""
        return _first([*self._repeated[sentence], *self._rephrased[sentence]], index) is not None

    def restated(self, sentence: str, index: int) -> bool:
        """Whether most of its words stand close together in something, or on a page, or in what a client put there."""
        pages = [piece for piece in self._rephrased[sentence] if piece.origin not in ("tool", "file")]
        return _first([*pages, *self._close[sentence]], index) is not None

    def translated(self, sentence: str, index: int) -> bool:
        """Whether a line in another language speaks of something that it speaks of, and neither user nor agent had."""
        first = {name: piece for name, pieces in self._foreign[sentence].items() if (piece := _first(pieces, index))}
        return any(
            self._done_with.get(name, index) >= piece.message and not self._was_typed((name,), index)
            for name, piece in first.items()
        )

    def names_what_nobody_typed(self, sentence: str, index: int) -> bool:
        """Whether it tells of a command or a host that the user has not written by then."""
        return bool(self.named_and_not_typed(sentence, index))

    def named_and_not_typed(self, sentence: str, index: int) -> list[str]:
        """The commands and hosts of it that the user has not written by then."""
        return [name for name in to_be_typed(sentence) if not self._was_typed(_words(name), index)]

    def _was_typed(self, name: Run, index: int) -> bool:
        wanted = _in_a_row(name)
        return any(wanted in words for at, words in self._typed if at <= index)

    @cached_property
    def _typed(self) -> list[tuple[int, str]]:
        return [(index, _in_a_row(_words(text))) for index, text in self._said_by_user]

    def _search(self, session: Session, last: int) -> None:
        by_run: defaultdict[Run, list[str]] = defaultdict(list)
        by_term: defaultdict[str, list[str]] = defaultdict(list)
        for sentence, wanted in self._wanted.items():
            for run in wanted.runs:
                by_run[run].append(sentence)
            for term in wanted.terms:
                by_term[term].append(sentence)
        names = frozenset().union(*(wanted.names for wanted in self._wanted.values()))
        enough = {sentence: _SHARE_IN_ONE_PLACE * len(wanted.terms) for sentence, wanted in self._wanted.items()}
        sought = _Sought(by_run.keys() | names)
        told: dict[str, set[str]] = {}
        """Word → its terms that are looked for; of most, none."""
        seen: set[str] = set()
        for piece, text in _pieces(session, last):
            words = _words(text)
            present = frozenset(words)
            found = sought.among(words, present)
            for run in found & names:
                self._named[run].append(piece)
            shared = Counter(sentence for run in found if run in by_run for sentence in by_run[run])
            for sentence, count in shared.items():
                if count >= max(1, _SHARE_OF_RUNS_THAT_REPEATS * len(self._wanted[sentence].runs)):
                    self._repeated[sentence].append(piece)
            self._look_for_translations(piece, text, present)
            if not by_term:  # nobody claims anything, as mostly
                continue
            for word in present - seen:
                if not by_term.keys().isdisjoint(several := _terms(word)):
                    told[word] = by_term.keys() & several
            seen |= present
            said = set[str]().union(*map(told.__getitem__, told.keys() & present))
            alike = Counter(chain.from_iterable(map(by_term.__getitem__, said)))
            restated = {
                sentence: self._wanted[sentence].terms for sentence, count in alike.items() if count >= enough[sentence]
            }
            for sentence, own in restated.items():
                if alike[sentence] >= _SHARE_OF_TERMS_THAT_REPEATS * len(own):
                    self._rephrased[sentence].append(piece)
            for sentence in _standing_close(words, restated):
                self._close[sentence].append(piece)

    def _look_for_translations(self, piece: Piece, text: str, present: frozenset[str]) -> None:
        sought = present & self._told_of
        for line in comparable(text).splitlines() if sought else ():
            in_line = _WORD.findall(line)
            shared = sought.intersection(in_line)
            spoken = language_of_prose(in_line) if shared else ""
            for sentence, (own, told_of) in self._claims.items() if spoken else ():
                if own != spoken:
                    for name in shared & told_of:
                        self._foreign[sentence][name].append(piece)


def to_be_typed(sentence: str) -> list[str]:
    """The commands and hosts that a sentence names, those that are spelled out as well."""
    told = [
        found[0]
        for found in _CODE_OR_HOST.finditer(sentence)
        if _IS_TO_BE_TYPED.search(found[0]) and not (_IS_CODE.fullmatch(found[0]) and not _HOST.search(found[0]))
    ]
    spelled = (found[0] for found in _SPELLED_HOST.finditer(sentence) if not _A_POINT.match(found[0]))
    return told + [_SPELLED_DOT.sub(".", host) for host in spelled]


class _Sought:
    """Runs of words that are looked for in many texts."""

    def __init__(self, runs: Collection[Run]) -> None:
        self._runs = runs
        self._lengths = sorted({len(run) for run in runs})
        self._by_first: defaultdict[str, list[Run]] = defaultdict(list)
        for run in runs:
            self._by_first[run[0]].append(run)

    def among(self, words: Run, present: frozenset[str]) -> set[Run]:
        """Those that stand in a text of these words."""
        firsts = self._by_first.keys() & present
        if sum(len(self._by_first[first]) for first in firsts) < len(words):  # else to go through the text costs less
            firsts = {first for first in firsts if any(map(present.issuperset, self._by_first[first]))}
        if not firsts:
            return set()
        return {
            run
            for at, word in enumerate(words)
            if word in firsts
            for length in self._lengths
            if (run := words[at : at + length]) in self._runs
        }


def _standing_close(words: Run, sentences: dict[str, frozenset[str]]) -> Iterator[str]:
    """Those of which enough terms stand within a few words of each other."""
    if not sentences:
        return
    of_word = {word: found[0] for word in set(words) if (found := _terms(word))}
    placed = [(at, of_word[word]) for at, word in enumerate(words) if word in of_word]
    for sentence, wanted in sentences.items():
        near: deque[tuple[int, str]] = deque()
        for at, term in placed:
            if term not in wanted:
                continue
            near.append((at, term))
            while near[0][0] < at - _WORDS_OF_ONE_PLACE:
                near.popleft()
            if len({one for _, one in near}) >= _SHARE_IN_ONE_PLACE * len(wanted):
                yield sentence
                break


def _wanted(sentence: str, *, is_claim: bool) -> _Wanted:
    words = _words(sentence)
    ends = range(min(len(words), _WORDS_IN_A_RUN), len(words) + 1) if words else ()
    runs = frozenset(words[max(0, end - _WORDS_IN_A_RUN) : end] for end in ends)
    if not is_claim:
        return _Wanted(runs, frozenset(), frozenset())
    named = (_words(next(filter(None, found)))[:_MAX_WORDS_OF_A_NAME] for found in _NAMED.findall(sentence))
    return _Wanted(runs, frozenset(filter(None, named)), frozenset(terms(comparable(sentence))))


def _first_deeds(session: Session, names: frozenset[str]) -> dict[str, int]:
    """The messages in which the agent first ran or wrote something with each name: what it read later is no source."""
    found: dict[str, int] = {}
    for index, message in enumerate(session.messages if names else ()):
        for call in message.calls:
            if call.action in ("run", "edit"):
                for name in names.intersection(
                    _words(_ADDRESS.sub(" ", f"{call.command} {call.target} {call.detail}"))
                ):
                    found.setdefault(name, index)
    return found


def _told_of(claim: str) -> tuple[str, frozenset[str]]:
    """The language of a claim, and the words of it that may be names in any language."""
    words = _words(claim)
    return language(words) or "en", frozenset(word for word in words if len(word) >= _LETTERS_OF_A_NAME)


def _words(text: str) -> Run:
    text = comparable(text)
    if text.isascii() or not any(map(_is_of_a_word, set(shown.beyond_ascii(text)))):
        # A sign that is none of a word parts two. Ten times as fast as the pattern.
        return tuple(text.encode("ascii", "replace").translate(_APART).decode("ascii").split())
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=1 << 12)
def _is_of_a_word(sign: str) -> bool:
    return _WORD.match(sign) is not None


@lru_cache(maxsize=1 << 15)
def _terms(word: str) -> tuple[str, ...]:
    return tuple(terms(word))


def _in_a_row(words: Run) -> str:
    return f" {' '.join(words)} " if words else ""


def _first(pieces: list[Piece], index: int) -> Piece | None:
    return next((one for one in pieces if one.message < index or (one.is_beside and one.message == index)), None)


def _pieces(session: Session, last: int) -> Iterator[tuple[Piece, str]]:
    """Everything that neither the user nor the agent said, up to a message."""
    own = {call.id for message in session.messages for call in message.calls if _is_own(call.command)}
    for index, message in enumerate(session.messages[: last + 1]):
        for part in message.beside:
            yield Piece(index, True, part.origin, _holds_our_tag(part.text)), part.text
        if message.text and message.origin not in ("user", "agent"):
            yield Piece(index, False, message.origin, _holds_our_tag(message.text)), message.text
        for result in message.results:
            if result.text and result.evidence != "rejected":
                is_own = result.call_id in own or shown.is_in(result.text)
                origin: Origin = "injected" if is_own else result.origin
                yield Piece(index, False, origin, _holds_our_tag(result.text)), result.text


def _holds_our_tag(text: str) -> bool:
    return any(tag in text for tag in shown.TAGS)


@lru_cache(maxsize=256)
def _is_own(command: str) -> bool:
    return any(name in command for name in _OWN_NAMES) and any(
        one.program.startswith(_OWN_NAMES) for one in commands(command)
    )
