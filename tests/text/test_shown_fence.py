"""What stands inside our fence can be told from what stands outside it."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.text.shown import fenced, is_in, unfenced
from tests.timing import assert_growth, spent

plain = st.text(alphabet=st.characters(exclude_characters="<>&", exclude_categories=["Cs"]), max_size=20)


@given(plain, plain, plain)
def test_only_what_is_outside_is_left(before: str, content: str, after: str) -> None:
    assert unfenced(before + fenced(content, b"key") + after) == before + after
    assert unfenced(before + html.escape(fenced(content, b"key"), quote=False) + after) == before + after


@given(st.text(max_size=60))
def test_a_text_without_a_fence_is_left_as_it_is(text: str) -> None:
    assert unfenced(text) == text
    assert not is_in(text)


@pytest.mark.parametrize(
    "part", ["<hardwon-memory", "</hardwon-memory", "<hardwon-memory>", "<hardwon-memory></hardwon-memory"]
)
def test_fences_without_end_cost_no_more_than_their_length(part: str) -> None:
    def taken(times: int) -> float:
        return spent(lambda: [unfenced(part * times) for _ in range(20)])

    assert_growth(lambda: taken(4_000), lambda: taken(16_000), most=8, noise=0.01)
