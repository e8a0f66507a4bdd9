"""The prefilter lets through every rule whose keyword is in the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.scrub.prefilter import Keywords, ManyKeywords, installed, scanned

KEYWORDS = ["ab_", "b_", "a-", "xab-", "ab-", "_", "--", "abc", "a", "c_b-", "ba_c", "abcx"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(KEYWORDS)), st.text("abcx_-"))
def test_a_keyword_is_present_when_the_text_holds_it(keywords: list[str], text: str) -> None:
    held = sorted({keyword for keyword in keywords if keyword in text})
    assert sorted(Keywords(keywords).present(text)) == held
    assert sorted(Keywords(keywords, common=["b", "_b"]).present(text)) == held
    assert sorted(ManyKeywords(keywords).present(text)) == held
    if installed() and keywords:
        assert sorted(scanned(tuple(dict.fromkeys(keywords))).present(text)) == held  # type: ignore[union-attr]
