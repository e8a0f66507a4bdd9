"""Cline: its hooks cannot brief a session, so it gets the MCP server, and in a project the block in AGENTS.md."""

from __future__ import annotations

from pathlib import Path

from hardwon.install.command import Server
from hardwon.install.files import Block, File
from hardwon.install.where import Where

NAME = "cline"
TITLE = "Cline"
PROGRAM = "cline"
AFTERWARDS = "The server needs `hardwon[mcp]`; `hardwon watch` harvests its sessions as they finish."


def folder(where: Where) -> Path:
    return where.folder("CLINE_DIR", ".cline")


def files(where: Where) -> list[File]:
    if where.project:
        return [Block(where.project / "AGENTS.md", where.briefing())]
    data = where.folder("CLINE_DATA_DIR", *(folder(where) / "data").parts)
    default = data / "settings" / "cline_mcp_settings.json"
    return [Server(where.folder("CLINE_MCP_SETTINGS_PATH", *default.parts), where)]
