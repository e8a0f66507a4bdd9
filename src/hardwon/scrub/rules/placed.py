"""Tells whether what stands in a known place is a secret: key blocks, logins, manifests."""

from __future__ import annotations

import base64
import binascii
import re

from hardwon.scrub.placeholders import is_template, is_word_itself
from hardwon.scrub.rule import Candidate
from hardwon.scrub.shapes import LONG, is_path, may_be_password

_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{16}")
_CHANCE = re.compile(r"[A-Z0-9]")
_TAUGHT = frozenset({"test", "pass", "yyy", "password>", "token>", "pass>", "READ", "WRITE", "OWNER"})
"""What documentation writes where a password stands, and what `gsutil -u` gives somebody."""
_FEWEST_WORDS = 8


def is_basic_pair(candidate: Candidate) -> bool:
    """Whether the value is base64 for `user:password`, which the word `Basic` alone is not."""
    decoded = _decoded(candidate.value) if _CHANCE.search(candidate.value) else None
    return decoded is not None and ":" in decoded and decoded.isprintable()


def is_user_password(candidate: Candidate) -> bool:
    """Whether `user:x` after `-u` is a login: a container's `uid:gid` looks the same."""
    value = candidate.value
    return not value.isdigit() and not _is_no_login(value)


def _is_no_login(value: str) -> bool:
    """A template, a path, or what documentation writes for a password."""
    return is_template(value) or is_word_itself(value) or value in _TAUGHT or is_path(value)


def is_call_password(candidate: Candidate) -> bool:
    """Whether the second argument of a login is a literal password."""
    value = candidate.value
    return len(value) <= LONG and may_be_password(value, True) and not _is_no_login(value)


def is_mnemonic(candidate: Candidate) -> bool:
    """Whether the words are somebody's, and not the same one twelve times as in tests."""
    return len(set(candidate.value.split())) >= _FEWEST_WORDS


def is_private_key_in_base64(candidate: Candidate) -> bool:
    """Whether base64 of PEM lines begins a private key: a certificate looks the same."""
    return "PRIVATE KEY" in (_decoded(candidate.value[:64]) or "")


def is_in_kubernetes_secret(candidate: Candidate) -> bool:
    """Whether a base64 value stands among the `data` of a manifest whose kind is Secret."""
    start, end = candidate.match.span("secret")
    before = candidate.text[max(0, start - 4096) : start].rpartition("\n---")[2]
    around = before + candidate.text[end : end + 2048].partition("\n---")[0]
    if not re.search(r"\bkind\"?: ?[\"']?[Ss]ecret\b", around) or not re.search(r"\b(?:data|stringData)\"?:", before):
        return False
    return len(candidate.value) % 4 == 0 and _decoded(candidate.value) is not None


def holds_key_material(candidate: Candidate) -> bool:
    """Whether there is a key between the PEM lines, and not code that names them."""
    body = candidate.group("body")
    return len(body) > LONG or bool(_KEY_MATERIAL.search(body))


def _decoded(value: str) -> str | None:
    value = value.rstrip("=")
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
