"""Which project a session belongs to. Standard library only: the hook asks the same question."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from hardwon.text.normalise import base_name, digest, tilde

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Container

_WORKTREE = re.compile(r"[\\/](?:\.worktrees|\.claude[\\/]worktrees|\.git[\\/]worktrees)[\\/][^\\/]+.*$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)$")
_ORIGIN_URL = re.compile(r'\[remote "([^"]+)"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE | re.DOTALL)
_MAX_CONFIG_CHARACTERS = 256 * 1024


class Project:
    """A project's identity: the git remote where there is one, else its root folder."""

    __slots__ = ("claims", "id", "key", "name", "root")

    def __init__(self, key: str, root: str, claims: str = "") -> None:
        self.id = project_id(key)
        self.key = key
        self.name = base_name(key)
        self.root = root
        """The folder, with the home folder as `~`; empty when no folder is known."""
        self.claims = claims
        """The remote that the folder says it is a clone of, where nobody has confirmed that: anybody can write it."""

    def scrubbed(self, scrub: Callable[[str], str]) -> Project:
        """As it may be stored: a folder's name, or a remote's path, may hold a token."""
        return Project(scrub(self.key), scrub(self.root), scrub(self.claims))

    def settled(self, roots: dict[str, str], known: Container[str]) -> Project:
        """The same if it is new, or its folder is confirmed; else the folder by itself, with what it claims to be.

        `roots` are confirmed folders and their keys, `known` the keys that have lessons to lose.
        """
        if self.key == self.root or not self.root or self.key not in known or roots.get(self.root) == self.key:
            return self
        return Project(self.root, self.root, claims=self.key)


def identify(cwd: str, remote: str = "", known_roots: dict[str, str] | None = None) -> Project | None:
    """The project of a working folder; None when nothing is known of it.

    `known_roots` maps root folders, and keys of what was joined by hand, to the key of the project that has them.
    """
    folder, found_remote = _on_disk(cwd) if cwd else ("", "")
    root = tilde(folder or _WORKTREE.sub("", cwd).rstrip("/\\"))
    known = known_roots or {}
    key = remote_key(remote or found_remote) or known.get(root, "") or root
    key = known.get(key, key)
    if not key or key == "~":
        return None
    return Project(key, root)


_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def folders_above(folder: str) -> list[str]:
    """The folder and those above it, nearest first, as the store writes them; also one of another system's."""
    separators = "/\\" if _DRIVE.match(folder) else "/"  # elsewhere a backslash is a part of a name
    found = [folder.rstrip(separators)]
    while (cut := max(map(found[-1].rfind, separators))) > 0:
        found.append(found[-1][:cut])
    return [short for short in map(tilde, found) if short not in ("", "~")]


@lru_cache(maxsize=4096)
def repository_of(folder: str) -> str:
    """The main folder of the git repository that a folder lies in; empty when it lies in none."""
    return _on_disk(folder)[0]


@lru_cache(maxsize=4096)
def project_key(cwd: str, remote: str = "") -> str:
    """The key alone; many sessions share a folder, and looking at the disk is slow."""
    found = identify(cwd, remote)
    return found.key if found else ""


@lru_cache(maxsize=4096)
def checkout(cwd: str) -> str:
    """The top folder of the working copy that a folder lies in, a worktree's own; else the folder itself."""
    if not cwd.startswith(("\\\\", "//")) and os.path.isabs(cwd):
        folder = cwd
        while folder != os.path.dirname(folder):
            if os.path.exists(os.path.join(folder, ".git")):
                return folder
            folder = os.path.dirname(folder)
    return cwd.rstrip("/\\")


def within_checkout(folder: str) -> str:
    """Where a folder lies below the top of its working copy; empty at the top, or where there is none."""
    return folder[len(checkout(folder)) :].strip("/\\").replace("\\", "/")


def project_id(key: str) -> str:
    return "P" + digest(key)


def remote_key(url: str) -> str:
    """`git@host:Owner/Repo.git` and `https://user:token@host/owner/repo` are one remote."""
    url = url.strip()
    if not url:
        return ""
    if _SCHEME.match(url):
        rest = _SCHEME.sub("", url).partition("@")[2] or _SCHEME.sub("", url)
        rest = re.sub(r"^([^/:]+):\d+/", r"\1/", rest)
    elif scp := _SCP.match(url):
        rest = f"{scp.group(1)}/{scp.group(2)}"
    else:
        return ""  # a local path says no more than the root does
    return rest.removesuffix("/").removesuffix(".git").lower()


def without_login(url: str) -> str:
    """The address of a remote without the user or token that stands in it."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", url)


def _on_disk(cwd: str) -> tuple[str, str]:
    """The repository's main folder and its remote, read from `.git` without running git."""
    if cwd.startswith(("\\\\", "//")) or not os.path.isabs(cwd):
        return "", ""  # a network path in a hostile transcript must not be opened
    folder = cwd
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.isdir(entry):
            return folder, _remote_in(os.path.join(entry, "config"))
        if os.path.isfile(entry):
            return _linked_worktree(folder, entry)
        parent = os.path.dirname(folder)
        if parent == folder:
            return "", ""
        folder = parent


def _linked_worktree(folder: str, entry: str) -> tuple[str, str]:
    """A file in place of `.git` can name any repository: one that holds the folder, or names it in turn, is meant."""
    pointer = _read(entry).strip().removeprefix("gitdir:").strip()
    git_folder = os.path.normpath(os.path.join(folder, pointer))
    main, inside, _ = git_folder.partition(os.sep + ".git" + os.sep)
    back = _read(os.path.join(git_folder, "gitdir")).strip()
    agrees = back and os.path.normpath(os.path.join(git_folder, back)) == os.path.normpath(entry)
    if not inside or not (agrees or folder.startswith(main + os.sep)):
        return folder, ""
    return main, _remote_in(os.path.join(main, ".git", "config"))


def _remote_in(config: str) -> str:
    if not os.path.isfile(config):
        return ""
    remotes = dict(_ORIGIN_URL.findall(_read(config)))
    return remotes.get("origin") or next(iter(remotes.values()), "")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_CONFIG_CHARACTERS)
    except OSError:
        return ""
