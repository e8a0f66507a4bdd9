"""A pattern that is compiled late finds what one compiled at once does."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.harvest import rules
from hardwon.harvest.rules import lesson_rule
from hardwon.harvest.rules.lesson_rule import lazy_pattern
from hardwon.harvest.rules.sentences import cued

PATTERN, FLAGS = r"(?:^|\s)(a+)\b", re.IGNORECASE


@given(st.text(alphabet="aA b\n"))
def test_it_finds_the_same(text: str) -> None:
    late, early = lazy_pattern(PATTERN, FLAGS), re.compile(PATTERN, FLAGS)
    for _ in range(2):  # compiled with the first use, called directly from the second on
        assert [found.span() for found in late.finditer(text)] == [found.span() for found in early.finditer(text)]
        assert late.sub("x", text) == early.sub("x", text)
        assert late.split(text) == early.split(text)
        assert bool(late.search(text)) == bool(early.search(text))


def test_a_broken_pattern_says_so_when_it_is_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_every_pattern_of_the_rules_compiles() -> None:
    modules = [import_module(f"{rules.__name__}.{found.name}") for found in pkgutil.iter_modules(rules.__path__)]
    patterns = [one for module in modules for one in vars(module).values() if isinstance(one, lesson_rule._Pattern)]
    assert len(patterns) > 80
    for one in patterns:
        one.search("")
    assert cued("nothing to see") is None
