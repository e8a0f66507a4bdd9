"""What in an output may tell a reader to do something, or comes from elsewhere: it is never quoted."""

from __future__ import annotations

import re
from functools import lru_cache

from hardwon.failures.signature import NEVER, orders
from hardwon.text.normalise import lazy_pattern

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
