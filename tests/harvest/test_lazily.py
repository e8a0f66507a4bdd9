"""A pattern that is compiled late finds what one compiled at once does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldhand.harvest.rules import lazily

PATTERN, FLAGS = r"(?:^|\s)(a+)\b", re.IGNORECASE


@given(st.text(alphabet="aA b\n"))
def test_it_finds_the_same(text: str) -> None:
    late, early = lazily.pattern(PATTERN, FLAGS), re.compile(PATTERN, FLAGS)
    for _ in range(2):  # compiled with the first use, called directly from the second on
        assert [found.span() for found in late.finditer(text)] == [found.span() for found in early.finditer(text)]
        assert late.sub("x", text) == early.sub("x", text)
        assert late.split(text) == early.split(text)
        assert bool(late.search(text)) == bool(early.search(text))


def test_a_broken_pattern_says_so_when_it_is_used() -> None:
    broken = lazily.pattern("(")
    with pytest.raises(re.error):
        broken.search("")
