"""Hermes: a plugin of our own, for its shell hooks cannot answer a failed tool call; the user enables it."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import NotAllowed
from hardwon.install.files import File, Own, plugin
from hardwon.install.where import Where

NAME = "hermes"
TITLE = "Hermes"
PROGRAM = "hermes"
AFTERWARDS = "Hermes loads a plugin only when it is enabled: run `hermes plugins enable hardwon`; it replaces no tools."


def folder(where: Where) -> Path:
    if where.windows and (local := where.environment.get("LOCALAPPDATA")):
        return where.folder("HERMES_HOME", local, "hermes")
    return where.folder("HERMES_HOME", ".hermes")


def files(where: Where) -> list[File]:
    if where.project:
        raise NotAllowed("Hermes loads no plugins of a project by itself: install without --project")
    base = folder(where) / "plugins" / "hardwon"
    return [
        Own(base / name, NAME, plugin(source, NAME, where))
        for name, source in (("plugin.yaml", "hermes.yaml"), ("__init__.py", "hermes.py"))
    ]
