"""Over outputs whose errors we know: the same error has one fingerprint, and no two errors share one."""

from __future__ import annotations

import importlib
from collections import Counter
from functools import cache

import pytest

from hardwon.failures import fingerprint as families
from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.signature import MAX_SIGNATURE_CHARACTERS, signature
from hardwon.scrub.scrubber import Scrubber
from tests.data.labelled import HELD_OUT, Labelled, Score, labelled, score

FAMILIES = [name for name, _ in families.FAMILIES]


@cache
def outputs() -> list[Labelled]:
    return labelled()


@cache
def prints() -> list[Fingerprint | None]:
    return [fingerprint(one.output) for one in outputs()]


def judged(family: str = "") -> Score:
    return score(outputs(), [found.id if found else "" for found in prints()], family)


def told(result: Score) -> str:
    """What went wrong, for a person."""
    mixed = sorted({f"{one.label} = {other.label}" for one, other in result.mixed})
    split = sorted({f"{one.label}: {one.variant} ≠ {other.variant}" for one, other in result.split})
    return "\n".join([f"precision {result.precision:.3f} recall {result.recall:.3f}", *mixed, *split[:40]])


def test_the_set_is_large_and_covers_every_family() -> None:
    counts = Counter(one.family for one in outputs())
    assert len(outputs()) >= 600
    assert set(counts) == set(FAMILIES)
    assert min(counts.values()) >= 16
    assert sum(one.file == HELD_OUT for one in outputs()) >= 150


def test_errors_are_told_apart_and_recognised_again() -> None:
    result = judged()
    assert result.precision >= 0.98, told(result)
    assert result.recall >= 0.90, told(result)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_mixes_errors_up(family: str) -> None:
    result = judged(family)
    assert result.precision >= 0.95, told(result)
    assert result.recall >= 0.85, told(result)


def test_each_tool_is_recognised_as_what_it_is() -> None:
    wrong = [
        f"{one.label} {one.variant}: {found and found.family}"
        for one, found in zip(outputs(), prints(), strict=True)
        if found is None or found.family != one.family
    ]
    assert len(wrong) <= 0.01 * len(outputs()), "\n".join(wrong)


def test_scrubbing_changes_no_fingerprint() -> None:
    scrubber = Scrubber()
    for one, found in zip(outputs(), prints(), strict=True):
        again = fingerprint(scrubber.scrub(one.output))
        assert (again and again.id) == (found and found.id), one.output


def test_every_signature_says_what_failed() -> None:
    for one, found in zip(outputs(), prints(), strict=True):
        assert found is not None, one.output
        shown = signature(found)
        words = shown.split()
        hidden = shown.count("…")
        assert 0 < len(shown) <= MAX_SIGNATURE_CHARACTERS
        assert len(words) >= 2, f"{one.label}: {shown}"
        assert hidden <= 3, f"{one.label}: {shown}"
        assert hidden <= len(words) / 3, f"{one.label}: {shown}"


def test_the_same_error_is_shown_alike_and_different_ones_mostly_differ() -> None:
    shown: dict[str, set[str]] = {}
    for one, found in zip(outputs(), prints(), strict=True):
        assert found is not None
        shown.setdefault(one.label, set()).add(signature(found))
    assert [label for label, lines in shown.items() if len(lines) > 1] == []
    lines = Counter(line for group in shown.values() for line in group)
    assert sum(count - 1 for count in lines.values()) <= 0.05 * len(lines), [line for line, n in lines.items() if n > 1]


def test_a_failed_call_loads_few_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook starts cold at each failed call: it must not compile the patterns of tools that did not speak."""
    loaded: list[str] = []

    def load(name: str) -> object:
        loaded.append(name)
        return importlib.import_module(name)

    monkeypatch.setattr(families, "import_module", load)
    counts = []
    for one in outputs():
        if one.variant == "plain":
            loaded.clear()
            fingerprint(one.output)
            counts.append(len(loaded))
    assert sum(counts) / len(counts) <= 2
    assert sum(count <= 3 for count in counts) >= 0.97 * len(counts)
