"""git and gh: a rejected push, a conflict, a `fatal:` or `error:` line, what GitHub answers."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_LINE = re.compile(r"^(?:remote: )?(fatal|error): (?!failed to push some refs)(.+)$", re.MULTILINE)
_REJECTED = re.compile(r"^ ?! \[(?:remote )?rejected\].*\((.+)\)$", re.MULTILINE)
_CONFLICT = re.compile(r"^CONFLICT \(([^)]+)\): (.+)$", re.MULTILINE)
_HINT = re.compile(r"^hint: .*\bgit\b|^usage: git\b|^Aborting$", re.MULTILINE)
_WORDS = re.compile(
    r"\b(?:git|refs?|worktrees?|branch(?:es)?|repository|pathspec|commits?|committed|merge|rebas\w+|remote|"
    r"stash|index|revision|tag"
    r"|cherry-pick|checkout|patch|HEAD|submodule|upstream|unmerged|unstaged|pull|Username|Password|detached|"
    r"overwritten by"
    r"|unable to access|email address|untracked|object|ambiguous argument)\b"
)
# A commit's subject, the machine's own folder or name.
_REST = re.compile(r"\.\.\. | at '[/~][^']*'$| \(got '")
_RULES: tuple[Rule, ...] = (
    ("rejected", "remote: error: GH", r"^remote: error: (GH\d+: .+?)\.?$"),
    ("git", "not a git command", r"^git: ('\S+' is not a git command)"),
    ("nothing to commit", "nothing to commit", r"^(nothing to commit).*$"),
    ("nothing to commit", "nothing added", r"^(nothing added to commit but untracked files present).*$"),
    ("nothing to commit", "no changes added", r"^(no changes added to commit).*$"),
    ("ignored", "ignored by one of", r"^The following paths are (ignored by one of your \.gitignore files):?$"),
    ("ssh", "(publickey", r"(Permission denied \(publickey)"),
    ("ssh", "Host key", r"^(Host key verification failed)"),
)
_GITHUB: tuple[Rule, ...] = (
    ("gh", "GraphQL: ", r"^(?:.*?)GraphQL: (.+?)(?: \([\w.]+\))?$"),
    ("gh", "HTTP 4", r"^(?:gh: |.*?: )?(.* ?\(HTTP \d+\)|HTTP \d{3}: [^(\n]+)"),
    ("gh", "gh auth",
     r"^(?:To get started with GitHub CLI|.*not logged in(?:to)? (?:to )?any (?:GitHub )?hosts).*(gh auth login)"),
    ("gh", "pull request",
     r"^(no (?:open )?pull requests found for branch \".+\"|a pull request for branch .+ already exists)"),
    ("gh", "default remote repository", r"(No default remote repository has been set)"),
    ("gh", "no git remotes found", r"^(no git remotes found)"),
    ("gh", "could not find any", r"^(could not find any .+)$"),
)  # fmt: skip


def find(text: str) -> Span | None:
    if found := first(text, _RULES[:1]):
        return _of(found)
    if rejected := _REJECTED.search(text):
        return Span("git", "rejected", rejected.group(1), "", rejected.group().strip())
    if conflict := _CONFLICT.search(text):
        return Span(
            "git",
            "conflict",
            f"{conflict.group(1)}: {conflict.group(2).removeprefix('Merge conflict in ')}",
            "",
            conflict.group(),
        )
    if found := first(text, _RULES[6:]):
        return _of(found)  # before the `fatal:` that follows and says less
    lines = list(_LINE.finditer(text))
    chosen = next((found for found in lines if found.group(1) == "fatal"), lines[0] if lines else None)
    if chosen and (_WORDS.search(chosen.group(2)) or _HINT.search(text)):
        message = _REST.split(chosen.group(2), maxsplit=1)[0]
        return Span("git", chosen.group(1), message, "", f"{chosen.group(1)}: {message}")
    if found := first(text, _GITHUB) or first(text, _RULES[1:6]):
        return _of(found)
    return None


def _of(found: tuple[str, re.Match[str]]) -> Span:
    message = found[1].group(1).strip()
    return Span(
        "git", found[0], "not logged in" if message == "gh auth login" else message, "", found[1].group().strip()
    )
