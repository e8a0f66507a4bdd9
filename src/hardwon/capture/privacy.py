"""What a line about a failure must never tell an agent: who, where, and whose repository."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hardwon.scrub.scrubber import Scrubber

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s'\"<>`)\]]+")
_REMOTE = re.compile(r"\b[\w.-]{1,64}@[\w.-]{1,253}:[\w./~-]{1,200}")
_NAMED_REPOSITORY = re.compile(r"((?:^|\s)(?:-R|--repo(?:sitory)?)[ =])[\w.-]+/[\w./-]+")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_COLONS = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]{2,45}(?:\.\d{1,3}){0,3}(?![\w:])")


def public(line: str, repositories: Iterable[str]) -> str:
    """The line without addresses, e-mail addresses, home folders and the names of `owner/repository`."""
    line = _URL.sub("<url>", line)
    line = _REMOTE.sub("<repository>", line)
    line = _NAMED_REPOSITORY.sub(r"\1<repository>", line)
    for name in repositories:
        line = re.sub(rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])", "<repository>", line)
    line = _IPV4.sub("<ip>", line)
    line = _COLONS.sub(_address, line)
    return Scrubber().scrub(line)


def repository_names(keys: Iterable[str]) -> list[str]:
    """`host/owner/repository` and `owner/repository` of every project that is known by its remote."""
    found: list[str] = []
    for key in keys:
        parts = key.split("/")
        if len(parts) > 2 and "." in parts[0] and not key.startswith(("~", "/", ".")):
            found += [key, "/".join(parts[1:]), "/".join(parts[-2:])]
    return list(dict.fromkeys(found))


def _address(found: re.Match[str]) -> str:
    """Five numbers with colons are an address of some kind, two are a time of day."""
    text = found[0].rstrip(":")
    told = text.count(":") >= 4 or "::" in text
    return "<ip>" + found[0][len(text) :] if told and any(map(str.isdigit, text)) else found[0]
