"""A path as a project's sessions share it: from the project's root on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.store import anchors
from hardwon.store.database import Database
from hardwon.text.paths import tilde

_ELSEWHERE = re.compile(r"^[/~$]|^\.\.|^[A-Za-z]:|[*?\"'`$<>{}\n]")


def roots(db: Database, project: str) -> list[str]:
    """Where a project lies, the longest path first; on one machine or several."""
    return sorted((tilde(root).rstrip("/") for root in anchors.roots(db, project)), key=len, reverse=True)


def within(path: str, roots: Sequence[str]) -> str | None:
    """The path below a root, empty for the root itself; None when it lies elsewhere or cannot be told."""
    flat = path.strip("\"'").rstrip("/")
    for root in roots:
        if flat.casefold() == root.casefold():
            return ""
        if flat.casefold().startswith(f"{root.casefold()}/"):
            flat = flat[len(root) + 1 :]
            break
    flat = flat.removeprefix("./")
    return None if _ELSEWHERE.search(flat) else "" if flat == "." else flat
