"""Where each agent keeps its transcripts, and which folder a workspace of VS Code and the editors made from it is.

A function for each format that has a place of its own, by the name of its module: folders and files, whether they are
there or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hardwon.sessions.lines import json_object, text_of

VSCODE = ("Code", "Code - Insiders", "VSCodium")
CURSOR = ("Cursor", "Cursor Nightly")
EDITORS = (*VSCODE, *CURSOR, "Windsurf", "Kiro", "Antigravity")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server")
"""What an editor leaves on a machine that it works on from afar."""
_CLINES = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
_VSCODE_CHATS = ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
_MINI_AGENT = "mini-swe-agent"
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


def amp(environment: Mapping[str, str], home: Path) -> list[Path]:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    before = Path("globalStorage", "sourcegraph.amp", "threads3")
    return [data / "amp" / "threads", *(user / before for user in user_folders(environment, home))]


def claude_code(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("CLAUDE_CONFIG_DIR"):
        return [Path(moved) / "projects"]
    desktop = [place / "Claude" / "local-agent-mode-sessions" for place in settings_folders(environment, home)]
    return [
        home / ".claude" / "projects",
        home / ".config" / "claude" / "projects",
        *(found for place in desktop for found in sorted(place.glob("*/*/local_*/.claude/projects"))),
    ]


def cline(environment: Mapping[str, str], home: Path) -> list[Path]:
    data = Path(environment.get("CLINE_DATA_DIR") or Path(environment.get("CLINE_DIR") or home / ".cline") / "data")
    sessions = Path(environment.get("CLINE_SESSION_DATA_DIR") or data / "sessions")
    storages = (user / "globalStorage" for user in user_folders(environment, home))
    return [
        sessions,
        data / "tasks",
        *(storage / name / "tasks" for storage in storages for name in _CLINES),
    ]


def codex(environment: Mapping[str, str], home: Path) -> list[Path]:
    base = Path(environment.get("CODEX_HOME") or home / ".codex")
    return [base / "sessions", base / "archived_sessions"]


def continue_dev(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The sessions themselves: beside them lies a list of all."""
    base = Path(environment.get("CONTINUE_GLOBAL_DIR") or home / ".continue")
    return [path for path in sorted((base / "sessions").glob("*.json")) if path.name != "sessions.json"]


def copilot(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("COPILOT_HOME"):
        return [Path(moved) / "session-state"]
    places = [home / ".copilot" / "session-state"]
    if state := environment.get("XDG_STATE_HOME"):
        places.append(Path(state) / ".copilot" / "session-state")  # where 0.x kept them
    return places


def cursor(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The databases themselves: their folders hold much else."""
    users = user_folders(environment, home, CURSOR)
    of_workspaces = (sorted(user.glob("workspaceStorage/*/state.vscdb")) for user in users)
    return [*(user / "globalStorage" / "state.vscdb" for user in users), *chain.from_iterable(of_workspaces)]


def cursor_cli(environment: Mapping[str, str], home: Path) -> list[Path]:  # noqa: ARG001 - it reads no variable
    return sorted((home / ".cursor" / "projects").glob("*/agent-transcripts"))


def droid(environment: Mapping[str, str], home: Path) -> list[Path]:  # noqa: ARG001 - it reads no variable
    return [home / ".factory" / "sessions", home / ".factory" / "projects"]


def gemini(environment: Mapping[str, str], home: Path) -> list[Path]:
    return [Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"]


def goose(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("GOOSE_PATH_ROOT"):
        return [Path(moved) / "data" / "sessions"]
    roaming = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    return [
        Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "goose" / "sessions",
        roaming / "Block" / "goose" / "data" / "sessions",
    ]


def hermes(environment: Mapping[str, str], home: Path) -> list[Path]:
    return [Path(environment.get("HERMES_HOME") or home / ".hermes") / "sessions"]


def hermes_cli(environment: Mapping[str, str], home: Path) -> list[Path]:
    return [base / "sessions" for base in _hermes_homes(environment, home)]


def _hermes_homes(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Hermes' own folder, and on Windows the other place for it."""
    if moved := environment.get("HERMES_HOME"):
        return [Path(moved)]
    local = environment.get("LOCALAPPDATA")
    return [home / ".hermes", *([Path(local) / "hermes"] if local else [])]


def hermes_state(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The databases themselves: their folders hold much else."""
    bases = _hermes_homes(environment, home)
    return [database for base in bases for database in (base / "state.db", *sorted(base.glob("profiles/*/state.db")))]


def kiro(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The logs themselves: beside each lies a document of its own."""
    base = Path(environment.get("KIRO_HOME") or home / ".kiro")
    return sorted((base / "sessions" / "cli").glob("*.jsonl"))


def opencode(environment: Mapping[str, str], home: Path) -> list[Path]:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    return [data / "storage" / "session", data / (environment.get("OPENCODE_DB") or "opencode.db")]


def openhands(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("OPENHANDS_CONVERSATIONS_DIR"):
        return [Path(moved)]
    return [Path(environment.get("OPENHANDS_PERSISTENCE_DIR") or home / ".openhands") / "conversations"]


def pi(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("PI_CODING_AGENT_SESSION_DIR"):
        return [Path(moved)]
    return [Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent") / "sessions"]


def qwen(environment: Mapping[str, str], home: Path) -> list[Path]:
    base = Path(environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME") or home / ".qwen")
    return [base / "projects", base / "tmp"]


def swe_agent(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Both write where they are told; only mini-swe-agent keeps its last run in a place of its own."""
    if moved := environment.get("MSWEA_GLOBAL_CONFIG_DIR"):
        return [Path(moved)]
    return [
        home / ".config" / _MINI_AGENT,
        home / "Library" / "Application Support" / _MINI_AGENT,
        Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / _MINI_AGENT / _MINI_AGENT,
    ]


def vscode_copilot(environment: Mapping[str, str], home: Path) -> list[Path]:
    users = user_folders(environment, home)
    return list(chain.from_iterable(sorted(user.glob(folder)) for user in users for folder in _VSCODE_CHATS))


def zed(environment: Mapping[str, str], home: Path) -> list[Path]:
    places = (
        Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "zed",
        home / "Library" / "Application Support" / "Zed",
        Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "Zed",
    )
    return [place / "threads" / "threads.db" for place in places]


# By the name of the format. Aider and SpecStory write into the projects themselves; what is exchanged lies anywhere.
ROOTS = {
    "amp": amp,
    "claude-code": claude_code,
    "cline": cline,
    "codex": codex,
    "continue": continue_dev,
    "copilot-cli": copilot,
    "cursor": cursor,
    "cursor-cli": cursor_cli,
    "droid": droid,
    "gemini-cli": gemini,
    "goose": goose,
    "hermes": hermes,
    "hermes-cli": hermes_cli,
    "hermes-state": hermes_state,
    "kiro-cli": kiro,
    "opencode": opencode,
    "openhands": openhands,
    "pi": pi,
    "qwen-code": qwen,
    "swe-agent": swe_agent,
    "vscode-copilot": vscode_copilot,
    "zed": zed,
}
