"""Tells a literal secret from a placeholder, a name or a path that stands in the same place."""

from __future__ import annotations

import base64
import binascii
import re

from oldhand.scrub.rule import Candidate

LONG = 200
"""No name, path or placeholder is longer; refusing only shorter values also keeps rules linear."""

_TEMPLATE = re.compile(
    r"\$(?:[A-Z_][A-Z0-9_]*|[a-z][A-Za-z_]*\d?|\d)\Z"
    r"|.{0,40}?(?:\$[{(]|\{\{)"
    r"|%\w+%\Z|%\(\w+\)|%[a-z]\Z|<[^<>]*>\Z"
    r"|#?\{(?:[\w.:-]*\}|[\"'])"
    r"|!(?:Ref|Sub|GetAtt|ImportValue|secret|vault|env)\b"
    r"|!?(?i:process\.env|import\.meta|os\.(?:environ|getenv)|env|secrets|vars?|config|self|this"
    r"|args|options|settings|ctx|req|request|params|props|data|exports|local|module|each)[.?]"
    r"|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++\Z",
    re.A,
)
_MASK = re.compile(r"[*•.xX-]{3,}|…")
_STAND_IN = re.compile(
    r"(?:^|[^a-z])(?:your|insert|replace|change[_-]?me|placeholder|redacted|dummy|example|todo"
    r"|undefined|null|none|not[_-]?set|same[_-]?as)(?:$|[^a-z])"
    r"|^(?:(?:my|the|an?|new|old|test|fake|user|db)[_-]?)?"
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|key)[_-]?\d{0,3}$",
    re.I | re.A,
)
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*+://|arn:|(?:sha|md)\d{1,3}[-:=]|\d{4}-\d\d-\d\d",
    re.A,
)
_PATH = re.compile(
    r"~(?!\w)|(?:\.\.?|[A-Za-z]:)?[/\\]{1,2}"
    r"(?:[a-z._-]+|Users|Applications|Library|Volumes)(?:[/\\]|\Z)",
    re.A,
)
_NUMBER = re.compile(r"[+-]?[\d.,_]+(?:e[+-]?\d+|[a-z%]{0,3})", re.I | re.A)
_PART = re.compile(r"[A-Za-z]*+\d{0,2}|\d{1,4}|[A-Za-z]?\d{1,2}[A-Za-z]{0,2}", re.A)
_PART_BREAK = re.compile(r"[-_./:@+]+")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}", re.A)
_WORDS_IN_A_NAME = 0.75
_OWN_NAME = re.compile(r"token|secret|passw|api_?key|credential|auth", re.I)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*+(?:\.[\w$]++)*+", re.A)
_SYMBOL = re.compile(r"[!@#$%^&*~]")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{16}")
_USER_INFO_END = re.compile(r"[\s/@?#\"']")
_DIGIT = re.compile(r"\d", re.A)


def is_template(value: str) -> bool:
    """`${TOKEN}`, `<token>`, `DB_PASSWORD`, `****`: where a value would be filled in or hidden."""
    return bool(_TEMPLATE.match(value)) or (
        bool(_MASK.search(value)) and len(_MASK.sub("", value)) < min(8, len(value))
    )


def is_stand_in(value: str) -> bool:
    """A template, or a word people write instead of a secret: `your-token`, `changeme`."""
    return is_template(value) or bool(_STAND_IN.search(value))


def is_password(candidate: Candidate) -> bool:
    """Whether the value given to a password is a literal one."""
    value = candidate.value
    if len(value) > LONG:
        return True
    if _is_literal(candidate):
        likely = bool(_DIGIT.search(value) or _SYMBOL.search(value))
    elif _IDENTIFIER.fullmatch(value):
        likely = bool(_DIGIT.search(value)) and not _is_name(value)
    else:
        # The ends do not count: `user.password!` and `@password` are code.
        likely = bool(_DIGIT.search(value) or _SYMBOL.search(value[1:-1]))
    return likely and not _is_no_value(value) and not _is_in_user_info(candidate)


def is_credential(candidate: Candidate) -> bool:
    """Whether the value given to a token, a secret or a key is a literal one."""
    value = candidate.value
    if len(value) > LONG:
        return True
    if not _DIGIT.search(value):
        likely = len(value) >= 16 and _is_literal(candidate) and _is_mixed_case(value)
    else:
        likely = _is_literal(candidate) or not (_OWN_NAME.search(value) or _is_camel_case(value))
    if not likely or _NUMBER.fullmatch(value) or _is_name(value):
        return False
    return not _is_no_value(value) and not _is_in_user_info(candidate)


def is_given(candidate: Candidate) -> bool:
    """Whether the value is anything but a placeholder: enough where mostly secrets stand."""
    value = candidate.value
    return len(value) > LONG or not is_stand_in(value)


def is_filled_in(candidate: Candidate) -> bool:
    """Whether the value is anything but a template: enough where only a secret can stand."""
    value = candidate.value
    return len(value) > LONG or not is_template(value)


def is_api_key(candidate: Candidate) -> bool:
    """Whether a prefixed key has a random part; `sk-` also begins names of CSS classes."""
    value = candidate.value
    return bool(_DIGIT.search(value)) and any(len(part) >= 16 for part in value.split("-"))


def is_aws_secret(candidate: Candidate) -> bool:
    """Forty characters of all three classes: a path or a commit hash lacks one."""
    value = candidate.value
    return bool(_DIGIT.search(value)) and _is_mixed_case(value) and not _is_name(value)


def is_basic_pair(candidate: Candidate) -> bool:
    """Whether the value is base64 for `user:password`, which the word `Basic` alone is not."""
    value = candidate.value.rstrip("=")
    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in pair


def is_user_password(candidate: Candidate) -> bool:
    """Whether `user:x` after `-u` is a login: a container's `uid:gid` looks the same."""
    value = candidate.value
    return not value.isdigit() and not is_template(value) and not _PATH.match(value)


def holds_key_material(candidate: Candidate) -> bool:
    """Whether there is a key between the PEM lines, and not code that names them."""
    body = candidate.group("body")
    return len(body) > LONG or bool(_KEY_MATERIAL.search(body))


def _is_no_value(value: str) -> bool:
    return is_stand_in(value) or bool(_ADDRESS.match(value) or _PATH.match(value))


def _is_in_user_info(candidate: Candidate) -> bool:
    """`https://x-access-token:…@host`: what stands there is the address's own rule to find."""
    start = candidate.match.start()
    before = candidate.text[max(0, start - 64) : start]
    _, scheme_end, user = before.rpartition("://")
    return bool(scheme_end) and not _USER_INFO_END.search(user)


def _is_literal(candidate: Candidate) -> bool:
    """A quoted value, or one for an upper-case name as in an env file, is not code."""
    return bool(candidate.group("quote")) or candidate.group("name").isupper()


def _is_name(value: str) -> bool:
    """`app-tls-cert-2024`, `config.AuthV2Client`, `src/token/v2.ts`: words with a few digits."""
    parts = _PART_BREAK.split(value)
    return len(parts) > 1 and all(_PART.fullmatch(part) or _is_camel_case(part) for part in parts)


def _is_camel_case(value: str) -> bool:
    """Mostly runs of letters: random letters and digits change their case far more often."""
    in_words = sum(len(word) for word in _WORD.findall(value))
    return in_words >= _WORDS_IN_A_NAME * len(value)


def _is_mixed_case(value: str) -> bool:
    return value != value.lower() and value != value.upper() and not _is_camel_case(value)
