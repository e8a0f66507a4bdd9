"""Sessions that are kept in a git repository: which of them are new, read from copies that are gone afterwards."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import msgspec
from msgspec import Struct

from hardwon.errors import NotFound
from hardwon.harvest.learn import VERSION
from hardwon.harvest.walk import Log, Progress, Report, unread
from hardwon.sessions.checkpoints import HISTORY, Kept, KeptLog, kept, not_committed, wanted
from hardwon.sessions.git_objects import Repository
from hardwon.store import meta, sessions
from hardwon.store.database import Database
from hardwon.text.normalise import digest, tilde

_BYTES_PER_LOG = 256 * 1024 * 1024
_BYTES_AT_ONCE = 4 * 1024 * 1024 * 1024
"""Most that is copied out of a repository in one go; the next harvest goes on from there."""
_TIPS_REMEMBERED = 2_000


class _Seen(Struct, frozen=True):
    """As what a repository was last read; kept under a hash of its place."""

    version: int
    owner: str
    refs: str
    logs: int
    tips: list[str]
    """Commits whose history was looked through."""


class GitHarvest(Struct, frozen=True):
    """What there is to read in a repository."""

    repository: str
    checkpoints: int
    logs: list[str]
    """New ones, as git would be asked for them."""
    unchanged: int
    notes: list[str] = []
    """What is not read, and how it would be."""


class FromGit:
    """One reading of one repository."""

    def __init__(self, db: Database, repository: Repository, refs: Sequence[str], *, mine: bool, folders: bool) -> None:
        self._db = db
        self._repository = repository
        self._owner = "own" if mine else "foreign"
        self._folders = folders
        self._key = "git " + digest(repository.place, str(folders), *sorted(refs), size=12)
        self._refs = wanted(repository, refs)
        self._state = digest(*(f"{name} {sha}" for part in self._refs for name, sha in sorted(part.items())), size=16)
        self._before = _decoded(meta.note(db, self._key))

    def news(self) -> GitHarvest:
        found, logs = self._found()
        fresh = unread(self._db, logs) if found else []
        unchanged = len(logs) - len(fresh) if found else self._before.logs
        return GitHarvest(
            self._repository.folder,
            found.checkpoints if found else 0,
            [log.name for log in fresh],
            unchanged,
            self._not_committed(),
        )

    def harvest(self, learn: Callable[[list[Log]], Report], told: Progress) -> Report:
        found, logs = self._found()
        if found is None:
            return Report(skipped=self._before.logs, notes=self._not_committed())
        fresh = unread(self._db, logs)
        by_path = {log.path: kept for log, kept in zip(logs, found.logs, strict=True)}
        with self._copies(fresh, by_path, told) as (copied, notes, left):
            report = learn(copied)
        report.skipped += len(logs) - len(fresh)
        report.notes += [f"{self._repository.folder}: {note}" for note in (*found.notes, *notes)]
        report.notes += self._not_committed()
        report.left_for_later += left
        with self._db.transaction():
            report.commits = sessions.link_commits(self._db, found.commits)
            if not left:
                tips = [*self._known_tips(), *self._refs.others.values()] if self._folders else []
                seen = _Seen(
                    VERSION, self._owner, self._state, len(logs), list(dict.fromkeys(tips))[-_TIPS_REMEMBERED:]
                )
                meta.set_note(self._db, self._key, msgspec.json.encode(seen).decode())
        return report

    def _not_committed(self) -> list[str]:
        """A line about histories that lie in the folder, are in no commit, and were not read as files either."""
        paths = not_committed(self._repository) if self._folders else []
        left = len(unread(self._db, [Log(path) for path in paths]))
        folder = os.path.relpath(os.path.join(self._repository.folder, HISTORY))
        files = "1 file is in no commit and was" if left == 1 else f"{left:,} files are in no commit and were"
        note = f"{HISTORY}: {files} not looked at. If yours: `hardwon harvest {quote(folder)} --mine`"
        return [note] if left else []

    def _found(self) -> tuple[Kept | None, list[Log]]:
        """None when no ref has moved since."""
        before = self._before
        if (before.version, before.owner, before.refs) == (VERSION, self._owner, self._state):
            return None, []
        found = kept(self._repository, self._refs, self._known_tips() if self._folders else None)
        return found, [self._log(number, log) for number, log in enumerate(found.logs)]

    def _known_tips(self) -> list[str]:
        same = (self._before.version, self._before.owner) == (VERSION, self._owner)
        return self._before.tips if same else []

    def _log(self, number: int, log: KeptLog) -> Log:
        place = self._repository.folder
        return Log(
            Path(str(number)) / log.file,
            owner="own" if self._owner == "own" else "foreign",
            folder=place,
            remote=self._repository.remote,
            kept_as=f"{tilde(place)}@{log.name}",
            kept_stamp=(log.size, int(digest(*log.parts)[:15], 16)),
        )

    @contextmanager
    def _copies(
        self, logs: list[Log], by_path: dict[Path, KeptLog], told: Progress
    ) -> Iterator[tuple[list[Log], list[str], int]]:
        """The logs as files in a folder of our own, named by us; what is wrong with the others; how many are left."""
        copied: list[Log] = []
        notes: list[str] = []
        room = _BYTES_AT_ONCE
        left = 0
        with tempfile.TemporaryDirectory(prefix="hardwon-git-") as folder:
            for done, log in enumerate(logs):
                told("reading git", done, len(logs))
                found = by_path[log.path]
                if found.size > _BYTES_PER_LOG:
                    notes.append(f"{found.name} is larger than {_BYTES_PER_LOG // 1024**2} MiB and was left out")
                    continue
                room -= found.size
                if room < 0:
                    left += 1
                    continue
                path = Path(folder) / log.path
                if self._copy(found, path):
                    copied.append(log._replace(path=path))
                else:
                    notes.append(f"{found.name} is damaged in the repository and was left out")
            yield copied, notes, left

    def _copy(self, log: KeptLog, path: Path) -> bool:
        path.parent.mkdir()
        with path.open("xb") as file:
            for part in log.parts:
                if not self._repository.write(part, _BYTES_PER_LOG, file):
                    return False
                file.write(b"\n" if len(log.parts) > 1 else b"")
        if log.at:
            os.utime(path, (log.at / 1_000_000,) * 2)  # dates a session that does not say when it was
        return True


_KEPT_AS = re.compile(r"(?P<folder>.+?)@(?P<name>(?:[0-9a-f]{7,40}|refs/[^:\n]+):[^\n]+)", re.DOTALL)


@contextmanager
def session_file(path: str) -> Iterator[Path]:
    """The file of a session by the path that is kept of it: of one in a repository, a copy that is gone afterwards.

    Raises `NotFound`, `HardwonError`.
    """
    file, kept_as = Path(path).expanduser(), _KEPT_AS.fullmatch(path)
    if file.exists() or kept_as is None:
        yield file
        return
    log = KeptLog(kept_as["name"], (kept_as["name"],), 0, 0, "")
    with (
        Repository(Path(kept_as["folder"]).expanduser()) as repository,
        tempfile.TemporaryDirectory(prefix="hardwon-git-") as folder,
    ):
        copy = Path(folder) / log.file
        with copy.open("xb") as into:
            if not repository.write(log.name, _BYTES_PER_LOG, into):
                raise NotFound(f"{path} is not in the repository any more")
        yield copy


def _decoded(note: str) -> _Seen:
    try:
        return msgspec.json.decode(note or "null", type=_Seen)
    except msgspec.DecodeError:
        return _Seen(0, "", "", 0, [])
