"""BERT's uncased WordPiece tokenizer: what MiniLM reads."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib import resources

START, END, UNKNOWN = 101, 102, 100
LONGEST = 128
"""Pieces of a text that the model was trained to read; it was never taught to weigh more."""
_LONGEST_WORD = 100
_LONGEST_TEXT = 4_000
"""Characters: more than the pieces need, few enough that a megabyte costs nothing."""

_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0002a6df"),
    ("\U0002a700", "\U0002ceaf"), ("\U0002f800", "\U0002fa1f"),
)  # fmt: skip


def encode(text: str, longest: int = LONGEST) -> list[int]:
    """The ids of a text's pieces between start and end marks."""
    ids = [START]
    for word in _words(text[:_LONGEST_TEXT]):
        ids += _pieces(word)
        if len(ids) >= longest:
            break
    return [*ids[: longest - 1], END]


@cache
def _vocabulary() -> dict[str, int]:
    lines = (resources.files("hardwon.recall") / "data" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {line: at for at, line in enumerate(lines) if line}


def _words(text: str) -> list[str]:
    spaced = "".join(map(_kept, text)).lower()
    plain = "".join(each for each in unicodedata.normalize("NFD", spaced) if unicodedata.category(each) != "Mn")
    return "".join(f" {each} " if _stands_alone(each) else each for each in plain).split()


@lru_cache(maxsize=1 << 13)
def _kept(character: str) -> str:
    """The character, a space for any white space, nothing for what cannot be seen."""
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category.startswith("C") or character == "\ufffd":
        return ""
    return " " if category == "Zs" else character


@lru_cache(maxsize=1 << 13)
def _stands_alone(character: str) -> bool:
    if character.isascii():
        return not character.isalnum() and not character.isspace()
    ideograph = any(first <= character <= last for first, last in _IDEOGRAPHS)
    return ideograph or unicodedata.category(character).startswith("P")


@lru_cache(maxsize=1 << 15)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest pieces from the left, or the mark for an unknown word."""
    if len(word) > _LONGEST_WORD:
        return (UNKNOWN,)
    vocabulary, found, start = _vocabulary(), list[int](), 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = vocabulary.get(word[start:end] if start == 0 else f"##{word[start:end]}")
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(found)
