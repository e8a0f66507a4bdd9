"""Forgotten words are known again by keyed hashes alone, in any case and punctuation."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.scrub.scrubber import Scrubber
from hardwon.store.meta import Forgotten, stone, text_stone, words
from hardwon.text.normalise import FORGOTTEN

KEY = bytes(range(16))


def forgotten(*texts: str) -> Forgotten:
    return Forgotten(KEY, [text_stone(KEY, words(text)) for text in texts])


@pytest.mark.parametrize(
    "text",
    [
        "project nightjar",
        "the Project  Nightjar is secret",
        "cd ~/src/project-nightjar && make",
        "project_nightjar.py",
        "see PROJECT/NIGHTJAR!",
    ],
)
def test_the_same_words_are_found_in_any_case_and_punctuation(text: str) -> None:
    assert forgotten("Project Nightjar").says(text)


@pytest.mark.parametrize("text", ["nightjar project", "projectnightjar", "project", "nightjars of the project", ""])
def test_other_words_are_not(text: str) -> None:
    assert not forgotten("Project Nightjar").says(text)


def test_a_mark_takes_the_place_of_the_words_and_the_rest_stays() -> None:
    kept = forgotten("nightjar", "blue heron").masked("run nightjar --blue-heron=1, then Nightjar again")
    assert kept == f"run {FORGOTTEN} --{FORGOTTEN}=1, then {FORGOTTEN} again"


def test_a_part_of_a_sentence_is_found_in_a_script_without_spaces() -> None:
    assert forgotten("東京").masked("私は東京に住む") == f"私は{FORGOTTEN}に住む"


def test_words_inside_our_own_marks_are_left_alone() -> None:
    assert forgotten("secret", "forgotten").masked(f"‹secret:token:1› {FORGOTTEN}") == f"‹secret:token:1› {FORGOTTEN}"


def test_where_nothing_is_forgotten_it_is_false_and_finds_nothing() -> None:
    nothing = Forgotten()
    assert not nothing
    assert not nothing.says("anything")
    assert not nothing.holds("lesson", "anything")
    assert nothing.masked("anything") == "anything"


def test_another_key_finds_nothing_and_nothing_of_the_words_is_kept() -> None:
    mark = text_stone(KEY, words("project nightjar"))
    assert not Forgotten(b"another key", [mark]).says("project nightjar")
    assert "nightjar" not in repr(pickle.dumps(Forgotten(KEY, [mark])))


def test_kinds_do_not_stand_for_each_other() -> None:
    known = Forgotten(KEY, [stone(KEY, "failure", "F1")])
    assert known.holds("failure", "F1")
    assert not known.holds("attempt", "F1")
    assert not known.holds("failure", "F", "1")


def test_what_is_left_around_a_mark_does_not_join_to_the_same_words() -> None:
    assert not forgotten("heron nest").says(forgotten("heron nest").masked("heron heron nest nest"))


TEXT = st.text(alphabet=st.sampled_from("aB ßİé東c_-/.\n‹›1"), max_size=60)


@given(TEXT, TEXT)
def test_a_masked_text_says_it_no_more_and_is_masked_once(pattern: str, text: str) -> None:
    if not words(pattern):
        return
    filter = forgotten(pattern)
    masked = filter.masked(text)
    assert not filter.says(masked)
    assert filter.masked(masked) == masked
    assert filter.says(text) == (masked != text)


@given(TEXT, TEXT, TEXT)
def test_whole_words_are_found_wherever_they_stand(before: str, pattern: str, after: str) -> None:
    if words(pattern):
        assert forgotten(pattern).says(f"{before} {pattern} {after}")


@given(TEXT, TEXT)
def test_a_copy_in_another_process_answers_the_same(pattern: str, text: str) -> None:
    if words(pattern):
        filter = forgotten(pattern)
        assert pickle.loads(pickle.dumps(filter)).masked(text) == filter.masked(text)


def test_a_mark_is_nothing_to_scrub() -> None:
    assert Scrubber().scrub(f"token = {FORGOTTEN}") == f"token = {FORGOTTEN}"
