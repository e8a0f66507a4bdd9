"""A key of a service without a rule is known by its name and by chance; a name, an id or a hash is left alone."""

from __future__ import annotations

from random import Random

import pytest

from hardwon.scrub.rules.general import VENDOR_NAMES
from hardwon.scrub.scrubber import Scrubber

from .fakes import HEX, make, text
from .formats import UUID

SMALL = make(Random(41), "<L32>")
MIXED = make(Random(42), "<A44>")
HASH = text(Random(43), 40, HEX)
ID = make(Random(44), UUID)


def scrub(text: str) -> str:
    return Scrubber().scrub(text)


@pytest.mark.parametrize("value", [SMALL, MIXED, ID])
@pytest.mark.parametrize(
    "around",
    [
        "calendarific: '{}'",
        "calendarific = {}",
        "CALENDARIFIC_LOGIN={}",
        '"calendarific": "{}",',
        "<calendarific>{}</calendarific>",
        "calendarific := `{}`",
        "[DEBUG] using calendarific login={} now",
    ],
)
def test_a_value_drawn_by_chance_is_a_key_where_the_name_of_a_service_stands(around: str, value: str) -> None:
    assert scrub(around.format(value)) == around.format("‹secret:api-key:1›")


@pytest.mark.parametrize("vendor", VENDOR_NAMES)
def test_every_service_is_known_by_its_name(vendor: str) -> None:
    assert SMALL not in scrub(f"{vendor}login = '{SMALL}'")


@pytest.mark.parametrize(
    "text",
    [
        f"calendarific_id: {ID}",
        f"calendarific_commit = {HASH}",
        f"calendarific-1.2.3.tgz#{HASH}",
        f"calendarific md5 {HASH}",
        "calendarific: claude-3-5-sonnet-20241022",
        make(Random(45), "example.org/calendarific-go v1.10.0 h1:<B43>="),
        make(Random(46), '"calendarific@npm:7.1.0":\n  checksum: <H64>'),
        "calendarific = require('calendarific-client-sdk-node-v2')",
        "calendarific: ResourceGroup2024BackupConfiguration1",
        "calendarific: https://example.org/a1b2c3d4e5f6a7b8c9d0",
        "calendarific: <your-calendarific-key-0123456789>",
    ],
)
def test_an_id_a_hash_or_a_name_of_a_service_stays(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("name", ["acmeKey", "ACME_KEY", "gh-key", "AES_KEY", "acme Key"])
def test_a_name_that_ends_in_key_has_a_key_if_chance_drew_it(name: str) -> None:
    assert scrub(f'{name}="{MIXED}"') == f'{name}="‹secret:api-key:1›"'


@pytest.mark.parametrize(
    "text",
    [
        f"cacheKey = '{SMALL}'",
        f"public_key = '{MIXED}'",
        f"primaryKey={SMALL}",
        f"sort_key: '{ID}'",
        f"acmeKey = '{ID}'",
        "acme_key: user:profile:v2:settings-page",
        "const keyChars = '0123456789abcdefghijklmnopqrstuvwxyz'",
        "monkey = 'a1b2c3d4e5f6a7b8c9d0'",
    ],
)
def test_a_key_of_a_table_or_a_cache_stays(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("name", ["SECRET_FOR_TESTS", "my_secret_for_later", "secretString", "ADO_PAT"])
def test_a_name_with_secret_in_it_has_one_if_chance_drew_it(name: str) -> None:
    assert MIXED not in scrub(f"{name} = {MIXED}")


@pytest.mark.parametrize("name", ["secret_id", "secretName", "secret_path", "SECRET_VERSION"])
def test_the_name_or_id_of_a_secret_stays(name: str) -> None:
    assert scrub(f"{name} = {MIXED}") == f"{name} = {MIXED}"


@pytest.mark.parametrize("prefix", ["acme_live_", "acme_prod_", "acme-key-", "acme_v2_api_"])
def test_a_long_token_after_a_prefix_of_an_unknown_service_is_replaced(prefix: str) -> None:
    assert scrub(f"got {prefix}{MIXED}, and it worked") == f"got {prefix}‹secret:api-key:1›, and it worked"


@pytest.mark.parametrize(
    "text",
    [
        f"toolu_{MIXED}",
        f"msg_{MIXED}",
        f"sha512-{MIXED}",
        f"acme_{HASH}",
        f"acme_{MIXED[:24]}",
        f"Zm9v_{MIXED}",
        "acme_GetResourceGroupConfigurationForBackup2024",
        f"[1](diffhunk://#diff-{HASH}{HASH[:24]}R338)",
        f"see diff-{HASH}R338",
    ],
)
def test_an_id_after_a_prefix_stays(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("around", ["you can use the acme secret {} here", "with token {} it works", "api key `{}`"])
def test_a_key_told_in_a_sentence_is_replaced(around: str) -> None:
    assert scrub(around.format(MIXED)) == around.format("‹secret:api-key:1›")


@pytest.mark.parametrize("text", [f"token {HASH}", f"key {ID}", "the secret ingredient", "Unexpected token identifier"])
def test_a_hash_or_a_word_told_in_a_sentence_stays(text: str) -> None:
    assert scrub(text) == text
