"""Find transcripts: where each agent keeps them, or below a path that was named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from hardwon.errors import NotFound
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.reader import formats

# Where each agent keeps its transcripts, and which folder a workspace of VS Code and the editors made from it is.
#
# A function for each format that has a place of its own, by the name of its module: folders and files, whether they
# are there or not.

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


SUFFIXES = (".jsonl", ".json", ".md", ".traj", ".db", ".vscdb", ".zst")
_NEVER = frozenset(("node_modules", ".git", ".venv", "__pycache__"))


def installed(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Every transcript of every known agent on this machine, in a fixed order."""
    places = {place for roots in ROOTS.values() for place in roots(environment, home)}
    return [Path(name) for name in sorted({name for place in places for name in _files(place)})]


def of_agent(agent: str, environment: Mapping[str, str], home: Path) -> list[Path]:
    """Every transcript that one agent keeps on this machine."""
    places = _places_by_agent(environment, home).get(agent, set())
    return [Path(name) for name in sorted({name for place in places for name in _files(place)})]


class OwnFolders:
    """Where this user's own sessions lie: in the agents' folders, and in those that the settings name."""

    def __init__(self, environment: Mapping[str, str], home: Path, named: str = "") -> None:
        """`named` are folders with the system's separator of paths between them."""
        folders = [place for roots in ROOTS.values() for place in roots(environment, home)]
        folders += [Path(name).expanduser() for name in named.split(os.pathsep) if name.strip()]
        self._own = {os.path.realpath(folder): True for folder in folders}
        """Real folder, or file, → whether it is one of them or lies in one."""
        self._links: dict[str, str] = {}

    def hold(self, path: Path | str) -> bool:
        """Whether a file lies in one of them, wherever links lead."""
        folder, name = os.path.split(os.path.abspath(path))
        if os.path.islink(path):
            return self._holds(os.path.realpath(path))
        return self._holds(os.path.join(self._real(folder), name))

    def _holds(self, place: str) -> bool:
        found = self._own.get(place)
        if found is None:
            above = os.path.dirname(place)
            found = self._own[place] = above != place and self._holds(above)
        return found

    def _real(self, folder: str) -> str:
        """Many files lie in one folder, and following links is slow."""
        if folder not in self._links:
            self._links[folder] = os.path.realpath(folder)
        return self._links[folder]


def counted(environment: Mapping[str, str], home: Path) -> dict[str, int]:
    """How many transcripts each agent keeps here."""
    places = _places_by_agent(environment, home)
    return {agent: sum(1 for place in own for _ in _files(place)) for agent, own in places.items()}


def _places_by_agent(environment: Mapping[str, str], home: Path) -> dict[str, set[Path]]:
    """Of every agent that can be read, those without a place of their own too."""
    places: dict[str, set[Path]] = {}
    for entry in formats():
        own = ROOTS[entry.NAME](environment, home) if entry.NAME in ROOTS else ()
        places.setdefault(entry.AGENT, set()).update(own)
    return places


class Unread(NamedTuple):
    """Sessions that are here and that no reader can read."""

    agent: str
    files: int
    why: str
    """And what can be done about it."""


_CLOSED = "only the editor can read them; save chats that matter as Markdown there and `hardwon ingest` them"
_NO_READER = "there is no reader for them yet"
_UNREAD = (
    ("windsurf", (".codeium/windsurf*/cascade/*.pb",), _CLOSED),
    ("antigravity", (".gemini/antigravity*/conversations/*.pb", ".gemini/antigravity*/conversations/*.db"), _CLOSED),
    (
        "kiro-cli before version 2",
        (".local/share/kiro-cli/data.sqlite3", ".local/share/amazon-q/data.sqlite3"),
        _NO_READER,
    ),
)
"""Agent, where below the home folder, why."""
_KIRO = "globalStorage/kiro.kiroagent/workspace-sessions/*/*-*.json"
_MAX_UNREAD_COUNTED = 10_000


def unread(environment: Mapping[str, str], home: Path) -> list[Unread]:
    """Of each agent whose sessions are here and cannot be read, how many and why."""
    places = [(agent, [home], patterns, why) for agent, patterns, why in _UNREAD]
    places.append(
        ("kiro", user_folders(environment, home, ("Kiro",)), (_KIRO,), f"{_NO_READER}; those of Kiro CLI are read")
    )
    found = []
    for agent, folders, patterns, why in places:
        files = (path for folder in folders for pattern in patterns for path in folder.glob(pattern))
        if count := sum(1 for _ in islice(files, _MAX_UNREAD_COUNTED)):
            found.append(Unread(agent, count, why))
    return found


def below(path: Path) -> list[Path]:
    """A file as it is, a folder's transcripts in a fixed order."""
    return [Path(name) for name in names_below(path)]


def names_below(path: Path) -> list[str]:
    """The same as text, for those who look at many and open few: making a Path takes longer than finding the file."""
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise NotFound(f"no such file or folder: {path}")
    return sorted(_files(path))


def _files(root: Path) -> Iterator[str]:
    """Regular files only, no symlink followed: loops, FIFOs and devices cannot hold us up."""
    if root.is_file() and not root.is_symlink():
        yield str(root)
        return
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name in _NEVER:
                            continue
                        waiting.append(entry.path)
                    elif (
                        entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False) and _is_text(entry.path)
                    ):
                        yield entry.path
        except OSError:
            continue  # gone or not ours to read: there is nothing to find in it


def _is_text(name: str) -> bool:
    """Whether a name can be written down: on some systems it may be any bytes."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
