"""Passwords told in sentences and typed in commands are replaced; what only speaks of passwords is left."""

from __future__ import annotations

from collections import Counter

import pytest

from hardwon.scrub.scrubber import Scrubber

from .crossed import crossed
from .sentences import HARMLESS, Told, commands, in_rounds, told

LEAST = 0.95


def test_nearly_every_password_that_a_sentence_tells_is_replaced() -> None:
    asked: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for one in told():
        asked[one.kind] += 1
        kept[one.kind] += one.secret in Scrubber().scrub(one.text)
    assert 1 - kept.total() / asked.total() >= LEAST
    assert [kind for kind in asked if kept[kind] > asked[kind] / 2] == []  # no language is left out


def test_nearly_every_password_in_a_command_is_replaced() -> None:
    kept = [one.text for one in commands() if one.secret in Scrubber().scrub(one.text)]
    assert 1 - len(kept) / len(list(commands())) >= LEAST, kept


def test_nearly_every_password_of_every_round_of_wordings_is_replaced() -> None:
    asked: Counter[str] = Counter()
    kept: dict[str, list[Told]] = {}
    for one in in_rounds():
        asked[one.kind] += 1
        if one.secret in Scrubber().scrub(one.text):
            kept.setdefault(one.kind, []).append(one)
    assert {name: some for name, some in kept.items() if 1 - len(some) / asked[name] < LEAST} == {}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_speaks_of_passwords_tells_none(text: str) -> None:
    assert Scrubber().scrub(text) == text


def test_both_prefilters_find_the_same() -> None:
    pytest.importorskip("hyperscan")
    with_it, without = Scrubber(hyperscan=True), Scrubber(hyperscan=False)
    for one in (*told(), *commands(), *in_rounds()):
        assert with_it.find(one.text) == without.find(one.text), one.text


def test_nearly_every_password_of_crossed_ways_is_replaced() -> None:
    """Ways × values × surroundings; the second half of the ways was mended on later than the first."""
    asked: Counter[bool] = Counter()
    found: Counter[bool] = Counter()
    for one in crossed():
        asked[one.unseen] += 1
        found[one.unseen] += one.secret not in Scrubber().scrub(one.text)
    assert found[False] / asked[False] >= LEAST
    assert found[True] / asked[True] >= LEAST


PLAINLY = (
    "use {} as the password",
    "the password is {}",
    "the admin password is still {}.",
    "What is the password?\n{}",
    "| user | password |\n|---|---|\n| bob | {} |",
    'password: "{}"',
    "export DB_PASSWORD={}",
    "mysqldump --password={} shop",
)


@pytest.mark.parametrize("wording", PLAINLY)
@pytest.mark.parametrize("word", ["marmalade", "hazelnut-cream"])
def test_a_word_that_is_plainly_given_is_redacted_once_and_for_all(wording: str, word: str) -> None:
    once = Scrubber().scrub(wording.format(word))
    assert word not in once
    assert Scrubber().scrub(once) == once


@pytest.mark.parametrize("said", ["the PIN of the card is 4417", "PIN: 884213", "pin code 3106"])
def test_a_pin_is_redacted(said: str) -> None:
    assert not any(sign.isdigit() for sign in Scrubber().scrub(said).partition("‹")[0])
    assert "‹secret:password" in Scrubber().scrub(said)


def test_the_pins_of_a_chip_are_none() -> None:
    assert Scrubber().scrub("connect pin 12 to pin 1024 of the header") == "connect pin 12 to pin 1024 of the header"


HANDED_OVER = (
    "You need the database password for this. It's {}.",
    "Password? I think its {}. try that first",
    "we went with {} as a password because it is easy to remember",
    "Ich hab das Passwort jetzt auf {} gesetzt.",
    "volgens het ticket hoort het wachtwoord van de ftp {} te zijn",
    "la contraseña de postgres tiene que ser {}, si no el backend no arranca",
    "数据库密码是{},你先把备份导进去",
    "비밀번호를 {}로 바꿨어요",
    "define('DB_PASSWORD', '{}');",
    "- name: ADMIN_PASSWORD\n  value: {}",
    "log in as root with {}",
)


@pytest.mark.parametrize("wording", HANDED_OVER)
@pytest.mark.parametrize("word", ["tiramisu", "paprika-walrus", "Wintergarden7"])
def test_a_value_that_is_handed_over_is_redacted_whatever_it_is(wording: str, word: str) -> None:
    once = Scrubber().scrub(wording.format(word))
    assert word not in once
    assert Scrubber().scrub(once) == once


SPOKEN_OF = (
    "privateKey: Uint8Array;",
    "{Style: Full, Pwd: homeDir, Expected: home},",
    "stepId: 'pw:api@82',",
    "loginWithPassword: async (username: string, password: string) => {",
    "mysql -u root -p shop < dump.sql",
    "creds are in 1password, ask for access",
    "sign in with magic link (passwordless email)",
    "lösenordet sparas aldrig i klartext, bara hashen",
    "hasło bierzemy z ${DB_HASLO}, nie wpisuj go na sztywno",
    "- uses: docker/login-action@v3 then docker/metadata-action@v5",
)


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_code_and_talk_about_passwords_hand_none_over(text: str) -> None:
    assert Scrubber().scrub(text) == text
