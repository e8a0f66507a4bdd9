"""The same secret has the same mark in everything a store holds, and the mark does not tell it."""

from __future__ import annotations

import pickle
import re
from random import Random

from hardwon.scrub.scrubber import Scrubber, Scrubbing

from .fakes import make

KEY, OTHER_KEY = b"the key of a store", b"the key of another"
ONE, TWO = (make(Random(n), "ghp_<A36>") for n in (71, 72))


def test_with_a_key_a_secret_has_one_mark_in_every_session_and_process() -> None:
    first = Scrubber(key=KEY).scrub(f"{TWO} and {ONE}")
    again = pickle.loads(pickle.dumps(Scrubbing(key=KEY))).scrubber().scrub(ONE)
    assert re.fullmatch("‹secret:github-token:[a-z2-7]{4}›", again)
    assert first.endswith(f" and {again}")
    assert not first.startswith(again)


def test_another_store_gives_the_same_secret_another_mark() -> None:
    assert Scrubber(key=KEY).scrub(ONE) != Scrubber(key=OTHER_KEY).scrub(ONE)


def test_the_same_value_as_another_kind_has_another_mark() -> None:
    value = make(Random(73), "<A24>")
    scrubbed = Scrubber(key=KEY).scrub(f"password={value}\ntoken={value}")
    assert len(set(re.findall("[a-z2-7]{4}›", scrubbed))) == 2


def test_marks_of_a_store_are_left_alone_when_scrubbed_again() -> None:
    once = Scrubber(key=KEY).scrub(f"password={ONE} a@x.org +49 30 901820 203.7.113.94")
    assert Scrubber(key=OTHER_KEY).scrub(once) == once
    assert Scrubber().scrub(once) == once


def test_what_only_looks_like_a_mark_hides_nothing() -> None:
    assert ONE not in Scrubber().scrub(f"‹secret:{ONE}:abcd› ‹secret:token:{ONE}›")
