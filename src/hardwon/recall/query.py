"""What a person asked, as terms and phrases. Query text is never query syntax: any string is a question."""

from __future__ import annotations

import re
from typing import NamedTuple

from hardwon.text.words import terms, unique_terms

_MOST_TERMS = 64
_MOST_PHRASES = 8
_LONGEST = 4_000
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|`([^`]+)`')


class Query(NamedTuple):
    text: str
    terms: list[str]
    phrases: list[list[str]]
    """What stood in quotation marks: found word for word, it counts more."""


def asked(text: str) -> Query:
    text = text[:_LONGEST]
    quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    phrases = [words for phrase in quoted if len(words := terms(phrase)) > 1]
    return Query(text.strip(), unique_terms(text)[:_MOST_TERMS], phrases[:_MOST_PHRASES])
