"""A hostile text costs time in proportion to its length, whichever rule it is made for."""

from __future__ import annotations

import os
from functools import partial
from random import Random
from uuid import uuid4

import pytest

from hardwon.scrub.prefilter import CasedText
from hardwon.scrub.rule import Rule
from hardwon.scrub.scrubber import RULES, Scrubber, find
from tests.timing import assert_growth, assert_quick, spent

from .fakes import each_token, pem_lines

MEGABYTE = 1_000_000
LENGTH = int(os.environ.get("HOSTILE_LENGTH", "100000"))
PROMISED = 0.25
"""For a megabyte made to hurt one rule, on a machine that has nothing else to do."""
NOISE = 0.05
"""Below this a measurement says more about the machine than about the rule."""

TOKENS = list(each_token())
PEM_BEGIN = pem_lines(Random(61))[0]
SEEDS = [
    *("A", "a1", "eyJ", "eyJa.", "eyJaaaaaaaa.eyJ ", "-----", "-----BEGIN ", PEM_BEGIN),
    *(f"{PEM_BEGIN}\n", f"{PEM_BEGIN}\nA", f"{PEM_BEGIN}\n{'A' * 30}\n", f"{PEM_BEGIN} a b"),
    *("password=", "password: ", 'password="', "password='", 'password=\\"', "pass", "pwd"),
    *("password=/abcdefg1 ", "password=abcdefgh ", '?password="', "&pwd=a", "<password>a"),
    *("token=", "token: token: ", "token='\"`", "token=${", "token=your1234 ", "token=xxxxxxxx1 "),
    *("secret", "secret ", "secret----", "key", "api_key: ", "auth", "authorization: "),
    *("authorization: bearer ", "bearer aaaaaaaa ", "basic aaaaaaaa ", "cookie: a=", "cookie: "),
    *("set-cookie: a=", "://", "://a:", "://:a@", "://aaaa:aaaaaaaaaa", "--", "--a-", "--token "),
    *("-u a:", "--user a:", "machine a login b password ", "sk-", "sk-a", "xoxb-", "AKIA"),
    *("SG.aaaaaaaaaaaaaaaa.", "glpat-aaaaaaaaaaaaaaaaaaaa.", "hooks.slack.com/services/"),
    *("a@", "@", "a@a.", "a@a.a", "@a.a.", "a.a@a.co", "a@b.co "),
    *("/home/a", "/home/a.", "/root", "C:\\Users\\a b", "C:/Users/a ", ":\\Users"),
    *("\x1b", "\x1b[1", "\x1b]", "\x1b]8;;", "\x9d", "\x9b1", "\r", "a\r", "a\r\n"),
    *("\u200d", "a\u200d", "é\u200d", "\u200b", "‹", "‹secret:", "‹secret:x:1", "‹email:1›@a.co"),
]


def _hostile(seed: str, length: int) -> str:
    return (seed * (length // len(seed) + 1))[:length]


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_four_times_the_text_costs_about_four_times_the_time(seed: str) -> None:
    def seconds(length: int) -> float:
        return spent(lambda: Scrubber().scrub(_hostile(seed, length)))

    assert_growth(lambda: seconds(LENGTH), lambda: seconds(LENGTH * 4), most=8, noise=4 * NOISE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind}-{rule.keywords[0]}")
def test_no_rule_is_slow_on_its_own_keywords_and_beginnings(rule: Rule) -> None:
    tokens = [token[:-1] for kind, token in TOKENS if kind == rule.kind]
    rule.pattern.search("")
    for seed in (*rule.keywords[:2], rule.keywords[0] + "=", rule.keywords[0] + ': "a1 ', *tokens[:1]):
        page = CasedText(_hostile(seed, LENGTH))
        assert page.lowered
        assert_quick(partial(find, [rule], [0], page, lambda: None), NOISE + PROMISED * LENGTH / MEGABYTE)


def test_a_text_with_more_candidates_than_can_be_judged_keeps_none_of_the_rest() -> None:
    names = "".join(f"password={chr(97 + number % 26)}_{number % 10}.name\n" for number in range(12_000))
    password = f"password={uuid4().hex}"
    scrubber = Scrubber()
    scrubbed = scrubber.scrub(names + password)
    assert scrubber.scrub(names[:20_000]) == names[:20_000]
    assert scrubbed.startswith(names[:20_000])
    assert password not in scrubbed
    assert scrubbed.count("‹secret:password:") > 1_000
    assert scrubber.scrub(scrubbed) == scrubbed
