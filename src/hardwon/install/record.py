"""What was made in other programs' settings, written down so that it can be taken out again and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from hardwon.durable import write_whole
from hardwon.errors import HardwonError

FILE = "installs.json"


def made_in(home: Path, settings: Path) -> list[str]:
    found = _read(home).get(str(settings), [])
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def keep(home: Path, settings: Path, made: list[str]) -> None:
    """Remember what was made, beside what was made before; an empty list forgets the file."""
    known = _read(home)
    if made:
        known[str(settings)] = list(dict.fromkeys([*made_in(home, settings), *made]))
    elif known.pop(str(settings), None) is None:
        return
    home.mkdir(parents=True, exist_ok=True)
    write_whole(home / FILE, json.dumps(known, indent=2, sort_keys=True) + "\n")


def _read(home: Path) -> dict[str, object]:
    try:
        known = json.loads((home / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HardwonError(f"{home / FILE} cannot be read ({error}): move it away") from error
    return known if isinstance(known, dict) else {}
