"""Leave of an error's words what is its identity: names stay, what varies from run to run does not.

Patterns are compiled when a text has the character they need: the hook normalises one short message and ends.
"""

from __future__ import annotations

import re

from oldhand.text import numbers
from oldhand.text.paths import base_name, tilde

# (character that must be there, pattern, replacement), in this order.
_STEPS: tuple[tuple[str, str, str], ...] = (
    # First: a scrubbed address has marks inside.
    ("://", r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s'\"<>`)\]]*[^\s'\"<>`)\].,;:?!]", "<url>"),
    ("‹email", r"‹email[^›\n]{0,80}›", "<email>"),
    ("‹ip", r"‹ip:[^›\n]{0,80}›", "<version>"),  # as an address that is not scrubbed comes out
    ("‹phone", r"‹phone:[^›\n]{0,80}›", "<n>"),
    ("‹card", r"‹card:[^›\n]{0,80}›", "<n>"),
    ("‹", r"‹[a-z]+[^›\n]{0,80}›", "<id>"),
    ("@", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", "<email>"),
    (
        "",
        r"(?i)((?:pass(?:word|wd)?|secret|token|api[_-]?key|authorization)[\"']?\s*[=:]\s*)[^\s,;]+",
        r"\1<id>",
    ),
)
_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b",
        "<time>",
    ),
    (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
    (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    (r"(?i)\b0x[0-9a-f]+\b", "<id>"),
)
_LONG_NUMBER_STEPS: tuple[tuple[str, str], ...] = (
    (numbers.NAMED_PHONE, r"\g<name><n>"),
    (numbers.PUBLIC_IPV6, "<version>"),
    (f"{numbers.PHONE_WITH_COUNTRY}|{numbers.AMERICAN_PHONE}", "<n>"),
    (numbers.CARD, "<n>"),
)
_LATE_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (r"(?<=[\w)\]>])(?::\d+(?:[:-]\d+)?|\(\d+,\d+\))(?!\w)", ""),
    (r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?:[-+.]\w+)*", "<version>"),
    (r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{20,}\b", "<id>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<id>"),
    # A status or exit code is part of what went wrong.
    (r"(?i)\b(status(?: code)?|http(?:/[\d.]+)?|errno|exit code|signal|code)([ :=#]+)(\d+)\b", r"\1\2#\3"),
    (r"(?<![\w<#.])[-+]?\d[\d_,.]*(?:[eE][-+]?\d+)?(?:ms|s|m|h|%|[KMGT]i?B|kB|B)?(?!\w)", "<n>"),
)
_PATH = (
    r"(?:~|[A-Za-z]:(?=[\\/])|\.{1,2}(?=/)|(?<![\w.@-]))(?:[\\/]+[\w.@+~-]+){1,40}[\\/]?"
    r"|(?<![@\w.+-])(?:[\w.+-]+/)+[\w.@+-]+"
)
_TEMPORARY = r"(?i)^(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/|[\\/]Temp[\\/]"
_QUOTES = str.maketrans("‘’“”`´", "''''''")


def identity(message: str) -> str:
    """The message with paths cut to their last part and numbers, ids, times and secrets masked."""
    text = message.translate(_QUOTES)
    for needed, pattern, replacement in _STEPS:
        if needed in text:
            text = re.sub(pattern, replacement, text)
    if "/" in text or "\\" in text:
        text = tilde(text)
    digits = any(character.isdigit() for character in text)
    if digits:
        text = _replaced(text, _DIGIT_STEPS)
        if sum(map(str.isdigit, text)) >= numbers.FEWEST_DIGITS:
            text = _replaced(text, _LONG_NUMBER_STEPS)
    if "/" in text or "\\" in text:
        text = re.sub(_PATH, _path_name, text)
    if digits:
        text = _replaced(text, _LATE_DIGIT_STEPS)
    return " ".join(text.split())


def _replaced(text: str, steps: tuple[tuple[str, str], ...]) -> str:
    for pattern, replacement in steps:
        text = re.sub(pattern, replacement, text)
    return text


def _path_name(found: re.Match[str]) -> str:
    path = found.group()
    name = base_name(path)
    if not re.search(_TEMPORARY, path):
        return name
    return "<tmp>/" + name if re.search(r"\.[A-Za-z]\w{0,5}$", name) else "<tmp>"
