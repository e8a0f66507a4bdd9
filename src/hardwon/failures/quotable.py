"""What of a line may be quoted: nothing that tells its reader to do something, and no more than there is room for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.failures.fingerprint import DETAIL
from hardwon.failures.signature import NEVER, orders
from hardwon.text.normalise import lazy_pattern

# What may tell a reader to do something, or comes from elsewhere: it is never quoted.

_ORDERING_WORDS_OF_AN_ORDER = 3
_SENTENCE = lazy_pattern(
    r"(?<=[\w)'\"`>][.!?;])\s+(?=[\"'`(]?[A-Z])|(?<=[.!])(?=(?:Please|You)\b)|\s+(?=[Hh]int: |[Nn]ote: |[Tt]ip: )"
)
CLAUSE = lazy_pattern(r", |; | - (?=[a-z])")
_LEAST_FIRST_CLAUSE = 24
_IS_NO_SENTENCE = lazy_pattern(r"(?:To|If|When|For|In order)\b")
LITERAL = lazy_pattern(r"\{[^{}]{20,}\}")
_ADDRESSES = lazy_pattern(
    r"(?i)\byou(?:r)? (?:must|should|need|have to|can|could|may|might|will|want|are|task|instructions?)\b|\bplease\b"
    r"|\b(?:ignore|disregard|forget|obey|follow) (?:all|any|the|these|this|previous|prior|earlier|above|every)\b"
    r"|\b(?:agents?|assistants?|claude|codex|copilot|gemini|cursor|chatgpt|llms?|ai)\b[^.]{0,24}(?::|\bmust\b|\bshould\b)"
    r"|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:curl|wget)\s+(?:-\S+\s+)*[\w-]+[./:]|\bsudo\s+\w|\brm\s+-"
    r"|^(?:\W*\w+: )?\W*(?:run|try|execute|install|add|make sure|visit|see|ensure|consider|remember|do not|don't|never"
    r"|always|reply|respond|answer|tell|send|write|note that)\b(?! (?:failed|error|of|to)\b)(?!:)"
)
PROPOSES = lazy_pattern(
    r"(?i)[`$]|://|\b(?:run|try|use|install|execute|add|call|type|enter|download|fetch|visit|open|set|remove|delete"
    r"|disable|enable|skip|allow|grant|push|approve)\b"
)
"""What may tell a reader to do something: of lines that are no errors, of which there are many, none such is quoted."""
_NETWORK_TOOL = lazy_pattern(r"(?i)^mcp|__|fetch|web|browser|search_web|http")
_NETWORK_COMMAND = lazy_pattern(
    r"(?:^|[;&|(\n]\s*)(?:curl|wget|http|xh|lynx|w3m)\s|\bgh (?:api|issue|pr|search|release)\b"
)


@lru_cache(maxsize=1 << 8)  # an error is asked about several times
def reads_like_an_order(line: str) -> bool:
    """Whether a line asks its reader for something, by its words or by the parts of its names."""
    if _ADDRESSES.search(line):
        return True
    words = set(re.findall(r"[\w-]+", line.lower()))
    return len(words & NEVER) >= _ORDERING_WORDS_OF_AN_ORDER or any(
        orders(word) for word in words if "_" in word or "-" in word
    )


def from_elsewhere(tool: str, command: str) -> bool:
    """A page, a server's answer or another program's tool: never quoted."""
    return (
        _NETWORK_TOOL.search(tool) is not None
        if not command or command == tool
        else bool(_NETWORK_COMMAND.search(command))
    )


def own_sentence(line: str) -> str:
    """Up to the sentence that speaks to a reader, and of that the clauses before the one that does."""
    said: list[str] = []
    for at, sentence in enumerate(_SENTENCE.split(line)):
        if reads_like_an_order(sentence):
            return " ".join(" ".join((*said, _own_clauses(sentence) or ("" if at else sentence))).split())
        said.append(sentence)
    return " ".join(" ".join(said).split())


def _own_clauses(sentence: str) -> str:
    """The beginning of a sentence that ends in an order; empty where nothing of it stands alone."""
    ends = [found.start() for found in CLAUSE.finditer(sentence)]
    heads = (sentence[:end] for end in reversed(ends))
    own = (head for head in heads if not any(map(reads_like_an_order, (head, *CLAUSE.split(head)))))
    return next((head for head in own if len(head) >= _LEAST_FIRST_CLAUSE and not _IS_NO_SENTENCE.match(head)), "")


# As much of a line that is too long as there is room for.

MAX_ERROR_CHARACTERS = 160
_LEAST_DETAIL_CHARACTERS = 24
_COMPARES = lazy_pattern(
    r"(?P<head>.*?)(?: = | ?\bgot:? )(?P<got>.+), (?:want|expected):? (?P<want>.+)"
    r"|(?P<what>.*?) ?Expected: ?<(?P<expected>.*?)>\. Actual: ?<(?P<actual>.*?)>\.? ?(?P<why>.*)"
)
"""A test's own words for two values."""
_MATCHED = lazy_pattern(
    r"^(?:error: )?expect\(.*?\)\.((?:(?:not|resolves|rejects)\.)*to\w+|(?:\w+\.)*\w+(?=\(\w*\)))\(.*\)$"
)
TOKEN = lazy_pattern(r"[^\s,;:()\[\]{}<>]+")


class Told(NamedTuple):
    """What an error says: its message, what it says on lines of their own below, and where it happened."""

    message: str
    details: tuple[str, ...] = ()
    place: str = ""
    is_test: bool = False
    """A test's name says more than the end of a long message."""


def unquoted(text: str) -> str:
    return text.strip("\"'`")


def placed(told: Told) -> str:
    """All of it, if there is room; else the first way to say less that fits with every name whole."""
    place = told.place if not told.is_test else cut(told.place, MAX_ERROR_CHARACTERS // 2 + 16)
    if place.endswith(":"):
        return f"{place} {told.message.lstrip('* ')}"[:MAX_ERROR_CHARACTERS]  # the heading of a list
    room = MAX_ERROR_CHARACTERS - (len(place) + 3 if told.is_test and place else 0)
    if len(told.message) > room and not told.details and (values := _COMPARES.fullmatch(told.message)):
        told = _of_two_values(told, values.groupdict(""), room)
    short = _MATCHED.sub(r"\1", told.message)
    ways = (with_details(told.message, told.details), with_details(short, told.details))
    line = next((way for way in ways if len(way) <= room), "")
    if not line:
        line = cut(_reduced(with_details(short, _within(told.details, room - len(short) - 2)), room), room)
    return f"{line} ({place})" if place and len(line) + len(place) + 3 <= MAX_ERROR_CHARACTERS else line


def _of_two_values(told: Told, said: dict[str, str], room: int) -> Told:
    """What a test compares, as parts: each value has its share of the room, and what the test says of it the rest."""
    if said["want"]:
        return told._replace(message=said["head"], details=(f"got: {said['got']}", f"want: {said['want']}"))
    message = f"{said['what']} {said['why'].lstrip('. ')}".strip()
    fits = len(message) + 2 * (_LEAST_DETAIL_CHARACTERS + 2) <= room
    details = f"Expected: <{said['expected']}>", f"Actual: <{said['actual']}>"
    return told._replace(message=message if fits else said["what"], details=details)


def with_details(message: str, details: Sequence[str]) -> str:
    said = [one.removeprefix(f"{DETAIL}: ") for one in details]
    return f"{message.rstrip('.:')}: {', '.join(said)}" if said else message


def _within(details: Sequence[str], room: int) -> list[str]:
    """What was expected and what came, each cut to its share; where both begin alike, from where they differ."""
    if not details or len(", ".join(details)) <= room:
        return list(details)
    parted = [one.partition(": ") for one in details]
    alike = itertools.takewhile(lambda both: both[0] == both[-1], zip(*(value for _, _, value in parted), strict=False))
    same = "".join(both[0] for both in alike) if len(parted) > 1 else ""
    skipped = max(same.rfind(" "), same.rfind("\\n")) if len(same) > _LEAST_DETAIL_CHARACTERS else 0
    told = [f"{label}: {'…' + value[skipped:] if skipped > 0 else value}" for label, _, value in parted]
    shortest = min(map(len, told))
    whole = shortest if shortest + _LEAST_DETAIL_CHARACTERS + 2 <= room else room // len(told) - 1
    rest = max(_LEAST_DETAIL_CHARACTERS, room - whole - 2)
    return [cut(one, max(_LEAST_DETAIL_CHARACTERS, whole) if len(one) == shortest else rest) for one in told]


# What is left out of a line that is too long, one after the other until it fits.
_LEFT_OUT = (
    (lazy_pattern(r", (?:Culture|PublicKeyToken)=[^,'\"]*"), ""),
    (lazy_pattern(r"(['\"])([\w.]+)\1 with identity \1\2(?=,)"), r"\1\2"),
    (lazy_pattern(r"No overload matches this call[.:] (?=Argument of )"), ""),
    (lazy_pattern(r" and no accessible extension method '[^']*' accepting .*? could be found"), ""),
    (lazy_pattern(r" \(are you missing [^()]*\)$"), ""),
    (lazy_pattern(r" with working directory '[^']*'"), ""),
    (lazy_pattern(r" Exceeded retry count of \d+\. Failed\."), ""),
    (lazy_pattern(r"^(?:[A-Za-z]:)?[^:]*\.targets\(\d+,\d+\): (?:error )?"), ""),
    (lazy_pattern(r"(?<=\.)(\w{1,6})(?:\(\d+,\d+\)|:\d+:\d+)(?=:| -)"), r"\1"),
    (lazy_pattern(r"(?<=: )error (?=[A-Z]{2,8}\d{3,5}: )"), ""),
    (lazy_pattern(r" for improved performance\b| because it has no subtypes in its containing assembly\b"), ""),
)
# And where the last sentences are gone, too: name spaces, the inside of long quotes.
_SHORTENED = (
    (lazy_pattern(r"^(?:\S*proj|CSC) ?: (?=[A-Z]{2,8}\d{3,5}: )"), ""),
    (lazy_pattern(r"\{[^{}]{20,}\}"), "{…}"),
    (lazy_pattern(r"(?:(?<=['\"`<(\[])|\b(?=[\w.]+: ))(?:[A-Za-z_]\w*\.){2,}(?=[A-Z]\w*\b(?!\.[a-z]{1,6}\b))"), ""),
    (lazy_pattern(r"^(\S*?)\b(\w+)(\.\w+(?:\([\d,]+\))?: .*?['\"])\2\."), r"\1\2\3"),
    (lazy_pattern(r"(?<=\w)\([^()'\"]{8,}\)(?=['\"])"), "(…)"),
    (lazy_pattern(r"(?<=\w)<[^'\"]{12,}>(?=['\"?])"), "<…>"),
    (lazy_pattern(r"^…/(?=[^\\/:]+:)"), ""),
)
_NEXT_SENTENCE = lazy_pattern(r"(?<=[\w)'\"`>][.!?])\s+(?=[\"'`(]?[A-Z])")
_LEAST_FIRST_SENTENCE = 40


def _reduced(line: str, room: int) -> str:
    """Asides and folders first, then the last sentences, then the inside of names and quotes."""
    line = _with_shorter_paths(_left(line, room, _LEFT_OUT), room)
    while len(line) > room and len(sentences := _NEXT_SENTENCE.split(line)) > 1:
        shorter = line[: line.rindex(sentences[-1])].rstrip()
        if len(shorter) < _LEAST_FIRST_SENTENCE:
            break
        line = shorter
    return _left(line, room, _SHORTENED)


def _left(line: str, room: int, parts: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, left in parts:
        if len(line) <= room:
            break
        shorter = pattern.sub(left, line)
        before, after = TOKEN.findall(line), TOKEN.findall(shorter)
        if len(after) < len(before) or len(set(map(unquoted, after))) == len(set(map(unquoted, before))):
            line = shorter  # unless two names that differ would then be the same
    return line


_PATH = lazy_pattern(
    r"(?<![\w<>/\\])(?:[A-Za-z]:[\\/]|[.~…]{0,2}/)?(?:[\w.@+~#-]{2,}(?:/|\\(?=[\w-]{2})))+(?=[\w.@+-])"
)


def _with_shorter_paths(line: str, room: int) -> str:
    """Folders go one by one, the first of the longest path first: a file is known by those right above it."""
    while len(line) > room and (paths := list(filter(_is_path, _PATH.finditer(line)))):
        path = max(paths, key=lambda one: len(one.group()))
        rest = re.sub(r"^(?:…/|~/|/)?[^\\/]+[\\/]", "", path.group())
        line = f"{line[: path.start()]}…/{rest}{line[path.end() :]}"
    return line


def _is_path(found: re.Match[str]) -> bool:
    """One slash alone may hold a rule and its group apart: `Style/StringLiterals`."""
    folders, rest = found.group(), found.string[found.end() :]
    return len(re.findall(r"[\\/]", folders)) > 1 or re.match(r"[\w-]+\.\w", rest) is not None


def cut(said: str, room: int) -> str:
    """The beginning, to the end of a word that leads to nothing; the name in which it would end, by its own end."""
    if len(said) <= room:
        return said
    start = said[: room - 1]
    space = start.rfind(" ")
    word = said[space + 1 :].partition(" ")[0]
    name = _LAST_PART.search(word)
    if name and space + 2 + len(name.group()) <= room:
        quote = word[0] if word[0] in "\"'`" else ""
        return f"{said[: space + 1]}{quote}…{name.group()}"
    sign = max(start.rfind(sign) for sign in "/\\,;:=(&") + 1
    end = space if space > room // 2 else sign if sign > room // 2 else len(start)
    told = _LEADS_ON.sub("", start[:end])
    return told.rstrip(" ,;:") + "…"


_LEADS_ON = lazy_pattern(r"(?:[ ,;:(]+(?:an?|of|in|or|with))+$")
_LAST_PART = lazy_pattern(r"(?<=[\w.@~…])[\\/][\w.@~-]{3,}['\"`)]*$")
