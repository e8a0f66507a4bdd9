"""Secrets made up at run time, so that none stands in the repository."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from random import Random

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
HEX = string.hexdigits[:16]
BASE32 = string.ascii_uppercase + "234567"

AWS_EXAMPLE_ID = "AKIA" + "IOSFODNN7EXAMPLE"
AWS_EXAMPLE_SECRET = "wJalrXUtnFEMI" + "/K7MDENG/bPxRfiCYEXAMPLEKEY"

GITLAB_PREFIXES = "glpat gloas gldt glrt glrtr glcbt glptt glft glimt glagent glwt glsoat glffct"


def text(random: Random, length: int, alphabet: str = ALNUM) -> str:
    """Random text that has a digit, a small and a capital letter where the alphabet has them."""
    sure = [alphabet[0], alphabet[-1], *(c for c in "aB7" if c in alphabet)]
    letters = [*sure, *random.choices(alphabet, k=length - len(sure))]
    random.shuffle(letters)
    return "".join(letters)


def password(random: Random) -> str:
    return f"{text(random, 9, string.ascii_lowercase)}{random.randint(10, 99)}"


def jwt(random: Random) -> str:
    return f"eyJ{text(random, 20, ALNUM)}.eyJ{text(random, 40, ALNUM)}.{text(random, 43, ALNUM)}"


def pem_lines(random: Random, label: str = "RSA PRIVATE KEY", lines: int = 6) -> list[str]:
    body = [text(random, 64, BASE64) for _ in range(lines)]
    return [f"-----BEGIN {label}-----", *body, text(random, 24, BASE64), f"-----END {label}-----"]


def basic_pair(random: Random) -> str:
    return base64.b64encode(f"deploy:{password(random)}".encode()).decode()


Maker = Callable[[Random], str]

TOKENS: dict[str, list[Maker]] = {
    "aws-key-id": [
        *(lambda r, p=p: p + text(r, 16, BASE32) for p in ("AKIA", "ASIA", "ABIA", "ACCA")),
        lambda _: AWS_EXAMPLE_ID,
    ],
    "github-token": [
        *(lambda r, p=p: p + text(r, 36) for p in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
        lambda r: f"github_pat_{text(r, 22)}_{text(r, 59)}",
    ],
    "gitlab-token": [
        *(lambda r, p=p: f"{p}-{text(r, 20, URL_SAFE)}" for p in GITLAB_PREFIXES.split()),
        lambda r: f"glpat-{text(r, 27, URL_SAFE)}.01.{text(r, 9)}",
    ],
    "slack-token": [
        lambda r: f"xoxb-{text(r, 12, string.digits)}-{text(r, 24)}",
        lambda r: f"xoxp-{text(r, 12, string.digits)}-{text(r, 32, HEX)}",
        lambda r: f"xoxa-2-{text(r, 30)}",
        lambda r: f"xapp-1-{text(r, 11)}-{text(r, 13, string.digits)}-{text(r, 64, HEX)}",
    ],
    "anthropic-key": [lambda r: f"sk-ant-api03-{text(r, 93, URL_SAFE)}"],
    "openrouter-key": [lambda r: f"sk-or-v1-{text(r, 64, HEX)}"],
    "openai-key": [
        lambda r: f"sk-{text(r, 48)}",
        lambda r: f"sk-proj-{text(r, 74)}",
        lambda r: f"sk-svcacct-{text(r, 74)}",
    ],
    "google-key": [lambda r: f"AIza{text(r, 35, URL_SAFE)}"],
    "google-token": [lambda r: f"ya29.{text(r, 60, URL_SAFE)}"],
    "google-client-secret": [lambda r: f"GOCSPX-{text(r, 28, URL_SAFE)}"],
    "stripe-key": [
        *(lambda r, p=p: p + text(r, 24) for p in ("sk_live_", "sk_test_", "rk_live_", "rk_test_")),
    ],
    "webhook-secret": [lambda r: f"whsec_{text(r, 32)}"],
    "npm-token": [lambda r: f"npm_{text(r, 36)}"],
    "pypi-token": [lambda r: f"pypi-AgEIcHlwaS5vcmc{text(r, 120, URL_SAFE)}"],
    "huggingface-token": [lambda r: f"hf_{text(r, 34)}"],
    "sendgrid-key": [lambda r: f"SG.{text(r, 22, URL_SAFE)}.{text(r, 43, URL_SAFE)}"],
    "twilio-key": [lambda r: f"SK{text(r, 32, HEX)}"],
    "digitalocean-token": [
        *(lambda r, p=p: f"{p}_v1_{text(r, 64, HEX)}" for p in ("dop", "doo", "dor")),
    ],
    "jwt": [jwt],
}
"""Tokens that are known by their own form, wherever they stand."""


def each_token() -> list[tuple[str, str]]:
    return [
        (kind, make(Random(f"{kind} {number}")))
        for kind, makers in TOKENS.items()
        for number, make in enumerate(makers)
    ]
