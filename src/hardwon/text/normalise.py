"""Leave of an error's words what is its identity: names stay, what varies from run to run does not.

Patterns are compiled when a text has the character they need: the hook normalises one short message and ends.
"""

from __future__ import annotations

import re

from hardwon.text import numbers
from hardwon.text.paths import base_name, tilde

_URL = r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://(?:[^\s'\"<>`)\]]|<(?:id|email)>)*(?:[^\s'\"<>`)\].,;:?!]|<(?:id|email)>)"
# (one of these must be there, pattern, replacement), in this order.
_STEPS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("@",), r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w(\[-])", "<email>"),
    (("ookie",), r"(?i)(cookie[\"']?\s*[:=]\s*)\S.*", r"\1<id>"),
    (("-u", "-user"), r"(?<![\w-])(-u|--user)([ =][\"']?[^\s:\"'@/]{1,64}:)[^\s\"']{3,}", r"\1\2<id>"),
    (
        ("pass", "PASS", "Pass", "pwd", "PWD", "ecret", "ECRET", "oken", "OKEN", "uth", "UTH", "key", "KEY", "Key"),
        (
            r"(?i)((?:pass(?:word|wd|phrase)?|pwd|secret|token|auth|(?:api|access|private)[_-]?key|authorization)[\"']?\s*"
            r"(?:[=:]|:=)\s*(?:bearer |basic )?[\"'`]?)(?:<id>|[^\s,;\"'`<>]{8,})[^\s,;\"'`]*"
        ),
        r"\1<id>",
    ),
)
_MARKS = (
    ("‹email", r"‹email[^›\n]{0,80}›", "<email>"),
    ("‹ip", r"‹ip:[^›\n]{0,80}›", "<ip>"),
    ("‹phone", r"‹phone:[^›\n]{0,80}›", "<n>"),
    ("‹card", r"‹card:[^›\n]{0,80}›", "<n>"),
    ("‹", r"‹[a-z]+[^›\n]{0,80}›", "<id>"),
)
_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d[:_]\d\d(?:[:_]\d\d(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\d])",
        "<time>",
    ),
    (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
    (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    (r"(?i)\b0x[0-9a-f]+\b", "<id>"),
    (
        (
            r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z][-.]|xapp-|sk-|[sr]k_(?:live|test)_|A(?:KI|SI|BI|CC)A|AIza|"
            r"ya29\.|GOCSPX-|whsec_|npm_|pypi-AgE|hf_|SG\.|SK(?=[0-9a-f]{32})|do[opr]_v1_|eyJ)(?=[\w.-]*\d)[\w.-]{15,}(?<![.])"
        ),
        "<id>",
    ),
)
_LONG_WORD = r"(?<![\w<])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{20,}(?!\w)"
_LONG_NUMBER_STEPS: tuple[tuple[str, str], ...] = (
    (numbers.NAMED_PHONE, r"\g<name><n>"),
    (numbers.PUBLIC_IPV6, "<ip>"),
    (f"{numbers.PHONE_WITH_COUNTRY}|{numbers.AMERICAN_PHONE}", "<n>"),
    (numbers.CARD, "<n>"),
)
_LATE_DIGIT_STEPS: tuple[tuple[str, str], ...] = (
    (r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])", "<ip>"),
    (r"(?<=[\w)\]>])(?::\d+(?:[:-]\d+)?|\(\d+,\d+\))(?!\w|\.\d)", ""),
    (r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?:[-+.]\w+)*", "<version>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<id>"),
    # A status or exit code is part of what went wrong.
    (r"(?i)\b(status(?: code)?|http(?:/[\d.]+)?|errno|exit code|signal|code)([ :=#]+)(\d+)\b", r"\1\2#\3"),
    # The number of a container or a worker belongs to its name.
    (
        r"(?<![\w<#.])(?!(?<=\w-)\d{1,2}(?!\d))[-+]?\d[\d_,.]*(?:[eE][-+]?\d+)?(?:ms|s|m|h|%|[KMGT]i?B|kB|B)?(?!\w)",
        "<n>",
    ),
)
_PATH = (
    r"(?:~|[A-Za-z]:(?=[\\/])|\.{1,2}(?=/)|(?<![\w.@>-]))(?:[\\/]+[\w.@+~-]+){1,40}[\\/]?"
    r"|(?<![@\w.+></-])(?:[\w.+-]+/)+[\w.@+-]+"
)
_TEMPORARY = r"(?i)^(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/|[\\/]Temp[\\/]"
_MODULE_PATH = r"(?!\.)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}/[\w./-]*(?<=/)[\w-]+$"
"""`github.com/spf13/cobra`: a module's name, the same everywhere."""
_FILE = r"\.[A-Za-z]\w{0,5}$"
_QUOTES = str.maketrans("‘’“”`´", "''''''")
# One in every folder: the folder tells them apart.
_EVERYWHERE = frozenset("__init__ __main__ index mod page layout route +page +server +layout".split())
_PART = r"[A-Za-z]*\d{0,2}|\d{1,4}|[A-Za-z]?\d{1,2}[A-Za-z]{0,2}"
_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}"
_MOSTLY = 0.7


def identity(message: str) -> str:
    """The message with paths cut to their last part and numbers, ids, times and secrets masked."""
    text = unmarked(message).translate(_QUOTES)
    if "://" in text:  # First: a scrubbed address has marks inside.
        text = re.sub(_URL, _address, text)
    for words, pattern, replacement in _STEPS:
        if any(word in text for word in words):
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
        text = re.sub(_LONG_WORD, _unless_name, text)
        text = _replaced(text, _LATE_DIGIT_STEPS)
    if "<id>" in text:
        text = re.sub(r"<id>[:.=&]+(?=\s|$)", "<id>", text)  # redacting takes what touches a secret with it
    return " ".join(text.split())


def unmarked(text: str) -> str:
    """What was redacted, by its kind alone: a mark's own colons and numbers are nothing the tool wrote."""
    for needed, pattern, replacement in _MARKS:
        if needed in text:
            text = re.sub(pattern, replacement, text)
    return text


def tail(path: str) -> str:
    """What of a path is the same on every machine: its last part, with the folder where that says too little."""
    name = base_name(path)
    if name.partition(".")[0] not in _EVERYWHERE:
        return name
    folder = base_name(tilde(path).replace("\\", "/").rstrip("/").rpartition("/")[0])
    return f"{folder}/{name}" if folder not in ("", ".", "..", "~") else name


def is_random(word: str) -> bool:
    """Whether letters and digits are mixed as nobody would in a name."""
    parts = [part for part in re.split(r"[-_.]+", word) if part]
    named = sum(len(part) for part in parts if re.fullmatch(_PART, part) or _of_words(part))
    return named < _MOSTLY * sum(map(len, parts))


def _of_words(part: str) -> bool:
    return sum(len(word) for word in re.findall(_WORD, part)) >= _MOSTLY * len(part)


def _replaced(text: str, steps: tuple[tuple[str, str], ...]) -> str:
    for pattern, replacement in steps:
        text = re.sub(pattern, replacement, text)
    return text


def _unless_name(found: re.Match[str]) -> str:
    return "<id>" if is_random(found.group()) else found.group()


def _address(found: re.Match[str]) -> str:
    """An address loses its host, its secrets and its query; what it points at stays."""
    _, _, rest = found.group().partition("://")
    _, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    name = path.rstrip("/").rpartition("/")[2]
    telling = re.fullmatch(r"(?=[^\d]*[A-Za-z]{2})[\w.+~-]{2,60}", name) and not is_random(name)
    return f"<url>/{name}" if telling else "<url>"


def _path_name(found: re.Match[str]) -> str:
    path = found.group()
    name = base_name(path)
    if re.match(_MODULE_PATH, path):
        return path
    if not re.search(_TEMPORARY, path):
        return tail(path) if re.search(_FILE, name) else name
    return "<tmp>/" + name if re.search(_FILE, name) else "<tmp>"
