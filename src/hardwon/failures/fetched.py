"""What a step brings in from elsewhere by a name that output gave, other than the error itself.

`No module named 'reef'` names what is missing, and to install it is no proposal of anybody's. A hint below it that
names another package is one, however it is worded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hardwon.failures.shell import commands

_FETCHES = {
    program: frozenset(verbs.split())
    for programs, verbs in (
        ("pip pip3 pipx gem brew apt apt-get dnf yum conda mamba cargo", "install download"),
        ("uv poetry", "add install"),
        ("npm pnpm yarn bun", "install add i exec dlx"),
        ("go", "get install run"),
        ("docker podman", "run pull"),
        ("npx uvx bunx", ""),
    )
    for program in programs.split()
}
_VERSION = re.compile(r"(?<=\w)(?:[=<>~!^]=?|@).*")
_SHORTEST = 3
_MISSING = (
    r"(?:no module named|(?:can'?t|cannot|could not|couldn't) (?:find|resolve)(?: \w+){{0,2}}|"
    r"no such (?:module|command)|command not found:|unresolved import|is not installed:)"
    r"[\s'\"`]+{name}|{name}['\"`]?:?(?: command)? not found"
)
"""How tools say that something is not there."""


def named_by(ran: Iterable[str], outputs: Iterable[str]) -> str:
    """The first thing fetched that output names, unless it names it as what is missing."""
    wanted = {name for line in ran for name in _fetched(line)}
    if not wanted:
        return ""
    lines = [line for output in outputs for line in output.splitlines()]
    for name in sorted(wanted):
        whole = re.compile(rf"(?<![\w@/.-]){re.escape(name)}(?![\w/-])", re.IGNORECASE)
        missing = re.compile(_MISSING.format(name=re.escape(name)), re.IGNORECASE)
        naming = [line for line in lines if whole.search(line)]
        if naming and not any(missing.search(line) for line in naming):
            return name
    return ""


def _fetched(line: str) -> set[str]:
    found: set[str] = set()
    for command in commands(line):
        verbs = _FETCHES.get(command.program)
        words = command.text.split()
        if verbs is None or (verbs and not verbs & set(words[1:3])):
            continue
        names = (_VERSION.sub("", word) for word in words[1:] if not word.startswith("-") and word not in verbs)
        found.update(name for name in names if len(name) >= _SHORTEST and not name.startswith((".", "/")))
    return found
