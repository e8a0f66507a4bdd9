"""Files of a tree: names that every system allows, written whole or not at all, read without surprises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hardwon.durable import write_whole
from hardwon.errors import HardwonError
from hardwon.text.digest import digest

LARGEST = 64 * 1024 * 1024
_LONGEST_NAME = 80
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


def stems(names: Mapping[str, str]) -> dict[str, str]:
    """A file name for each key, from what it is called; those that would share one are told apart by their key."""
    plain = {key: _plain(name) for key, name in names.items()}
    folded = [stem.casefold() for stem in plain.values()]
    return {
        key: stem if folded.count(stem.casefold()) == 1 else f"{stem}-{digest(key, size=4)}"
        for key, stem in plain.items()
    }


def _plain(name: str) -> str:
    stem = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip(".-")[:_LONGEST_NAME]
    return f"{stem or 'unnamed'}_" if _DEVICES.fullmatch(stem) else stem or "unnamed"


def text_of(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise HardwonError(f"{path} is larger than {LARGEST >> 20} MiB: no person wrote that")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise HardwonError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise HardwonError(f"cannot read {path}: {error.strerror}") from error


def below(folder: Path, suffix: str) -> Iterable[Path]:
    """Files of a tree in a stable order; links are not followed, for they may lead anywhere."""
    found = (path for path in folder.rglob(f"*{suffix}") if path.is_file() and not path.is_symlink())
    inside = folder.resolve()
    return sorted(path for path in found if path.resolve().is_relative_to(inside))


def replace(path: Path, text: str) -> bool:
    """Write a file whole; returns whether that changed it."""
    content = text.encode()
    try:
        if path.is_file() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise HardwonError(f"cannot write {path}: {error.strerror}") from error
    return True


def removed(folder: Path, file: str) -> bool:
    """Take away a file of an earlier export, if it is still there and inside the folder."""
    path = folder / file
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return False
    try:
        path.unlink()
    except OSError as error:
        raise HardwonError(f"cannot remove {path}: {error.strerror}") from error
    return True
