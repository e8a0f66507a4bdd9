"""A word about what waits for review, where a person is looking anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hardwon.api import Hardwon


def say_pending(memory: Hardwon) -> None:
    if notice := memory.review.notice():
        typer.echo(notice, err=True)
