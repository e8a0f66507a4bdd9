"""Nothing unseen survives, and what a person would see on the screen does."""

from __future__ import annotations

import unicodedata
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.scrub.scrubber import Scrubber
from hardwon.text.shown import apart, clean, failure_line, fitted, remedy
from tests.scrub.fakes import text as fake_text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[1;31merror\x1b[0m: no", "error: no"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("\x1b[38;2;10;20;30mrgb\x1b[m", "rgb"),
        ("\x1b]0;window title\x07text", "text"),
        ("\x1b]8;;https://x.org\x07link\x1b]8;;\x07", "link"),
        ("\x1b]8;id=1;https://x.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x1b(Bplain\x1b=\x1b7", "plain"),
        ("\x9b31mé\x9b0m", "é"),
        ("cut \x1b[3", "cut "),
        ("\x1bnpm_x \x1bghp_x", "npm_x ghp_x"),
        ("a\x00b\x07c\x08d\x7fe", "abcde"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_escape_sequences_and_controls_are_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_an_escape_sequence_that_never_ends_does_not_swallow_the_text() -> None:
    assert clean("\x1b]0;title and the whole rest\nof it") == "0;title and the whole rest\nof it"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\r100%\r", "100%"),
        ("10%\r\x1b[K100%\r\x1b[K\n", "100%\n"),
    ],
)
def test_a_redrawn_line_shows_what_was_drawn_last(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e"),
        *("\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"),
        *("\U000e0001", "\U000e0041", "\U000e0100", "\x00", "\x1b[0m", "\ufff9"),
    ],
    ids=lambda hidden: "+".join(f"U{ord(c):04X}" for c in hidden),
)
def test_an_unseen_character_cannot_hide_a_secret(hidden: str) -> None:
    token = "ghp_" + fake_text(Random(41), 36)
    split = hidden.join((token[:7], token[7:20], token[20:]))
    assert Scrubber().scrub(f"x {split} y") == "x ‹secret:github-token:1› y"


@pytest.mark.parametrize("text", ["👩‍👩‍👧 family", "🏳️‍🌈", "क्‍ष", "naïve → “quoted” 中文 עברית"])
def test_emoji_and_other_scripts_stay(text: str) -> None:
    assert clean(text) == text


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert clean("a\ud800b\udfff") == "a\ufffdb\ufffd"


NASTY = st.text(
    st.one_of(
        st.sampled_from("\x1b[]()\\0;m8\x07\r\n\t\u200b\u200d\u202e\x9b\x9c\x9dab é👩\ufe0f\ufeff"),
        st.characters(),
        st.integers(0xD800, 0xDFFF).map(chr),
        st.integers(0xE0000, 0xE01FF).map(chr),
    )
)


@settings(deadline=None)
@given(NASTY)
def test_cleaning_leaves_no_control_or_direction_character(text: str) -> None:
    for character in clean(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in (
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        )


@settings(deadline=None)
@given(NASTY)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")


@settings(deadline=None)
@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("\n\t")))
def test_plain_text_is_returned_as_it_is(text: str) -> None:
    assert clean(text) is text


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("`<id>` with `'#<id>'`", "write the id as `'#<id>'`, in quotes"),
        ("`'#<id>'` with `<id>`", "write the id as `<id>`"),
        ("`rtk bun` with `bun`", "replace `rtk bun` with `bun`"),
    ],
)
def test_how_an_id_is_written_is_said_in_words(what: str, said: str) -> None:
    assert remedy([("replace", what)], "") == said


BEFORE, AFTER = "cd ~/.local/state/reef/git/local/task#<id>", "cd ~/.local/state/reef/git/local/north/task#<id>"


def test_of_two_long_calls_what_differs_is_told_or_nothing() -> None:
    text = f"worked once: replace `{BEFORE}` with `{AFTER}`"
    assert fitted(text, 200) == text
    assert fitted(text, 90) == "worked once: replace `cd …/task#<id>` with `cd …/north/task#<id>`"
    assert apart(f"reef {'x' * 80}1", f"reef {'x' * 80}2", 40) == ("", "")
    assert fitted(f"replace `{'x' * 80}1` with `{'x' * 80}2`", 60) == ""
    assert fitted("run `reef gauge list`", 9) == "run `reef gauge list`"


def test_a_line_for_an_agent_tells_what_differs() -> None:
    long = "/".join(["state"] * 26)
    line = failure_line(
        command="", error="cd: no such file", occurrences=2, sessions=2, avoid=[],
        worked=remedy([("replace", f"`cd {long}/task` with `cd {long}/north/task`")], ""),
    )  # fmt: skip
    assert line.endswith("Worked: replace `cd …/task` with `cd …/north/task`.")
    alike = remedy([("replace", f"`{'x' * 300}1` with `{'x' * 300}2`")], "")
    line = failure_line(command="", error="no", occurrences=2, sessions=2, avoid=[], worked=alike)
    assert line == "no (2x in 2 sessions)."
