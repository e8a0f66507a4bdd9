"""A pattern that is compiled late finds what one compiled at once does."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.failures import families
from hardwon.harvest import rules
from hardwon.harvest.rules.sentences import _GatedPattern
from hardwon.text.normalise import _LazyPattern, lazy_pattern

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


@pytest.mark.parametrize(("package", "fewest"), [(rules, 60), (families, 100)])
def test_every_pattern_compiles(package: ModuleType, fewest: int) -> None:
    modules = [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]
    late = (_LazyPattern, _GatedPattern)
    patterns = [value for each in modules for value in vars(each).values() if isinstance(value, late)]
    assert len(patterns) >= fewest
    for one in patterns:
        one.match("")  # type: ignore[operator]
