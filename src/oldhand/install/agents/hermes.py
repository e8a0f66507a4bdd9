"""Hermes: a plugin of our own, for its shell hooks cannot answer a failed tool call; the user enables it."""

from __future__ import annotations

from pathlib import Path

from oldhand.errors import NotAllowed
from oldhand.install.files import File, Own, plugin
from oldhand.install.where import Where

NAME = "hermes"
TITLE = "Hermes"
PROGRAM = "hermes"
AFTERWARDS = "Hermes loads a plugin only when it is enabled: run `hermes plugins enable oldhand`; it replaces no tools."


def folder(where: Where) -> Path:
    if where.windows and (local := where.environment.get("LOCALAPPDATA")):
        return where.folder("HERMES_HOME", local, "hermes")
    return where.folder("HERMES_HOME", ".hermes")


def files(where: Where) -> list[File]:
    if where.project:
        raise NotAllowed("Hermes loads no plugins of a project by itself: install without --project")
    base = folder(where) / "plugins" / "oldhand"
    return [
        Own(base / name, NAME, plugin(source, NAME, where))
        for name, source in (("plugin.yaml", "hermes.yaml"), ("__init__.py", "hermes.py"))
    ]
