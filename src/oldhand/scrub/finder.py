"""Runs the rules over a text and says which stretches of it are secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oldhand.scrub.keywords import Keywords
from oldhand.scrub.marks import blank
from oldhand.scrub.rule import Candidate, Rule, Span


class Finder:
    """A rule table made ready for searching."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._as_is = _Gated([rule for rule in rules if not rule.any_case])
        self._any_case = _Gated([rule for rule in rules if rule.any_case])

    def find(self, text: str) -> list[Span]:
        """Disjoint spans in order; where rules overlap, the longest names the whole stretch."""
        # The words inside our own marks (`secret`, `token`) are no names of a value.
        lowered = blank(_lower(text))
        spans = [*self._as_is.spans(text, text), *self._any_case.spans(lowered, text)]
        return _merge(spans) if spans else spans


class _Gated:
    """Rules that run only where one of their keywords is present."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._places: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for keyword in rule.keywords:
                self._places.setdefault(keyword, []).append(place)
        self._keywords = Keywords(self._places)

    def spans(self, haystack: str, text: str) -> list[Span]:
        found: list[Span] = []
        if present := self._keywords.present(haystack):
            places = {place for keyword in present for place in self._places[keyword]}
            for place in sorted(places):
                found += _matches(self._rules[place], haystack, text)
        return found


def _matches(rule: Rule, haystack: str, text: str) -> Iterator[Span]:
    search, accepts, label, group = rule.pattern.search, rule.accepts, rule.label, rule.group
    match = search(haystack)
    while match:
        start, end = match.span(group)
        if accepts(Candidate(text[start:end], match, text)):
            yield Span(start, end, label)
            match = search(haystack, end)
        else:
            match = search(haystack, match.start() + 1)


def _lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    # By bytes, for str.lower() is slow here and makes one letter longer, shifting what follows.
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        length = span.end - span.start
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            longest = length
            continue
        last = merged[-1]
        label = span.label if length > longest else last.label
        longest = max(longest, length)
        merged[-1] = Span(last.start, max(last.end, span.end), label)
    return merged
