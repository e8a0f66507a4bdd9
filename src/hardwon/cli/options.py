"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from hardwon.errors import HardwonError

ProjectOption = Annotated[
    str | None, typer.Option("--project", "-p", help="Name, git remote, folder or id of a project.")
]


def moment(day: str | None, option: str = "--since") -> int:
    """A day that a person wrote, as microseconds."""
    from hardwon.clock import microseconds

    stamp = microseconds(day) if day else 0
    if stamp is None:
        raise HardwonError(f"{option} {day} is not a day: write it as 2026-10-31")
    return stamp
