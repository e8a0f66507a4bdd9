"""An error in a line that is safe to show: known words and names only, so that no output can give orders.

Tool output is hostile. What is shown of it is limited to a vocabulary of words that error messages
are made of, plus short identifiers; every other word becomes `…`. A sentence that asks a reader to
do something cannot be built from what is left.
"""

from __future__ import annotations

import re

from oldhand.failures.fingerprint import Fingerprint
from oldhand.failures.vocabulary import BEFORE_VERBS, VERBS, WORDS

LONGEST = 140
_MOST_NAMES = 4
_LONGEST_NAME = 48


_PIECE = re.compile(
    r"<[a-z]+>(?:/[\w.-]+)?|(?<!\w)'[^'\n]{1,80}'(?!\w)[,.;:)]*|\"[^\"\n]{1,80}\"[,.;:)]*|(?:[^\s'\"<>]|(?<=\w)'(?=\w))+"
)
_NAME = re.compile(r"^[\w@][\w@./:+\[\]()*~-]*$")
_FLAG = re.compile(r"^--?[a-zA-Z][\w-]*$")
_CODE_LIKE = re.compile(r"[_./@\d]|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^[A-Z]{2,}\d|Error$|Exception$|^E[A-Z]{3,}$")
_SENTENCE_END = re.compile(r"(?<=[a-z)'>][.?!])\s")
_EDGES = re.compile(r"^([(\[{]*)(.*?)([)\]},.;:!?]*)$")
_NUMBERED = re.compile(r"^#\d{1,4}[.,:)]*$")
_ELSEWHERE = re.compile(r"\.(?:sh|ps1|bat|cmd|exe|com|net|org|io|dev|app|xyz|site|example)$|^www\.", re.IGNORECASE)
_GIT_REASONS = frozenset(("fetch first", "non-fast-forward", "stale info", "needs force"))
_FUNCTION_WORDS = frozenset("error the and for from with this that not are was were has have but".split())
_ELISIONS = re.compile(r"…(?:\s*…)+")


def signature(print_: Fingerprint) -> str:
    """`ModuleNotFoundError: No module named 'asyncpg'`; at most 140 characters."""
    words = masked(print_.message)
    kind = _plain_name(print_.error_type)
    if print_.family == "git" and print_.error_type == "rejected" and print_.message in _GIT_REASONS:
        text = f"push rejected ({print_.message})"
    elif print_.family == "shell":
        subject = _plain_name(" ".join(print_.message.split()[:_MOST_NAMES])) or words
        text = f"{kind}: {subject}" if subject else kind
    elif print_.family == "agent" or (
        kind.lower() in ("error", "fatal") and words.lower().startswith(("error", "fatal"))
    ):
        text = words
    else:
        text = f"{kind}: {words}" if words else kind
    if print_.frame and print_.family in ("python", "pytest", "tsc", "node"):
        place = " ".join(part for part in map(_plain_name, print_.frame.split()) if part)
        text = f"{text} ({place})" if place and len(text) + len(place) + 3 <= LONGEST else text
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
    for piece in _PIECE.findall(_SENTENCE_END.split(message, maxsplit=1)[0]):
        if piece.startswith("<") and len(piece) > 1:
            kept.append(piece.replace("<n>", "N"))
            continue
        if _NUMBERED.match(piece):
            kept.append(piece.replace("#", ""))
            continue
        before, core, after = _EDGES.match(piece).groups()  # type: ignore[union-attr]
        bare = core.strip("'\"")
        verb = bare.lower() in VERBS and (previous in BEFORE_VERBS or core != bare)
        named = kept[-1].endswith(":") if kept else piece == message  # no such table: readings
        previous = bare.lower()
        if not bare:
            continue
        if verb or core.lower() in WORDS or bare.lower() in WORDS:
            kept.append(piece)
        elif names < _MOST_NAMES and _is_name(core, bare, alone=named):
            names += 1
            kept.append(before + core + after)
        else:
            kept.append("…")
    return _ELISIONS.sub("…", " ".join(kept)).strip(" …:") if kept else ""


def _is_name(core: str, bare: str, *, alone: bool) -> bool:
    """A short identifier, path, flag or code; only a quoted name or one after a colon may be a word."""
    if len(bare) > _LONGEST_NAME or bare.count("_") + bare.count("-") > 4:
        return False
    if _FLAG.match(bare):
        return True
    if not _NAME.match(bare) or _ELSEWHERE.search(bare) or bare.lower() in VERBS:
        return False
    quoted = core[0] in "'\"" and core[-1] in "'\""
    return quoted or alone or bool(_CODE_LIKE.search(bare))


def _plain_name(text: str) -> str:
    names = (word.strip("'\":,") for word in text.split())
    return " ".join(name for name in names if _NAME.match(name) and len(name) <= _LONGEST_NAME)
