"""Leave of an error's words what is its identity: names stay, what varies from run to run does not."""

from __future__ import annotations

import re

from oldhand.text.paths import base_name, tilde

_MARK = re.compile(r"‹(?:(email)|[a-z]+)[^›\n]{0,80}›")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>`)\]]*[^\s'\"<>`)\].,;:?!]", re.IGNORECASE)
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_SECRET_VALUE = re.compile(
    r"((?:pass(?:word|wd)?|secret|token|api[_-]?key|authorization)[\"']?\s*[=:]\s*)[^\s,;]+", re.IGNORECASE
)
_LONG_ID = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{20,}\b")
_PATH = re.compile(
    r"(?:~|[A-Za-z]:(?=[\\/])|\.{1,2}(?=/)|(?<![\w.@-]))(?:[\\/]+[\w.@+~-]+){1,40}[\\/]?|(?<![@\w.+-])(?:[\w.+-]+/)+[\w.@+-]+"
)
_TEMPORARY = re.compile(r"^(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/|[\\/]Temp[\\/]", re.IGNORECASE)
_POSITION = re.compile(r"(?<=[\w)\]>])(?::\d+(?:[:-]\d+)?|\(\d+,\d+\))(?!\w)")
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?:[-+.]\w+)*")
_CODE = re.compile(r"\b(status(?: code)?|http(?:/[\d.]+)?|errno|exit code|signal|code)([ :=#]+)(\d+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w<#])[-+]?\d[\d_,.]*(?:[eE][-+]?\d+)?(?:ms|s|m|h|%|[KMGT]i?B|kB|B)?(?!\w)")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans("‘’“”`´", "''''''")


def identity(message: str) -> str:
    """The message with paths cut to their last part and numbers, ids, times and secrets masked."""
    text = _URL.sub("<url>", message.translate(_QUOTES))  # first: a scrubbed address has marks inside
    text = _MARK.sub(lambda found: "<email>" if found.group(1) else "<id>", text)
    text = tilde(text)
    text = _EMAIL.sub("<email>", text)
    text = _SECRET_VALUE.sub(r"\1<id>", text)
    text = _TIME.sub("<time>", text)
    text = _UUID.sub("<id>", text)
    text = _ADDRESS.sub("<id>", text)
    text = _PATH.sub(_path_name, text)
    text = _POSITION.sub("", text)
    text = _VERSION.sub("<version>", text)
    text = _LONG_ID.sub("<id>", text)
    text = _HASH.sub("<id>", text)
    text = _CODE.sub(lambda found: f"{found.group(1)}{found.group(2)}#{found.group(3)}", text)
    text = _NUMBER.sub("<n>", text)
    return _SPACE.sub(" ", text).strip()


def _path_name(found: re.Match[str]) -> str:
    path = found.group()
    if _TEMPORARY.search(path):
        name = base_name(path)
        return "<tmp>" if not re.search(r"\.[A-Za-z]\w{0,5}$", name) else "<tmp>/" + name
    return base_name(path)
