"""E-mail addresses, and the home folders that carry a person's name."""

from __future__ import annotations

import re

from oldhand.scrub.marks import MARK_ENDS
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

_PERSON = r"(?!(?:Shared|Public|linuxbrew)\b)\w(?:[\w.+-]{0,62}\w)?(?![\w-])"


def _at_root(folder: str) -> str:
    """A folder where a path begins; its literal start is what keeps the search fast."""
    plain = re.escape(folder)
    return (
        rf"{plain}(?:(?<![\w~/.)}}\]{MARK_ENDS}-]{plain})|(?<=\\[nrt]{plain})"
        rf"|(?<=\s-[A-Za-z]{plain})|(?<=^-[A-Za-z]{plain})|(?<=file://{plain}))"
    )


def _homes_in(*folders: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(folder, re.compile(_at_root(folder) + _PERSON)) for folder in folders]


# By the part they share, which alone is searched in most texts; longer ones first.
_UNIX_HOMES = {
    "/home/": _homes_in("/var/home/", "/home/"),
    "/Users/": _homes_in("/mnt/c/Users/", "/c/Users/", "/Users/"),
    "/root": [("/root", re.compile(_at_root("/root") + r"(?![\w.-])"))],
}
_WINDOWS_STARTS = (":\\", ":/Users/", ":/users/", "%3A/")
_WINDOWS_HOME = re.compile(
    r"(?<![A-Za-z0-9])(?:file:///)?[A-Za-z](?::|%3A)(?:\\{1,4}|/)Users(?:\\{1,4}|/)"
    rf"(?:[\w.+%-]{{1,32}}(?: [\w.+-]{{1,32}}){{0,2}}(?=[\\/])|{_PERSON})",
    re.I,
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


def shorten_homes(text: str) -> str:
    """`/home/alice/x` becomes `~/x`, wherever the system keeps its homes."""
    if "sers" in text and any(start in text for start in _WINDOWS_STARTS):
        text = _WINDOWS_HOME.sub("~", text)
    for tail, homes in _UNIX_HOMES.items():
        if tail in text:
            for folder, home in homes:
                if folder in text:
                    text = home.sub("~", text)
    return text


def _is_file_or_version(domain: str) -> bool:
    return domain.rpartition(".")[2].lower() in _FILE_ENDINGS or bool(_VERSION.match(domain))


def _is_remote(text: str, start: int, at: int) -> bool:
    """`git@host` addresses a repository, unless it stands where a person's address does."""
    return text[start:at] == "git" and text[start - 1 : start] != "<"
