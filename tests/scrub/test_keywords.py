"""The prefilter lets through every rule whose keyword is in the text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.scrub.prefilter import KeywordPrefilter, Keywords, ManyKeywords, Settled, installed, scanned
from hardwon.scrub.scrubber import RULES

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


PIECES = [
    *("password", "PassWord: ", "api_key=", "Token", "парол", "Пароль", "密码", "ſecret", "K", "$6$", "-----BEGIN "),
    *(
        "/home/ann/x",
        "/root",
        "C:\\Users\\ann",
        "users",
        "‹secret:password:1›",
        "‹",
        "›",
        "\r",
        "\x1b[0m",
        "\u200b",
        "\ud800",
    ),
    *("+49 30 1234567", "4111 1111 1111 1111", "10.0.0.1", "1234:", "1a2", "é1A2", "a@b.cd", "\n", " ", "x", "é", "漢"),
    *("src/components/Button.tsx", "sk-live_0123456789abcdefABCDEF", "adobe", "ADOBE_0123456789abcdef0123456789ABCDEF"),
]


@pytest.mark.skipif(not installed(), reason="hyperscan is not installed")
@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(["", "homes", "all"]))
def test_one_pass_over_the_bytes_tells_the_same_rules_as_looking_for_each_keyword(
    pieces: list[str], settled: Settled
) -> None:
    text = "".join(pieces)
    assert BY_ONE_SCAN.hits(text, settled) == BY_WORDS.hits(text, settled)


BY_WORDS, BY_ONE_SCAN = KeywordPrefilter(RULES), KeywordPrefilter(RULES)
BY_WORDS._left = sys.maxsize
BY_ONE_SCAN._left = -1
BY_ONE_SCAN.hits("from now on")
