"""A token of a published form is replaced wherever it stands, and nothing around it is."""

from __future__ import annotations

from random import Random

import pytest

from hardwon.scrub.scrubber import SECRETS, TOKENS, Scrubber

from .fakes import BASE32, BASE64, HEX, each_token, make, text
from .formats import FIXED, NAMED

PLACES = {
    "alone": "{}",
    "in a sentence": "I used {}, and it failed.",
    "in a command": "deploy --region eu {} --yes",
    "in a header": "X-Custom: {}\nAccept: */*",
    "in an env file": "A=1\nSOME_VALUE={}\nB=2\n",
    "in quoted yaml": 'value: "{}"  # rotate me',
    "in JSON": '{{"id": 7, "value": "{}", "ok": true}}',
    "in JSON inside JSON": '"{{\\"value\\":\\"{}\\",\\"ok\\":true}}"',
    "after an escaped line end": '"first\\n{}\\nlast"',
    "in a URL": "https://example.org/a?x={}&y=2",
    "in a log line": "2026-01-02T03:04:05Z WARN [worker-3] rejected credential {} (401)",
    "in an added diff line": "@@ -1 +1 @@\n+const value = '{}';\n",
    "in a removed diff line": "@@ -1 +1 @@\n-{}\n",
    "in markdown": "Use `{}` here",
    "in an array": "['a', '{}']",
}


@pytest.mark.parametrize(("kind", "token"), each_token(), ids=lambda value: str(value)[:24])
def test_a_token_becomes_its_mark_in_every_place_and_the_rest_stays(kind: str, token: str) -> None:
    for place, around in PLACES.items():
        assert Scrubber().scrub(around.format(token)) == around.format(f"‹secret:{kind}:1›"), place


@pytest.mark.parametrize(("name", "form"), NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("around", ["{}={}", 'export {}="{}"', "{}: {}", '"{}": "{}",', "{} := `{}`"])
def test_a_key_without_a_form_is_known_by_the_name_it_is_given_to(name: str, form: str, around: str) -> None:
    secret = make(Random(name), form)
    scrubbed = Scrubber().scrub(around.format(name, secret))
    before, after = around.format(name, "|").split("|")
    assert secret not in scrubbed
    assert scrubbed.startswith(before + "‹secret:")
    assert scrubbed.endswith(":1›" + after)


def test_there_are_at_least_120_rules_and_every_token_has_a_published_form_here() -> None:
    assert len(SECRETS) >= 120
    formed = {rule.kind for rule in TOKENS if not rule.any_case}
    elsewhere = {"aws-secret-key", "azure-signature", "sentry-dsn"} | {
        kind for kind in formed if kind.endswith("-webhook")
    }
    assert formed == FIXED.keys() | elsewhere


@pytest.mark.parametrize(
    "example",
    [
        "AKIA" + "X" * 16,
        "ghp_" + "x" * 36,
        "glpat-YOUR_TOKEN_GOES_HERE",
        "npm_" + "X" * 36,
        "sk-ant-api03-your-key-here",
    ],
)
def test_an_example_out_of_documentation_stays(example: str) -> None:
    assert Scrubber().scrub(f"TOKEN={example}") == f"TOKEN={example}"


def test_a_token_that_was_cut_short_is_still_replaced() -> None:
    token = "ghp_" + text(Random(1), 24)
    assert token not in Scrubber().scrub(f"GH: {token}... [truncated]")


@pytest.mark.parametrize(
    "around",
    [
        "aws_secret_access_key = {}",
        "export AWS_SECRET_ACCESS_KEY={}",
        "AWS Secret Access Key [None]: {}",
        "aws configure set aws_secret_access_key {}",
        '"SecretAccessKey": "{}",',
        "<SecretAccessKey>{}</SecretAccessKey>",
        '{{\\"secretAccessKey\\":\\"{}\\"}}',
    ],
)
@pytest.mark.parametrize("secret", [text(Random(n), 40, BASE64) for n in (2, 9)])
def test_an_aws_secret_is_known_by_what_stands_before_it(around: str, secret: str) -> None:
    scrubbed = Scrubber().scrub(around.format(secret))
    assert scrubbed == around.format("‹secret:aws-secret-key:1›")


@pytest.mark.parametrize("between", [",", "\n", " / ", '", "'])
def test_an_aws_secret_is_known_by_the_key_id_beside_it(between: str) -> None:
    key, secret = "AKIA" + text(Random(23), 16, BASE32), text(Random(24), 40, BASE64)
    scrubbed = Scrubber().scrub(f"user {key}{between}{secret}\n")
    assert scrubbed == f"user ‹secret:aws-key-id:1›{between}‹secret:aws-secret-key:1›\n"


LOOK_ALIKES = [
    f"commit {text(Random(3), 40, HEX)}",
    "session 123e4567-e89b-12d3-a456-426614174000",
    f'"integrity": "sha512-{text(Random(4), 86, BASE64)}=="',
    f"sha256:{text(Random(5), 64, HEX)}",
    f"data:image/png;base64,{text(Random(6), 300, BASE64)}",
    f"toolu_01{text(Random(7), 22)}",
    "npm_config_registry npm_package_version npm_lifecycle_event",
    "class='sk-estimator-doc-link sk-toggleable-1'",
    "the hf_hub_download helper and gho_st",
    "msg.SG.x TASK-1234 SKIP SKU12345",
    "ASIA PACIFIC, AKIA is a prefix, AKIASHORT",
    "xoxo, eyJ is how a token begins",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
    'grep -rn "-----BEGIN RSA PRIVATE KEY-----" .',
    "secret = src/components/secrets/AccessKeyProvider1",
    f"arn:aws:iam::aws:policy/AmazonRoute{53}AutoNamingFullAccess",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html",
]


@pytest.mark.parametrize("look_alike", LOOK_ALIKES)
def test_what_only_looks_like_a_token_stays(look_alike: str) -> None:
    assert Scrubber().scrub(look_alike) == look_alike


def test_a_token_glued_to_a_longer_word_is_replaced_when_its_prefix_leaves_no_doubt() -> None:
    token = "ghp_" + text(Random(8), 36)
    assert Scrubber().scrub(f"abc{token}") == "abc‹secret:github-token:1›"
