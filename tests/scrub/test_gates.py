"""Both gates let through the same: with hyperscan or without, the same text is scrubbed to the same text."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon import NotASession
from hardwon.harvest import pipeline
from hardwon.scrub import prefilter, scrubber
from hardwon.scrub.prefilter import KeywordPrefilter
from hardwon.scrub.scrubber import RULES, Scrubber, Scrubbing, kept_in
from hardwon.sessions.discover import below
from hardwon.sessions.reader import read

from .corpus import negatives, positives
from .fakes import each_token
from .test_scrubber import PIECES

needs_hyperscan = pytest.mark.skipif(not prefilter.installed(), reason="hyperscan is not installed")


def _same(text: str, *, personal: bool = False) -> None:
    by_keywords = Scrubber(hyperscan=False, personal=personal)
    by_hyperscan = Scrubber(hyperscan=True, personal=personal)
    assert by_keywords.scrub(text) == by_hyperscan.scrub(text)
    assert by_keywords.find(text) == by_hyperscan.find(text)


@needs_hyperscan
def test_secrets_and_look_alikes_give_the_same_with_and_without_hyperscan() -> None:
    random = Random(7)
    for text in (*(positive.text for positive in positives(random, 3)), *negatives(random, 3_000)):
        _same(text)


@needs_hyperscan
def test_much_text_is_looked_through_in_one_pass_and_holds_the_same() -> None:
    random = Random(11)
    one_by_one, scanned = KeywordPrefilter(RULES), KeywordPrefilter(RULES)
    scanned.hits("a line of a long session\n" * 50_000)
    for text in (*(positive.text for positive in positives(random, 1)), *negatives(random, 500)):
        assert scanned.hits(text) == one_by_one.hits(text)


@needs_hyperscan
def test_hidden_characters_homes_and_capitals_give_the_same_with_and_without_hyperscan() -> None:
    for kind, token in each_token():
        _same(f"/home/alice/x PASSWORD={token}é\n{token[:9]}\u200b{token[9:]} C:\\Users\\al\\{kind}\ud800")


NAMES = [
    "password",
    "db_pass",
    "PWD",
    "api_token",
    "client-secret",
    "oauth",
    "signing_key",
    "credentials",
    "fastly_key",
]
SUFFIXES = ["", "_old", "_base64_2", ".value", "s", "Name"]
SIGNS = [
    "=",
    " = ",
    ": ",
    " += ",
    " ?= ",
    ":=",
    " => ",
    '": "',
    ": str = ",
    "\n  value: ",
    "**: ",
    " string = ",
    "(",
    ": |\n   ",
]
VALUES = [
    "hunter2hunter2",
    "\u00fc1\u00e4\u00f6\u4e2d\u6587x9",
    "Xk29fLq0ZmT4vR7bW1pE",
    "'two w0rds here'",
    '"Xk29fL\u2014q0"',
]


@needs_hyperscan
@pytest.mark.parametrize("sign", SIGNS)
def test_every_way_to_give_a_value_to_a_name_gives_the_same_with_and_without_hyperscan(sign: str) -> None:
    for name, suffix, value in product(NAMES, SUFFIXES, VALUES):
        _same(f"x {name}{suffix}{sign}{value} y")


@needs_hyperscan
@pytest.mark.parametrize(
    "text",
    [
        *("my card 63 04 27 37 33 98", "card 6304-2737-3398", "card 630427373398", "cc 4242 4242 4242 4242"),
        *("655 437 108,office", "655 437 108, office", "call me at 0494 92 82 32", "message to 699 956 915"),
        *("our home page: https://fern.example", "website:\nhttps://fern.example", "tel:0494928232"),
    ],
)
def test_what_is_a_persons_gives_the_same_with_and_without_hyperscan(text: str) -> None:
    _same(text)


@needs_hyperscan
@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.booleans())
def test_any_text_gives_the_same_with_and_without_hyperscan(text: str, personal: bool) -> None:
    _same(text, personal=personal)


@needs_hyperscan
def test_real_sessions_give_the_same_with_and_without_hyperscan(shared: Path) -> None:
    by_keywords, by_hyperscan = Scrubber(hyperscan=False), Scrubber(hyperscan=True)
    for path in below(shared / "transcripts"):
        try:
            sessions = read(path).sessions
        except NotASession:
            continue
        for text in [result.text for session in sessions for result in session.results()][:200]:
            assert by_keywords.scrub(text) == by_hyperscan.scrub(text)
    assert by_keywords.redactions == by_hyperscan.redactions


@needs_hyperscan
def test_compiled_patterns_are_kept_and_made_anew_when_they_are_damaged(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    prefilter.HyperscanPrefilter(RULES, cache)
    (stored,) = cache.iterdir()
    size = stored.stat().st_size
    stored.write_bytes(b"damaged")
    assert prefilter.HyperscanPrefilter(RULES, cache).hits("a@b.co").emails
    assert stored.stat().st_size == size


_WHICH = """
import sys
from pathlib import Path
from hardwon.scrub.scrubber import Scrubber, prepare
cache = Path(sys.argv[1])
print(type(Scrubber(cache=cache)._prefilter).__name__)
prepare(cache)
print(type(Scrubber(cache=cache)._prefilter).__name__, type(Scrubber()._prefilter).__name__)
"""


@needs_hyperscan
def test_hyperscan_is_used_by_itself_only_where_it_was_made_ready(tmp_path: Path) -> None:
    def which() -> list[str]:
        line = [sys.executable, "-c", _WHICH, str(tmp_path)]
        return subprocess.run(line, capture_output=True, check=True, text=True).stdout.split()

    assert which() == ["KeywordPrefilter", "HyperscanPrefilter", "HyperscanPrefilter"]
    assert which() == ["HyperscanPrefilter"] * 3, "another process has it from the cache"


def test_compiled_patterns_are_for_all_homes_unless_no_bytecode_may_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, home = tmp_path / "beside", tmp_path / "home"
    beside.mkdir()
    monkeypatch.setattr(scrubber, "cache_from_source", lambda _: str(beside / "prefilter.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert kept_in(home) == beside
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert kept_in(home) == home
    (beside / prefilter.file_name(RULES)).touch()
    assert kept_in(home) == beside, "somebody who may write there kept them"


@needs_hyperscan
def test_much_to_read_makes_hyperscan_ready_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_BYTES_WORTH_COMPILING", 10)
    for size, kept in ((10, False), (11, True)):
        with pipeline.Workers(Scrubbing(cache=str(tmp_path))) as workers:
            workers.start(size)
        assert (tmp_path / prefilter.file_name(RULES)).exists() == kept


def test_no_two_rules_are_the_same_and_every_keyword_is_written_as_it_is_looked_for() -> None:
    assert len({rule.source for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert all(rule.keywords)
        if rule.any_case:
            assert all(keyword == prefilter._lower(keyword) for keyword in rule.keywords)
