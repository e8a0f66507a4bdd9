"""A block in AGENTS.md or CLAUDE.md that Hardwon keeps, between two marks; the rest of the file is never touched."""

from __future__ import annotations

import difflib
from pathlib import Path

from hardwon import home
from hardwon.durable import write_whole
from hardwon.errors import HardwonError

BEGIN = "<!-- hardwon:begin (kept by `hardwon bootstrap --write`; edits inside are lost) -->"
END = "<!-- hardwon:end -->"
_FORMER = ((BEGIN.replace("hardwon", home.FORMER_NAME), BEGIN), (END.replace("hardwon", home.FORMER_NAME), END))


def with_block(old: str, block: str) -> str:
    """The file with the block in place of the one it has; at its end, if it has none; without it, if it is empty."""
    for mark, own in _FORMER:
        old = old.replace(mark, own)
    newline = "\r\n" if "\r\n" in old else "\n"
    begins, ends = old.count(BEGIN), old.count(END)
    if (begins, ends) not in ((0, 0), (1, 1)) or (begins and old.index(BEGIN) > old.index(END)):
        raise HardwonError(
            f"the file must contain {BEGIN!r} and {END!r} exactly once each, in this order: fix it and try again"
        )
    body = newline.join([BEGIN, *block.splitlines(), END]) if block else ""
    if begins:
        before, _, rest = old.partition(BEGIN)
        after = rest.partition(END)[2]
        if not body:
            return before.rstrip() + newline + after.lstrip() if before.strip() else after.lstrip()
        return before + body + after
    if not body:
        return old
    gap = "" if not old or old.endswith(newline * 2) else newline if old.endswith(newline) else newline * 2
    return f"{old}{gap}{body}{newline}"


def keep_block(path: Path, block: str, *, write: bool = True) -> str:
    """Bring the file's block up to date; returns the difference, empty when there is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            old = file.read()
    except FileNotFoundError:
        old = ""
    except (OSError, UnicodeDecodeError) as error:
        raise HardwonError(f"cannot read {path}: {error}") from error
    new = with_block(old, block)
    if new == old:
        return ""
    if write:
        write_whole(path, new, shared=True)
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), lineterm="")
    return "\n".join(lines)
