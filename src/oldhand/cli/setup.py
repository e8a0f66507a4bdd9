"""The installation itself: `doctor`, `config`."""

from __future__ import annotations

from typing import Annotated

import typer

from oldhand.cli.output import Json, print_json
from oldhand.errors import OldhandError


def doctor(json: Json = False) -> None:
    """Check the installation and the store.

    Exits 1 when something is wrong.

    Example: oldhand doctor
    """
    from oldhand.api import Oldhand

    with Oldhand() as memory:
        checks = memory.check()
    healthy = all(check.ok for check in checks)
    if json:
        print_json({"healthy": healthy, "checks": checks})
    else:
        for check in checks:
            typer.echo(f"{'ok ' if check.ok else 'BAD'}  {check.name:<12} {check.says}")
    if not healthy:
        raise typer.Exit(1)


def config(
    name: Annotated[str | None, typer.Argument(help="A setting; without it, all are shown.")] = None,
    value: Annotated[str | None, typer.Argument(help="Its new value; without it, it is shown.")] = None,
    json: Json = False,
) -> None:
    """Show or change a setting.

    Example: oldhand config budget 1200
    """
    from pathlib import Path

    import msgspec

    from oldhand import config as settings
    from oldhand.home import home_directory

    home = Path(home_directory())
    loaded = settings.save(home, name, value) if name and value is not None else settings.load(home)
    values = msgspec.structs.asdict(loaded.config)
    if name is not None and name not in values:
        raise OldhandError(f"unknown setting '{name}'; known: {', '.join(values)}")
    wanted = [name] if name else list(values)
    if json:
        print_json({entry: {"value": values[entry], "from": loaded.origins[entry]} for entry in wanted})
        return
    for entry in wanted:
        typer.echo(f"{entry:<16}{values[entry]:<8}{settings.MEANINGS[entry]}  ({loaded.origins[entry]})")
