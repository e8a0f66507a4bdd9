"""Runs the rules over a text and says which stretches of it are secrets."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from hardwon.scrub.gate import Page
from hardwon.scrub.rule import PERSONAL, Candidate, Rule, Span

_LONG = 400
_MOST_JUDGED = 5_000
"""Candidates for a secret in one text that a rule judges one by one; whatever else its pattern finds there, goes. So a
text of nothing but candidates does not take seconds, and what was meant to wear the judge out is not kept."""
Clock = Callable[[], None]
"""Called between rules; raises when the time is up."""


def find(rules: Sequence[Rule], numbers: Iterable[int], page: Page, clock: Clock) -> list[Span]:
    """Disjoint spans in order; where rules overlap, the longest names the whole stretch."""
    found: list[list[Span]] = []
    for number in numbers:
        rule = rules[number]
        if spans := list(_matches(rule, page.lowered if rule.any_case else page.text, page.text)):
            found.append(spans)
        clock()
    if len(found) > 1:
        return merge([span for spans in found for span in spans])
    return found[0] if found else []


def _matches(rule: Rule, haystack: str, text: str) -> Iterator[Span]:
    search, accepts, label, group = _search(rule, haystack), rule.accepts, rule.label, rule.group
    before, whole = rule.before, rule.whole
    match = search(0)
    left = _MOST_JUDGED if rule.kind not in PERSONAL else sys.maxsize
    while match:
        start, end = match.span(group)
        start -= before
        left -= 1
        if left < 0 or accepts(Candidate(text[start:end], match, text)):
            yield Span(start, end, label)
            match = search(end)
        else:
            start, end = match.span()
            # Looking for more inside a long one again and again would take quadratic time.
            match = search(end if whole or end - start > _LONG else start + 1)


def _search(rule: Rule, haystack: str) -> Callable[[int], re.Match[str] | None]:
    """Finds the first match from a place on; to be asked for places one after the other."""
    if rule.places is None:
        return partial(rule.pattern.search, haystack)
    places, match_at = rule.places(haystack), rule.pattern.match

    def search(start: int) -> re.Match[str] | None:
        return next((match for place in places if place >= start and (match := match_at(haystack, place))), None)

    return search


def merge(spans: list[Span]) -> list[Span]:
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
