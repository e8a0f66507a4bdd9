"""Cline: its hooks cannot brief a session, so it gets the MCP server, and in a project the block in AGENTS.md."""

from __future__ import annotations

from pathlib import Path

from oldhand.install.block import Block
from oldhand.install.files import File
from oldhand.install.server import Server
from oldhand.install.where import Where

NAME = "cline"
TITLE = "Cline"
PROGRAM = "cline"
AFTERWARDS = "The server needs `oldhand[mcp]`; `oldhand watch` harvests its sessions as they finish."


def folder(where: Where) -> Path:
    return where.folder("CLINE_DIR", ".cline")


def files(where: Where) -> list[File]:
    if where.project:
        return [Block(where.project / "AGENTS.md", where.briefing())]
    data = where.folder("CLINE_DATA_DIR", *(folder(where) / "data").parts)
    default = data / "settings" / "cline_mcp_settings.json"
    return [Server(where.folder("CLINE_MCP_SETTINGS_PATH", *default.parts), where)]
