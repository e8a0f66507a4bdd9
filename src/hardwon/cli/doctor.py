"""The installation and the store: `doctor`, `config`, `backup`, `restore`."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, count, print_json, red, say, table, upgraded
from hardwon.errors import HardwonError, StoreError

if TYPE_CHECKING:
    from hardwon.store.database import Check
    from hardwon.store.repair import Repaired


# The installation itself: `doctor`, `config`.

_TO_KNOW = ("refused", "review", "distil")
_NUMBER = re.compile(r"\b\d{4,}(?= (?:items|entries|files|events|sessions|waiting)\b)")


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair a copy of the store and use that; the old store is kept.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also the checks that found nothing to tell; in a pipe, always.")
    ] = False,
    json: Json = False,
) -> None:
    """Check the installation and the store.

    Exits 1 if something is wrong or was lost for good.

    Example: hardwon doctor --fix
    """
    from hardwon.api import Hardwon
    from hardwon.cli.install import move_over
    from hardwon.home import close_to_others, home_directory, too_open

    closed: list[str] = []
    is_upgraded = False
    if fix:
        move_over()
        closed, _ = too_open(home_directory())
        close_to_others(closed)
    with Hardwon() as memory:
        with suppress(StoreError):  # of one that is damaged, too, the repair makes a new one
            is_upgraded = fix and upgraded(memory)
        repaired = memory.store.repair() if fix and not memory.store.healthy() else None
        checks = memory.store.check()
        healthy = all(check.ok for check in checks)
        mendable = not fix and not healthy and memory.exists and not memory.store.healthy()
    if json:
        print_json({"healthy": healthy, "checks": checks} | ({"repaired": repaired, "closed": closed} if fix else {}))
    else:
        for line in _told(repaired, closed, is_upgraded=is_upgraded) if fix else ():
            say(line)
        bad, notes = sum(not check.ok for check in checks), sum(check.ok and _is_news(check) for check in checks)
        noted = f" {count(notes, 'note')}:" if notes else ""
        say(f"{bad} of {count(len(checks), 'check')} failed.\n" if bad else f"Nothing is wrong.{noted}\n")
        every = all_ or not sys.stdout.isatty()
        told = checks if every else [check for check in checks if not check.ok or _is_news(check)]
        for check in sorted(told, key=lambda check: (check.ok, not _is_news(check))):
            mark = "BAD " if not check.ok else "note" if _is_news(check) else "ok  "
            says = _NUMBER.sub(lambda found: f"{int(found[0]):,}", check.says)
            say(f"{mark} {check.name:<12} {says}", style=str if check.ok else red)
        if len(told) < len(checks):
            say(f"\n{count(len(checks) - len(told), 'check')} passed: `hardwon doctor --all`")
        if mendable:
            say("`hardwon doctor --fix` repairs the store and reports what it cannot recover.")
    if not healthy or (repaired and repaired.short):
        raise typer.Exit(1)


def _is_news(check: Check) -> bool:
    """What is no fault, and yet for somebody to know or to do."""
    return check.says.startswith("none yet") or check.name in _TO_KNOW


def _told(repaired: Repaired | None, closed: list[str], *, is_upgraded: bool) -> list[str]:
    mended = [f"closed to other users: {path}" for path in closed]
    mended += ["brought the store of an older Hardwon up to date"] * is_upgraded
    if repaired is None:
        return [*(mended or ["Nothing to repair."]), ""]
    lines = [*mended, *repaired.done, f"the store as it was: {repaired.damaged}"]
    if repaired.again:
        lines.append(f"read {repaired.again} transcripts again")
    if repaired.quarantine:
        lines.append(f"the {repaired.rows} rows that could not stay: {repaired.quarantine}")
    missing = ["Lost, or not proven to be there:", *(f"  {line}" for line in repaired.short)] if repaired.short else []
    return ["Repaired:", *(f"  {line}" for line in lines), *missing, ""]


def config(
    name: Annotated[str | None, typer.Argument(help="A setting; without it, all are shown.")] = None,
    value: Annotated[str | None, typer.Argument(help="Its new value, or `default`; without it, it is shown.")] = None,
    json: Json = False,
) -> None:
    """Show or change a setting.

    Example: hardwon config budget 1200
    """
    from pathlib import Path

    import msgspec

    from hardwon import config as settings
    from hardwon.home import home_directory

    home = Path(home_directory())
    loaded = settings.save(home, name, value) if name and value is not None else settings.load(home)
    if name in ("half_life_days", "search_sessions") and value is not None:
        from hardwon.api import Hardwon

        with Hardwon(home) as memory:
            if memory.exists:
                memory.refresh_standing()
    values = msgspec.structs.asdict(loaded.config)
    if name is not None and name not in values:
        raise HardwonError(f"unknown setting '{name}'; known: {', '.join(values)}")
    wanted = [name] if name else list(values)
    if json:
        print_json({entry: {"value": values[entry], "from": loaded.origins[entry]} for entry in wanted})
        return
    origins = {entry: Path(loaded.origins[entry]).name for entry in wanted}
    origins = {entry: "environment" if origin.startswith("HARDWON_") else origin for entry, origin in origins.items()}
    rows: list[tuple[object, ...]] = []
    for about, names in settings.GROUPS.items():
        within = [entry for entry in names if entry in wanted]
        rows += [(about.upper(), "", "", "")] if within and not name else []
        rows += [
            (entry, values[entry], origins[entry].replace("default", ""), settings.MEANINGS[entry]) for entry in within
        ]
    columns = (0, 1, 2, 3) if any(row[2] for row in rows) else (0, 1, 3)
    headings = ("SETTING", "VALUE", "SET IN", "MEANING")
    table([headings[at] for at in columns], [[row[at] for at in columns] for row in rows])


# Keeping the store whole: `backup`, `restore`.


def backup(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; by default a file named by the time, in the home's backups.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option(help="Then delete the oldest backups in Hardwon's folder, keeping this many.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Copy the store while it is in use, and verify the copy.

    Example: hardwon backup --keep 7
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        made = memory.store.backup(file, keep=keep)
    if json:
        print_json(made)
        return
    say(f"{made.file}: {made.rows:,} rows, {made.bytes / 1e6:.1f} MB, verified.")
    for gone in made.removed:
        say(f"removed {gone}")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `hardwon backup` made.")],
    json: Json = False,
) -> None:
    """Restore the store from a backup, if the backup is sound. The current store is kept.

    Example: hardwon restore ~/hardwon-20261112-080000.db
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        done = memory.store.restore(file)
    if json:
        print_json(done)
        return
    say(f"{done.file} is now the store.")
    if done.kept:
        say(f"The previous store is kept at {done.kept}")
