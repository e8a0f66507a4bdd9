"""How much of what is secret is found, and how much of what is found is secret."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hardwon.scrub.rule import Span
from hardwon.scrub.scrubber import Scrubber

from .corpus import Positive

PRESIDIO = Path("bench/pii-presidio/microsoft__presidio-research/data/synth_dataset_v2.json")
PRESIDIO_KINDS = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "IP_ADDRESS": "ip",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "card",
    "US_SSN": "card",
    "DOMAIN_NAME": "url",
}
_COVERED = 0.9


class Score(NamedTuple):
    found: int
    all: int
    right: int
    wrong: int

    @property
    def recall(self) -> float:
        return self.found / self.all

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)


def covered(spans: Iterable[Span], start: int, end: int) -> bool:
    """Whether nine tenths of a secret are redacted."""
    return sum(max(0, min(end, span.end) - max(start, span.start)) for span in spans) >= _COVERED * (end - start)


def score(positives: Iterable[Positive], negatives: Iterable[str], scrubber: Scrubber) -> Score:
    found = number = right = wrong = 0
    for positive in positives:
        start = positive.text.index(positive.secret)
        end = start + len(positive.secret)
        spans = scrubber.find(positive.text)
        hits = sum(span.start < end and span.end > start for span in spans)
        found += covered(spans, start, end)
        number += 1
        right += hits
        wrong += len(spans) - hits
    wrong += sum(len(scrubber.find(negative)) for negative in negatives)
    return Score(found, number, right, wrong)


def presidio(path: Path, scrubber: Scrubber) -> dict[str, Score]:
    """By kind; a span counts as right when it lies on anything that was to be found."""
    scores = dict.fromkeys(PRESIDIO_KINDS.values(), Score(0, 0, 0, 0))
    for example in json.loads(path.read_text(encoding="utf-8")):
        spans = scrubber.find(example["full_text"])
        wanted = [
            (mark["start_position"], mark["end_position"], PRESIDIO_KINDS[mark["entity_type"]])
            for mark in example["spans"]
            if mark["entity_type"] in PRESIDIO_KINDS
        ]
        for start, end, kind in wanted:
            old = scores[kind]
            scores[kind] = old._replace(found=old.found + covered(spans, start, end), all=old.all + 1)
        for span in spans:
            right = any(start < span.end and end > span.start for start, end, _ in wanted)
            old = scores.get(span.label, Score(0, 0, 0, 0))
            scores[span.label] = old._replace(right=old.right + right, wrong=old.wrong + (not right))
    return scores


def together(scores: Iterable[Score]) -> Score:
    return Score(*map(sum, zip(*scores, strict=True)))
