"""opencode: a plugin of our own in its plugin folder, for both of its plugin interfaces; it calls the hook."""

from __future__ import annotations

from pathlib import Path

from hardwon.install.files import File, Own, plugin
from hardwon.install.where import Where

NAME = "opencode"
TITLE = "opencode"
PROGRAM = "opencode"
AFTERWARDS = "opencode loads it when it starts next."


def folder(where: Where) -> Path:
    base = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return where.folder("OPENCODE_CONFIG_DIR", *base.parts)


def files(where: Where) -> list[File]:
    base = where.project / ".opencode" if where.project else folder(where)
    return [Own(base / "plugins" / "hardwon.js", NAME, plugin("opencode.js", NAME, where))]
