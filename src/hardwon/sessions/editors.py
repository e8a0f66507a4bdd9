"""Where VS Code and the editors made from it keep what belongs to a workspace, and which folder a workspace is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hardwon.sessions.lines import json_object, text_of

VSCODE = ("Code", "Code - Insiders", "VSCodium")
CURSOR = ("Cursor", "Cursor Nightly")
EDITORS = (*VSCODE, *CURSOR, "Windsurf", "Kiro", "Antigravity")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server")
"""What an editor leaves on a machine that it works on from afar."""
_MAX_WORKSPACE_BYTES = 64 * 1024
_DRIVE = re.compile(r"/[A-Za-z]:(?=/|\Z)")


def settings_folders(environment: Mapping[str, str], home: Path) -> tuple[Path, Path, Path]:
    """Where Linux, macOS and Windows keep the settings of programs."""
    return (
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config"),
        home / "Library" / "Application Support",
        Path(environment.get("APPDATA") or home / "AppData" / "Roaming"),
    )


def user_folders(environment: Mapping[str, str], home: Path, editors: Iterable[str] = EDITORS) -> list[Path]:
    """The `User` folders of these editors, whether they are there or not."""
    places = settings_folders(environment, home)
    found = [place / editor / "User" for place in places for editor in editors]
    return [*found, *(home / server / "data" / "User" for server in _SERVERS)]


def workspace_folder(storage: Path) -> str:
    """The folder that a folder of `workspaceStorage` stands for; empty when it does not tell."""
    try:
        with (storage / "workspace.json").open("rb") as file:
            told = json_object(file.read(_MAX_WORKSPACE_BYTES)) or {}
    except OSError:
        return ""
    if folder := local_path(told.get("folder")):
        return folder
    several = local_path(told.get("workspace"))  # a file that lists folders, mostly beside them
    return several.rpartition("/")[0]


def local_path(uri: object) -> str:
    """The path in a `file:` or `vscode-remote:` address, as text or in parts; empty for anything else."""
    if isinstance(uri, dict):
        scheme, path = text_of(uri.get("scheme")) or "file", text_of(uri.get("fsPath")) or text_of(uri.get("path"))
        return _without_slash(path) if scheme in ("file", "vscode-remote") else ""
    try:
        parts = urlsplit(text_of(uri))
    except ValueError:
        return ""
    is_here = parts.scheme == "file" and parts.netloc in ("", "localhost")  # a network path must not be opened
    return _without_slash(unquote(parts.path)) if is_here or parts.scheme == "vscode-remote" else ""


def _without_slash(path: str) -> str:
    """`/c:/work` is `c:/work` to everybody else."""
    path = path[1:] if _DRIVE.match(path) else path
    return path if len(path) == 1 else path.rstrip("/")
