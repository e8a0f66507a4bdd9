"""E-mail addresses."""

from __future__ import annotations

import re

from oldhand.scrub.rule import Span

_MAILBOX_LENGTH = 64
_DOMAIN = re.compile(r"@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_(\[-])")
_MAILBOX_BACKWARDS = re.compile(r"[A-Za-z0-9_+-](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_])?")
_VERSION = re.compile(r"@v?\d+\.\d+\.")
# Endings of files that are no top-level domains.
_FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp ico css scss html xml txt js mjs cjs ts tsx jsx json rb go java kt"
    " jar whl yml yaml toml lock gz tgz".split()
)


def find_emails(text: str) -> list[Span]:
    spans: list[Span] = []
    if "@" not in text:
        return spans
    taken = 0
    for domain in _DOMAIN.finditer(text):
        at, end = domain.span()
        before = text[max(taken, at - _MAILBOX_LENGTH) : at]
        # Backwards, because a search forwards would try every word of the text.
        mailbox = _MAILBOX_BACKWARDS.match(before[::-1])
        if mailbox and not _is_file_or_version(domain[0]):
            start = at - mailbox.end()
            if text[start - 1 : start] == "\\" and text[start] in "nrt":
                start += 1
            if start < at and not _is_remote(text, start, at):
                spans.append(Span(start, end, "email"))
                taken = end
    return spans


def _is_file_or_version(domain: str) -> bool:
    return domain.rpartition(".")[2].lower() in _FILE_ENDINGS or bool(_VERSION.match(domain))


def _is_remote(text: str, start: int, at: int) -> bool:
    """`git@host` addresses a repository, unless it stands where a person's address does."""
    return text[start:at] == "git" and text[start - 1 : start] != "<"
