"""A gated pattern finds what the pattern finds, whatever the text; it only looks less often."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.harvest.rules import said, sentences
from hardwon.text.gated import gated_pattern

SOURCES = (
    r"\b(?:always|never|every time)\b|常に|总是|sempre",
    r"^(?:please |and )*(?:don'?t|do not|stop)\b",
    r"(?:a|b)+c|[?？]\s*$|[xyz]{2}",
    r"\b(?-i:MUST|NOT)\b",
    r"(?>keep|kept) in mind|(?:is|sk){1,3}",
    r"(?!never)\w+ never|(?<=so )that",
    r"(?:sure)?",
    "",
)
WORDS = (
    "always",
    "NEVER",
    "don't",
    "doNot",
    "so that",
    "must",
    "MUST",
    "常に",
    "İs",
    "ſure",
    "K",
    "ıs",
    "?",
    "é",
    " ",
    "\n",
    "c",
)


@pytest.mark.parametrize("source", SOURCES)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), max_size=8).map("".join))
def test_it_finds_what_the_pattern_finds(source: str, text: str) -> None:
    for flags in (0, re.IGNORECASE, re.IGNORECASE | re.MULTILINE):
        expected = re.compile(source, flags).search(text)
        found = gated_pattern(source, flags).search(text)
        assert (found and found.span()) == (expected and expected.span())


def test_letters_that_a_pattern_without_case_takes_for_others_pass_the_gate() -> None:
    for text in ("ſtop", "İs", "ıs", "asK"):
        for source in (r"\b(?:stop|is|ask)\b", "stop|is|ask"):
            expected = re.compile(source, re.IGNORECASE).search(text)
            assert bool(gated_pattern(source, re.IGNORECASE).search(text)) == bool(expected)


def test_a_text_without_the_words_is_not_searched() -> None:
    pattern = gated_pattern(r"\b(?:always|never)\b", re.IGNORECASE)
    assert pattern.search("add a button") is None
    assert "_compiled" not in vars(pattern)


def test_most_patterns_of_rules_have_a_gate() -> None:
    patterns = [one for one in vars(said).values() if type(one).__name__ == "_GatedPattern"]
    gates = [one.literals for one in (*patterns, *sentences._PATTERNS.values())]  # type: ignore[attr-defined]
    assert len(gates) > 60
    assert sum(gate is not None for gate in gates) > 0.85 * len(gates)
