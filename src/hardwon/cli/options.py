"""Options that several commands share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from hardwon.errors import HardwonError

ProjectOption = Annotated[
    str | None, typer.Option("--project", "-p", help="Name, git remote, folder or id of a project.")
]


def moment(day: str | None, option: str = "--since") -> datetime | None:
    """A day that a person wrote, in UTC."""
    from hardwon.clock import microseconds
    from hardwon.model.times import moment

    if not day:
        return None
    stamp = microseconds(day)
    if stamp is None:
        raise HardwonError(f"{option} {day} is not a day: write it as 2026-10-31")
    return moment(stamp)
