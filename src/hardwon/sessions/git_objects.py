"""A git repository's objects, read without a checkout and without trusting anything in it.

Only plumbing is run, with no hook, filter, pager or transport, and nothing that the repository's own settings could
start. Names out of its trees are never used as names of files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from hardwon.errors import HardwonError, NotFound
from hardwon.sessions.project import repository_of

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.commitGraph=false",  # a damaged one would be believed
    "log.showSignature=false",  # runs what the repository calls gpg
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # over whatever the repository allows: what is missing is not fetched
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Where the user says which repositories they trust; all other variables of git are about another repository."""
_SECONDS = 1800.0
"""All that reading one repository may take."""
_BYTES_PER_TREE = 64 * 1024 * 1024
_BYTES_PER_BLOCK = 1024 * 1024
_TREE_ENTRIES = 2_000_000
"""Most entries of trees that are looked at: a small repository can unfold to more than any disk holds."""
_BYTES_PER_ANSWER = 512 * 1024 * 1024
_FILE_MODES = ("100644", "100755", "100664")


class Entry(NamedTuple):
    """What a tree holds under a name."""

    mode: str
    name: str
    sha: str

    @property
    def is_folder(self) -> bool:
        return self.mode == "40000"

    @property
    def is_file(self) -> bool:
        return self.mode in _FILE_MODES


class Change(NamedTuple):
    """A file as a commit left it."""

    commit: str
    at: int
    """Microseconds since 1970."""
    path: str
    sha: str


class CommitMessage(NamedTuple):
    sha: str
    at: int
    text: str


class Repository:
    """To be used in a `with`. Raises `NotFound` and `HardwonError` with what is wrong, in a line."""

    def __init__(self, path: Path, seconds: float = _SECONDS) -> None:
        if not path.is_dir():
            raise NotFound(f"no such folder: {path}")
        git = shutil.which("git")
        if git is None:
            raise HardwonError("git is not installed: it is needed to read sessions out of a repository")
        self._seconds = seconds
        self._line = [git, "--no-pager", *(part for one in _SETTINGS for part in ("-c", one)), "-C", str(path)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _USERS_OWN}
        self._environment = kept | _ENVIRONMENT
        self._path = path
        self._running: set[subprocess.Popen[bytes]] = set()
        self._late = threading.Event()
        self._timer = threading.Timer(seconds, self._stop)
        self._timer.daemon = True
        self._timer.start()
        self._reader: _Batch | None = None
        self._entries = 0
        self.remote = ""
        self.unreadable_trees = 0
        try:
            self._identify()
        except BaseException:
            self.close()
            raise

    def _identify(self) -> None:
        asked = ("--absolute-git-dir", "--git-common-dir", "--show-object-format", "--is-bare-repository")
        said = self._answer("rev-parse", *asked).decode("utf-8", "surrogateescape").split("\n")
        if len(said) < len(asked):
            raise HardwonError(f"{self._path} is not a git repository that can be read")
        own = Path(said[0])
        shared = Path(os.path.normpath(own if said[1] == "." else self._path / said[1]))
        self.place = str(shared if shared.is_dir() else own)
        """The folder of the object database, which all work trees of a repository have in common."""
        self._bytes_per_id = 32 if said[2] == "sha256" else 20
        self.folder = self.place if said[3] == "true" else repository_of(str(self._path.absolute())) or self.place
        """What people call the repository: its main work tree, or the bare repository."""
        if (Path(self.place) / "objects" / "info" / "alternates").exists():
            raise HardwonError(
                f"{self._path} borrows objects from elsewhere (objects/info/alternates) and is not read: "
                "`git repack -a -d` there makes it whole, then remove that file"
            )
        with suppress(HardwonError):  # there may be none
            self.remote = self._answer("config", "--get", "remote.origin.url").decode("utf-8", "replace").strip()

    def __enter__(self) -> Repository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._timer.cancel()
        for process in list(self._running):
            self._end(process)

    def _stop(self) -> None:
        self._late.set()
        for process in list(self._running):
            with suppress(OSError):
                process.kill()

    def refs(self) -> dict[str, str]:
        """Every ref's whole name and what it points to."""
        found = self._answer("for-each-ref", "--format=%(objectname) %(refname)").decode("utf-8", "replace")
        return {name: sha for sha, _, name in (line.partition(" ") for line in found.splitlines()) if name}

    def resolved(self, name: str) -> str:
        """The commit that somebody means by a name. Raises `NotFound`."""
        with suppress(HardwonError):
            line = self._answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            if sha := line.decode("ascii", "replace").strip():
                return sha
        raise NotFound(f"no branch, tag or commit '{name}' in {self._path}")

    def tree(self, id: str) -> list[Entry]:
        """What a tree, or the tree of a commit, holds; nothing when it cannot be read."""
        content = self.content(f"{id}^{{tree}}", _BYTES_PER_TREE, kind="tree")
        if content is None:
            self.unreadable_trees += 1
            return []
        found, at = [], 0
        while at < len(content):
            end = content.find(b"\0", at)
            mode, _, name = content[at:end].partition(b" ")
            at = end + 1 + self._bytes_per_id
            if end < 0 or at > len(content):
                break
            self._entries += 1
            if self._entries > _TREE_ENTRIES:
                raise HardwonError(f"{self._path} unfolds to more than {_TREE_ENTRIES:,} files and is not read")
            found.append(
                Entry(mode.decode("ascii", "replace"), name.decode("utf-8", "replace"), content[end + 1 : at].hex())
            )
        return found

    def sizes(self, ids: Sequence[str]) -> dict[str, int]:
        """Of the files among them that are there."""
        asked = "".join(f"{id}\n" for id in ids).encode()
        found = self._answer("cat-file", "--batch-check", input=asked).decode("ascii", "replace")
        told = (line.split(" ") for line in found.splitlines())
        return {line[0]: int(line[2]) for line in told if len(line) == 3 and line[1] == "blob"}

    def ids_of(self, content: bytes) -> set[str]:
        """What git calls a file of this content, with its line ends as they are or as git may keep them."""
        algorithm = "sha256" if self._bytes_per_id == 32 else "sha1"
        kept = (content, content.replace(b"\r\n", b"\n"))
        return {hashlib.new(algorithm, b"blob %d\0" % len(one) + one).hexdigest() for one in kept}

    def content(self, id: str, most: int, kind: str = "blob") -> bytes | None:
        """An object, if it is whole, of that kind and no larger."""
        parts: list[bytes] = []
        return b"".join(parts) if self._pour(id, most, kind, parts.append) else None

    def write(self, id: str, most: int, file: IO[bytes]) -> bool:
        """Write a file's content, a part at a time; False when it is not whole."""
        return self._pour(id, most, "blob", file.write)

    def _pour(self, id: str, most: int, kind: str, into: Callable[[bytes], object]) -> bool:
        if self._reader is None:
            self._reader = _Batch(self._start("cat-file", "--batch"))
        try:
            return self._reader.pour(id, most, kind, into)
        except (OSError, ValueError, EOFError):  # git gives up at a broken object; the others can be read
            self._end(self._reader.process)
            self._reader = None
            self._in_time()
            return False

    def messages(self, tips: Iterable[str], holding: str, most: int = -1) -> Iterator[CommitMessage]:
        """The commits that lead to the tips and whose messages have some words, the newest first; at `most` so many."""
        asked = "".join(f"{tip}\n" for tip in tips).encode()
        found = self._answer(  # what stands before --stdin holds for what comes in by it
            "rev-list", "--ignore-missing", "--stdin", "--fixed-strings", f"--grep={holding}",
            f"--max-count={most}", "--format=%x00%H %ct%n%B", input=asked,
        )  # fmt: skip
        for part in found.split(b"\0")[1:]:
            head, _, text = part.partition(b"\n")
            sha, _, seconds = head.decode("ascii", "replace").partition(" ")
            if seconds.isdigit():
                yield CommitMessage(sha, int(seconds) * 1_000_000, text.decode("utf-8", "replace"))

    def changes(self, tips: Iterable[str], known: Iterable[str], paths: Sequence[str]) -> Iterator[Change]:
        """Files below some paths as the commits left them that lead to the tips and not to known ones, newest first."""
        asked = [*tips, *(f"^{sha}" for sha in known)]
        listed = self._answer(
            "rev-list", "--ignore-missing", "--stdin", "--timestamp", "--full-history", "--", *paths,
            input="".join(f"{one}\n" for one in asked).encode(),
        )  # fmt: skip
        times = {sha: int(at) for at, _, sha in (line.partition(" ") for line in listed.decode("ascii").splitlines())}
        if not times:
            return
        given = "".join(f"{sha}\n" for sha in times).encode()
        told = self._answer(
            "diff-tree", "--stdin", "-r", "-z", "-m", "--root", "--raw", "--no-renames", "--no-ext-diff",
            "--no-textconv", "--no-abbrev", "--", *paths, input=given,
        )  # fmt: skip
        commit, parts = "", iter(told.split(b"\0"))
        for part in parts:
            if not part.startswith(b":"):
                commit = part.decode("ascii", "replace").strip()[: 2 * self._bytes_per_id]
                continue
            path = next(parts, b"").decode("utf-8", "replace")
            fields = part[1:].decode("ascii", "replace").split(" ")
            if len(fields) == 5 and fields[1] in _FILE_MODES:
                yield Change(commit, times.get(commit, 0) * 1_000_000, path, fields[3])

    def renames(self, tip: str, most: int) -> Iterator[tuple[str, str]]:
        """(old path, new path) of the files that the newest commits renamed, the newest first."""
        listed = self._answer("rev-list", f"--max-count={most}", "--no-merges", "--end-of-options", tip)
        told = self._answer(
            "diff-tree", "--stdin", "-r", "-z", "--raw", "-M", "-l200", "--diff-filter=R", "--no-ext-diff",
            "--no-textconv", input=listed,
        )  # fmt: skip
        parts = iter(told.split(b"\0"))
        for part in parts:
            if part.startswith(b":"):
                yield next(parts, b"").decode("utf-8", "replace"), next(parts, b"").decode("utf-8", "replace")

    def _start(self, *arguments: str, errors: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        self._in_time()
        process = subprocess.Popen(  # noqa: S603 - our own arguments, and ids made of hexadecimal digits
            [*self._line, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=self._environment,
        )  # fmt: skip
        self._running.add(process)
        if self._late.is_set():  # the timer may have looked a moment before
            process.kill()
        return process

    def _answer(self, *arguments: str, input: bytes = b"") -> bytes:
        with tempfile.TemporaryFile() as errors:
            process = self._start(*arguments, errors=errors)
            assert process.stdin
            assert process.stdout
            feeding = threading.Thread(target=_feed, args=(process.stdin, input), daemon=True)
            feeding.start()
            said = process.stdout.read(_BYTES_PER_ANSWER + 1)
            if len(said) > _BYTES_PER_ANSWER:
                process.kill()
            feeding.join()
            code = process.wait()
            process.stdout.close()
            self._running.discard(process)
            self._in_time()
            if len(said) > _BYTES_PER_ANSWER:
                raise HardwonError(f"{self._path} holds more changes than can be looked through and is not read")
            if code:
                errors.seek(0)
                raise HardwonError(self._explained(errors.read(_BYTES_PER_BLOCK).decode("utf-8", "replace")))
            return said

    def _explained(self, said: str) -> str:
        if "dubious ownership" in said:
            return (
                f"{self._path} belongs to another user, and git does not read it; if you trust it: "
                f"git config --global --add safe.directory {self._path.absolute()}"
            )
        if "not a git repository" in said:
            return f"{self._path} is not a git repository"
        wrong = [line for line in said.splitlines() if line.startswith(("fatal:", "error:"))] or said.splitlines()
        return f"{self._path} cannot be read: git says {' '.join((wrong or ['nothing'])[-1].split())[:200]}"

    def _in_time(self) -> None:
        if self._late.is_set():
            raise HardwonError(f"{self._path} took longer than {self._seconds:g} s to read and was given up")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._running.discard(process)
        with suppress(OSError):
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()
        process.wait()


def _feed(into: IO[bytes], content: bytes) -> None:
    with suppress(OSError), into:  # who reads may have ended
        into.write(content)


class _Batch:
    """One `git cat-file --batch`, asked for one object after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self._in, self._out = process.stdin, process.stdout

    def pour(self, id: str, most: int, kind: str, into: Callable[[bytes], object]) -> bool:
        """Raises OSError, ValueError or EOFError when git ended before the object did."""
        self._in.write(f"{id}\n".encode())
        self._in.flush()
        head = self._out.readline()
        if not head.endswith(b"\n"):
            raise EOFError
        fields = head.decode("ascii", "replace").split()
        if len(fields) != 3 or not fields[2].isdigit():
            return False  # missing, ambiguous
        left = int(fields[2])
        wanted = fields[1] == kind and left <= most
        if left > most:
            raise ValueError(f"{left} bytes")  # quicker than to read on to its end
        while left:
            block = self._out.read(min(left, _BYTES_PER_BLOCK))
            if not block:
                raise EOFError
            left -= len(block)
            if wanted:
                into(block)
        self._out.read(1)
        return wanted
