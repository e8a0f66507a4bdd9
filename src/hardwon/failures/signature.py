"""An error in a line that is safe to show: known words and names only, so that no output can give orders.

Tool output is hostile. What is shown of it is limited to a vocabulary of words that error messages
are made of, plus short identifiers; every other word becomes `…`. A sentence that asks a reader to
do something cannot be built from what is left.
"""

from __future__ import annotations

import itertools
import re
from itertools import pairwise

from hardwon.failures.fingerprint import Fingerprint
from hardwon.failures.vocabulary import BEFORE_NAMES, BEFORE_VERBS, COMPOUNDS, NEVER, VERBS, WORDS

LONGEST = 140
_MOST_NAMES = 4
_LONGEST_NAME = 48
_MOST_PARTS = 4
_MOSTLY = 0.6
_MOST_PARTS_OF_A_TEST = 7

_MASK = r"<(?:n|id|ip|time|url|email|version|tmp)>"
_PIECE = re.compile(
    rf"{_MASK}(?:/[\w.-]+)?|(?<!\w)'[^'\n]{{1,80}}'(?!\w)[,.;:)]*|\"[^\"\n]{{1,80}}\"[,.;:)]*|(?:[^\s'\"<>]|(?<=\w)'(?=\w)|(?<=[\w@=:-]){_MASK})+"
)
_MASKED = re.compile(_MASK)
_NAME = re.compile(r"^[\w@][\w@./:+\[\]()*~-]*$")
_FLAG = re.compile(r"^--?[a-zA-Z][\w-]*(?:=[\w.@/-]{0,32})?$")
_CODE_LIKE = re.compile(r"[_./@\d]|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^[A-Z]{2,}\d|Error$|Exception$|^E[A-Z]{3,}$|\(\)$|::")
_ARGUMENTS = re.compile(r"(?<=\w)\((?!s\))[^()\n]*\)")
_SENTENCE_END = re.compile(r"(?<=[a-z)'>][.?!])\s")
_EDGES = re.compile(r"^([(\[{]*)(.*?)([)\]},.;:!?]*)$")
_SIGN = re.compile(r"^(?:--|[!=<>]=?=?|->|=>)$")
_NUMBERED = re.compile(r"^#\d{1,4}[.,:)\]]*$")
_ELSEWHERE = re.compile(
    r"(?<![\w/])(?:[\w-]+\.)+(?:sh|ps1|bat|cmd|exe|com|net|org|io|dev|app|xyz|site|example)$|^www\.", re.IGNORECASE
)
_GIT_REASONS = frozenset(("fetch first", "non-fast-forward", "stale info", "needs force"))
_FUNCTION_WORDS = frozenset("error the and for from with this that not are was were has have but".split())
_ELISIONS = re.compile(r"…(?:[\s.,;:]*…)+")
_SAYS_ITSELF = frozenset(("refused", "status", "nothing", "gh", "go", "no daemon"))
"""Kinds that tell a reader nothing beside their message."""


def signature(print_: Fingerprint) -> str:
    """`ModuleNotFoundError: No module named 'asyncpg'`; at most 140 characters."""
    words = _subject(print_)
    kind = _plain_name(print_.error_type)
    place = _place(print_.frame)
    if print_.family == "git" and print_.error_type == "rejected" and print_.message in _GIT_REASONS:
        text = f"push rejected ({print_.message})"
    elif print_.family == "usage":
        text, place = f"{place or kind}: {words}", ""
    elif words and (kind in _SAYS_ITSELF or words.lower().startswith(kind.lower())):
        text = words
    else:
        text = f"{kind}: {words}" if words else kind
    if place and len(text) + len(place) + 3 <= LONGEST:
        text = f"{text} ({place})"
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def informative(shown: str) -> bool:
    """Whether a signature says what went wrong, or is a line of code with its words taken out."""
    words = [word.strip("(),.:;'\"").lower() for word in shown.split()]
    telling = [word for word in words if word in WORDS and len(word) > 2 and word not in _FUNCTION_WORDS]
    return len(telling) >= 2 and shown.count("…") <= 1


def masked(message: str) -> str:
    """The message with every word that is neither known nor an identifier replaced by `…`."""
    kept: list[str] = []
    names = 0
    previous = ""
    announced = False
    sentence = _ARGUMENTS.sub("()", _SENTENCE_END.split(message, maxsplit=1)[0]).replace("'<n>'", "<n>")
    pieces = _PIECE.findall(sentence)
    for piece, following in pairwise([*pieces, ""]):
        if piece.startswith("<") and len(piece) > 1:
            kept.append(_mask(piece))
            continue
        if _NUMBERED.match(piece) or _SIGN.match(piece):
            kept.append(piece.replace("#", ""))
            continue
        shown = piece if piece[0] in "'\"" else _MASKED.sub("N", piece)
        before, core, after = _EDGES.match(shown).groups()  # type: ignore[union-attr]
        if core.endswith("(") and after.startswith(")"):
            core, after = core + ")", after[1:]
        bare = core.strip("'\"")
        pairs = f"{bare} {following.strip('.,:;)')}".lower(), f"{previous} {bare}".lower()
        noun = not COMPOUNDS.isdisjoint(pairs)
        verb = noun or (bare.lower() in VERBS and (previous in BEFORE_VERBS or core != bare))
        named = announced if kept else piece == message  # no such table: readings
        announced = piece.endswith(":")
        named = named or previous in BEFORE_NAMES  # no module named readings
        previous = bare.lower()
        if not bare:
            continue
        if verb or core.lower() in WORDS or bare.lower() in WORDS:
            kept.append(shown)
        elif names < _MOST_NAMES and _is_name(core, bare, alone=named):
            names += 1
            kept.append(before + core + after)
        elif names < _MOST_NAMES and core != bare and _is_expression(bare):
            names += 2
            kept.append(before + core + after)
        else:
            kept.append("…")
    return _tidy(" ".join(kept))


def _subject(print_: Fingerprint) -> str:
    """What the error is about; a program and a path, as small tools write them, are shown as they are."""
    words = print_.message.split() if print_.error_type != "timed out" else []
    if print_.family == "shell" and len(words) <= 2 and all(map(_is_short, words)):
        return _plain_name(print_.message)
    if (
        len(words) == 1
        and _is_short(words[0])
        and _NAME.match(words[0].strip("'\""))
        and not _ELSEWHERE.search(words[0])
    ):
        return words[0]
    return masked(print_.message)


def _place(frame: str) -> str:
    """Where it happened: a file and a function; the title of a test is words like any other."""
    words = frame.split()
    if len(words) <= 2 and all(_is_short(word) for word in words):
        return _plain_name(frame)
    head = words[0] if words and _is_short(words[0]) and _CODE_LIKE.search(words[0]) else ""
    title = words[1:] if head else words
    rest = masked(" ".join(title))
    told = [word for word in rest.split() if word != "…"]
    return f"{head} {rest}".strip() if len(told) >= _MOSTLY * len(title) else head


def _mask(piece: str) -> str:
    """`<n>` is shown as N; an address or a temporary file with its name, if that is one."""
    mark, _, name = piece.partition("/")
    if mark == "<n>":
        return "N"
    return piece if name and _is_name(name, name, alone=True) else mark


def _is_short(word: str) -> bool:
    bare = word.strip("'\":,")
    parts = 1 + len(re.findall(r"(?<=[^\W_])[_-]+(?=[^\W_])", bare))
    most = _MOST_PARTS_OF_A_TEST if "test" in bare.lower() else _MOST_PARTS + 1
    return len(bare) <= 2 * _LONGEST_NAME and parts <= most * (1 + bare.count("::")) and not _orders(bare)


def _orders(name: str) -> bool:
    """Whether the parts of a name are what an order is made of: `run_curl`, `ignore_all_instructions`."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    orders = sum(part.lower() in NEVER for part in parts)
    return (orders == len(parts) > 0 and not name.endswith("()")) or orders > ("test" in name.lower()) + 1


def _is_name(core: str, bare: str, *, alone: bool) -> bool:
    """A short identifier, path, flag or code; only a quoted name or one that a word announces may be a word."""
    if len(bare) > _LONGEST_NAME or bare.count("_") + bare.count("-") > _MOST_PARTS:
        return False
    if _FLAG.match(bare):
        return True
    if not _NAME.match(bare) or _ELSEWHERE.search(bare) or bare.lower() in VERBS:
        return False
    if core[0] in "'\"" and core[-1] in "'\"":
        return len(re.findall(r"[A-Za-z]+", bare)) == 1 or not _orders(bare)
    return (alone or bool(_CODE_LIKE.search(bare))) and not _orders(bare)


def _is_expression(quoted: str) -> bool:
    """`Gauge: Serialize`, `class Gauge`: names that signs or known words hold apart, so that they are no sentence."""
    tokens = re.findall(r"[\w.]+|[^\w\s.]+", quoted)
    plain = [bool(re.match(r"\w", token)) and token.lower() not in WORDS for token in tokens]
    if len(tokens) > 7 or any(one and other for one, other in itertools.pairwise(plain)):
        return False
    return all(len(token) <= 30 and token.lower() not in VERBS and token.lower() not in NEVER for token in tokens)


def _tidy(text: str) -> str:
    text = _ELISIONS.sub("…", text).strip(" …:,")
    for opening, closing in ("()", "[]"):
        if text.count(opening) < text.count(closing):
            text = text.replace(closing, "", text.count(closing) - text.count(opening))
        elif text.count(opening) > text.count(closing):
            text = text.replace(opening, "", text.count(opening) - text.count(closing))
    return text.strip(" …:,")


def _plain_name(text: str) -> str:
    names = (word.strip("'\":,") for word in text.split())
    return " ".join(name for name in names if _NAME.match(name) and len(name) <= 2 * _LONGEST_NAME)
