"""Shell lines as agents write them: whether two are the same try, what tells them apart, whether one is safe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hardwon.failures import purpose
from hardwon.failures.shell import Command, commands, program_family

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*", re.DOTALL)
_LONG_QUOTE = re.compile(r"\"(?:[^\"\\]|\\.){60,}\"|'[^']{60,}'", re.DOTALL)
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,40}\b")
_PROCESS_ID = re.compile(r"\b(kill(?: -\w+)*)(?: \d+)+")
_EVERYTHING = frozenset(("./...", "...", "./", "all", "--all"))
_ANY_TARGET = {("git", verb) for verb in "commit push pull fetch rebase merge cherry-pick".split()}
_VOLATILE_OPTIONS = frozenset("-v -q -s -x -vv --verbose --quiet --no-color --color=never -count=1".split())

_DANGERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "downloads and executes",
        re.compile(
            r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+)?[\"'<(\$]*\s*(?:curl|wget)\b|\biex\b|\|\s*python3?\b"
        ),
    ),
    (
        "destroys",
        re.compile(
            r"\brm\s+-\w*[rf]\w*[rf]?\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+[^\n]*(?:--force\b(?!-with)|-f\b)|checkout\s+--\s)|\bdrop\s+(?:table|database)\b|\bmkfs|\bdd\s+if=|\btruncate\b|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "disables a check",
        re.compile(
            r"--no-verify\b|\bHUSKY=0\b|\bLEFTHOOK=0\b|\bSKIP=\S+|--no-gpg-sign\b|--insecure\b|\bcurl\s+[^\n]*-k\b|NODE_TLS_REJECT_UNAUTHORIZED|sslVerify\s+false|--disable-\w*(?:security|sandbox)|--dangerously|chmod\s+(?:-R\s+)?(?:777|a\+rwx)|--break-system-packages|setenforce\s+0|--trusted-host"
        ),
    ),
    ("handles a secret", re.compile(r"‹secret:")),
)


def alike(failed: str, later: str) -> bool:
    """Whether `later` tries again everything that `failed` did."""
    wanted, tried = doing(failed), doing(later)
    return bool(wanted) and all(any(same(command, other) for other in tried) for command in wanted)


def doing(line: str) -> Sequence[Command]:
    """What a line does; when it only looks, what it looks at."""
    found = commands(line)
    return [command for command in found if not purpose.looks(command)] or list(found)


def same(failed: Command, later: Command, output: str = "") -> bool:
    """Whether a command tries the same thing again; `output` is what the failed one said."""
    if _tool(failed) != _tool(later) or failed.subcommand != later.subcommand:
        return False
    if failed.inline or later.inline:
        return failed.inline and later.inline and failed.text == later.text
    if failed.targets == later.targets or (failed.program, failed.subcommand) in _ANY_TARGET:
        return True
    if purpose.checks(failed):
        return _covers(failed, later, output)
    return len(failed.targets) == len(later.targets) and bool(failed.targets & later.targets)


def _covers(failed: Command, later: Command, output: str) -> bool:
    """A wider check covers a narrower one; a narrower one does, if all that it selects stands in the failure."""
    wanted, tried = failed.targets - _EVERYTHING, later.targets - _EVERYTHING
    if not tried:
        return True
    if wanted < tried:
        chosen = tried - wanted  # the same, and selects within it
    elif tried < wanted:
        chosen = tried
    else:
        return False
    return bool(output) and all(_named(target, output) for target in chosen)


def _named(target: str, output: str) -> bool:
    parts = [part.strip("^$./ ") for part in re.split(r"[|:]+", target)]
    return all(part in output for part in parts if part) and any(parts)


def _tool(command: Command) -> str:
    return program_family(command.program)


def changes_something(line: str) -> bool:
    """False for a line that only looks."""
    return any(not purpose.looks(command) for command in commands(line))


def exit_one_is_an_answer(line: str) -> bool:
    """The last command of the line answers by its exit code."""
    found = commands(line)
    return bool(found) and (
        purpose.exit_one_answers(found[-1]) or any(name in ("grep", "rg", "diff") for name in found[-1].through[-1:])
    )


def difference(failed: Command, later: Command, *, moved: bool) -> bool:
    """Whether the later call is another one: program, wrapper, variable, option, target; its folder only if asked."""
    if _tool(failed) != _tool(later) or failed.program != later.program or failed.settings != later.settings:
        return True
    if moved and later.folder and failed.folder != later.folder:
        return True
    wanted = (failed.targets, failed.options - _VOLATILE_OPTIONS)
    return wanted != (later.targets, later.options - _VOLATILE_OPTIONS)


@lru_cache(maxsize=4096)
def danger(line: str) -> str:
    """Why a person must approve this step before it is ever suggested; empty when it is harmless."""
    return next((why for why, pattern in _DANGERS if pattern.search(line)), "")


@lru_cache(maxsize=4096)
def gist(line: str, longest: int = 48) -> str:
    """What a command is about, without the options and values that change from call to call."""
    found = doing(line)
    if not found:
        return ""
    kept: list[str] = []
    for at, word in enumerate(_unassigned(found[-1].text).split()):
        if word.startswith("-") and not (word == "-m" and kept and kept[-1].startswith("python")):
            break
        if word[:1] in "\"'<" or "…" in word or "$(" in word or "`" in word or (at and word.isdigit()):
            break
        kept.append(word)
    return brief(" ".join(kept), longest)


def _unassigned(text: str) -> str:
    return re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)+(?=\S)", "", text)


def brief(line: str, longest: int = 120) -> str:
    """A command as one line of text that fits a briefing; long texts inside it are left out."""
    flat = _LONG_QUOTE.sub("…", _HEREDOC.sub("<<…", line))
    flat = _COMMIT.sub("<id>", _PROCESS_ID.sub(r"\1 <pid>", " ".join(flat.split())))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"
