"""Marks are numbered, stable and left alone; what is not secret can still be read."""

from __future__ import annotations

import string
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.scrub.scrubber import Scrubber

from .fakes import BASE64, each_token, password, pem_lines, text

ONE, TWO = ("ghp_" + text(Random(n), 36) for n in (51, 52))
PASSWORD = password(Random(53))


def test_the_same_value_has_the_same_number_and_the_next_one_the_next() -> None:
    scrubber = Scrubber()
    assert scrubber.scrub(f"{ONE} {TWO} {ONE}") == (
        "‹secret:github-token:1› ‹secret:github-token:2› ‹secret:github-token:1›"
    )
    assert scrubber.scrub(f"TOKEN={TWO}") == "TOKEN=‹secret:github-token:2›"


def test_every_kind_is_numbered_for_itself() -> None:
    assert Scrubber().scrub(f"{ONE} a@x.org password={PASSWORD}") == (
        "‹secret:github-token:1› ‹email:1› password=‹secret:password:1›"
    )


def test_a_new_scrubber_begins_at_one() -> None:
    Scrubber().scrub(ONE)
    assert Scrubber().scrub(TWO) == "‹secret:github-token:1›"


def test_redactions_counts_every_replacement() -> None:
    scrubber = Scrubber()
    assert scrubber.redactions == 0
    scrubber.scrub(f"{ONE} {ONE} a@x.org")
    assert scrubber.redactions == 3
    scrubber.scrub("nothing here")
    assert scrubber.redactions == 3


def test_marks_already_in_a_text_keep_their_numbers() -> None:
    before = f"‹secret:github-token:7› ‹email:3› password=‹secret:password:2› {ONE}"
    after = "‹secret:github-token:7› ‹email:3› password=‹secret:password:2› ‹secret:github-token:1›"
    assert Scrubber().scrub(before) == after


def test_a_secret_in_angle_quotes_is_not_taken_for_a_mark() -> None:
    assert ONE not in Scrubber().scrub(f"‹{ONE}› and ‹secret:{ONE}:1›")


def test_an_error_can_still_be_read_after_scrubbing() -> None:
    session = f"""$ DATABASE_URL=postgres://app:{PASSWORD}@db:5432/app pytest -x
/home/alice/code/shop/tests/test_cart.py:14: in test_total
    client = Client(token="{ONE}", user="alice@example.com")
E   httpx.HTTPStatusError: 401 Unauthorized
E   for https://api.example.org/v1?api_key={TWO}&page=2
"""
    readable = """$ DATABASE_URL=postgres://app:‹secret:uri-password:1›@db:5432/app pytest -x
~/code/shop/tests/test_cart.py:14: in test_total
    client = Client(token="‹secret:github-token:1›", user="‹email:1›")
E   httpx.HTTPStatusError: 401 Unauthorized
E   for https://api.example.org/v1?api_key=‹secret:github-token:2›&page=2
"""
    assert Scrubber().scrub(session) == readable


@pytest.mark.parametrize("text", ["", " ", "\n", "a", "‹", "›", "‹›", "@", "://", "="])
def test_the_smallest_texts_come_back_as_they_are(text: str) -> None:
    assert Scrubber().scrub(text) == text


SECRETS = [
    *(token for _, token in each_token()),
    text(Random(54), 40, BASE64),
    "\n".join(pem_lines(Random(55))),
    pem_lines(Random(56))[0],
    PASSWORD,
]
NAMES = ["password", "TOKEN", "secret", "api_key", "auth", "pwd", "--token", "-u", "machine"]
HEADERS = ["Authorization: ", "Bearer ", "Basic ", "Cookie: a=", "Set-Cookie: b=", "login "]
SIGNS = [
    "=",
    ": ",
    ":",
    " ",
    "\n",
    '"',
    "'",
    "\\",
    "\\n",
    "/",
    "//",
    "://",
    "@",
    "&",
    "?",
    "-",
    "_",
]
MORE_SIGNS = [".", ",", ";", "(", ")", "[", "]", "{", "}", "<", ">", "~", "$", "%", "!", "+", "|"]
PEOPLE = [
    "a@b.co",
    "bob.x@example.com",
    "git@",
    "/home/alice",
    "/root",
    "C:\\Users\\al",
    "/Users/b",
]
MARKS = ["‹secret:github-token:1›", "‹email:2›", "‹", "›", "‹secret:", "secret:x:1›"]
ODD = ["\x1b[31m", "\x1b", "\r", "\u200b", "\u200d", "\ud800", "\x9b", "İ", "ſ", "é", "😀"]

PIECES = st.one_of(
    st.sampled_from([*SECRETS, *NAMES, *HEADERS, *SIGNS, *MORE_SIGNS, *PEOPLE, *MARKS, *ODD]),
    st.text("abcXYZ0189", min_size=1, max_size=12),
    st.text(max_size=4),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_scrubbing_twice_changes_nothing(text: str) -> None:
    scrubber = Scrubber()
    once = scrubber.scrub(text)
    counted = scrubber.redactions
    assert scrubber.scrub(once) == once
    assert Scrubber().scrub(once) == once
    assert scrubber.redactions == counted


@settings(deadline=None)
@given(
    st.sampled_from(SECRETS[:-4]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
def test_no_token_gets_through_between_spaces(token: str, before: str, after: str) -> None:
    assert token not in Scrubber().scrub(f"{before} {token} {after}")


@settings(deadline=None)
@given(st.text("abcdefghij ,.\n()[]", max_size=200))
def test_ordinary_words_are_not_touched(text: str) -> None:
    assert Scrubber().scrub(text) == text


def test_what_one_rule_finds_within_another_s_is_known_again_by_itself() -> None:
    inner = text(Random(7), 36, string.ascii_letters + string.digits) + "7a"
    inner = inner[2:]
    scrubber = Scrubber()
    assert inner not in scrubber.scrub(f'client = Client("apify_api_{inner}", timeout=30)')
    assert inner not in scrubber.scrub(f"it is {inner}, without what it began with")


def test_each_of_several_values_in_one_is_known_again() -> None:
    random = Random(8)
    first, second = (text(random, 8, string.ascii_letters) + "4!x" for _ in range(2))
    scrubber = Scrubber()
    scrubber.scrub(f'{{"auth":{{"password":"{first},{second}"}}}}')
    said = scrubber.scrub(f"then {second} alone, and {first}")
    assert first not in said
    assert second not in said


def test_the_account_in_a_home_within_another_path_is_not_stored() -> None:
    said = "bash: C:/Program Files/Git/mnt/c/Users/ann.coral/AppData/run.sh: No such file or directory"
    assert "ann.coral" not in Scrubber().scrub(said)
    assert Scrubber().scrub("GET /api/c/Users/Public/tides") == "GET /api/c/Users/Public/tides"
