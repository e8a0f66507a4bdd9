"""`hardwon worker`: what a team's store needs done, as jobs in the same PostgreSQL (procrastinate).

Jobs are rows in the workspace: any number of workers claim them, none does what another is doing, and what a worker
that was killed had begun is done again. Every job can be done twice without harm.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
import psycopg
from msgspec import Struct
from procrastinate import App, JobContext, PsycopgConnector, RetryStrategy
from procrastinate.exceptions import AlreadyEnqueued

from hardwon.api.hardwon import Hardwon
from hardwon.clock import moment, now
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.harvest.upkeep import archive_idle
from hardwon.harvest.walk import Log, look_over
from hardwon.home import private_folder
from hardwon.sessions.project import remote_key
from hardwon.store import meta
from hardwon.store.database import Database
from hardwon.text.normalise import digest
from hardwon.text.shown import one_line

Kind = Literal["folder", "git", "artifacts"]
Told = Callable[[str], None]

MOST_TRIES = 5
_WAIT = 4
"""Seconds before the second try; before the next 16, 64, 256."""
_HOURS_DONE_JOBS_ARE_KEPT = 72
_STALLED_SECONDS = 60.0
_EMBEDDING_SECONDS = 240.0
_GIT_SECONDS = 900
_PROTOCOLS = "https:ssh:git:file"
_MAX_ERROR_CHARACTERS = 300
_MAX_ARTIFACT_BYTES = 256 * 1024 * 1024
_ARTIFACTS_PER_PAGE = 100
ARTIFACT = "hardwon-transcript"
"""How the names of artefacts with transcripts begin."""
GITHUB_TOKEN = "HARDWON_GITHUB_TOKEN"  # noqa: S105 - the variable's name

SCHEDULE = {
    "sources": "*/5 * * * *",
    "embeddings": "*/10 * * * *",
    "recount": "*/15 * * * *",
    "decay": "10 3 * * *",
    "snapshots": "20 3 * * *",
    "retention": "30 3 * * *",
    "leftovers": "* * * * *",
}
"""What is done by itself, and when."""


class Source(Struct, frozen=True):
    """Where sessions come from that nobody pushes."""

    kind: Kind
    place: str
    mine: bool = False
    """They are the team's own: what is said there need not wait for a person."""


class FailedJob(Struct, frozen=True):
    """One that was tried as often as it may be: it waits for a person."""

    id: int
    task: str
    about: str
    tries: int
    error: str


# Where sessions come from; kept in the workspace.


def sources(db: Database) -> list[Source]:
    return msgspec.json.decode(meta.note(db, "sources") or "[]", type=list[Source])


def add_source(db: Database, source: Source) -> None:
    """In place of one of the same place. Raises `NotAllowed` for a place that cannot be."""
    if source.place.startswith("-") or not source.place.isprintable():
        raise NotAllowed(f"'{source.place}' is not a folder, a repository or an address")
    if source.kind == "artifacts" and urlsplit(source.place).scheme not in ("https", "http"):
        raise NotAllowed("artefacts are read from an address such as https://api.github.com/repos/OWNER/NAME")
    with db.transaction():
        _keep_sources(db, [*(one for one in sources(db) if one.place != source.place), source])


def remove_source(db: Database, place: str) -> None:
    """What was read from it stays. Raises `NotFound`."""
    with db.transaction():
        left = [one for one in sources(db) if one.place != place]
        if len(left) == len(sources(db)):
            raise NotFound(f"no source '{place}': `hardwon worker sources` lists them")
        _keep_sources(db, left)


def _keep_sources(db: Database, wanted: list[Source]) -> None:
    meta.set_note(db, "sources", msgspec.json.encode(sorted(wanted, key=lambda one: one.place)).decode())


# What is done. Each is a function of the store, done by whoever claims the job.


def _harvest(memory: Hardwon, source: Source) -> str:
    if source.kind == "folder":
        done = memory.harvest(source.place, mine=source.mine)
    elif source.kind == "git":
        done = memory.sessions.harvest_git(_repository(memory.home, source.place), mine=source.mine)
    else:
        return _harvest_artifacts(memory, source)
    return f"{done.sessions} sessions, {done.lessons} lessons"


def _repository(home: Path, place: str) -> Path:
    """A folder as it is; of an address, a mirror in the home folder, brought up to date."""
    if "://" not in place and not (place.partition(":")[0].count("@") == 1 and "/" not in place.partition(":")[0]):
        return Path(place).expanduser()
    mirrors = home / "repositories"
    private_folder(mirrors)
    mirror = mirrors / f"{digest(place, size=12)}.git"
    if (mirror / "HEAD").exists():
        _git("--git-dir", str(mirror), "fetch", "--quiet", "--prune", "--no-write-fetch-head")
    else:
        _git("clone", "--quiet", "--mirror", "--", place, str(mirror))
    return mirror


def _git(*arguments: str) -> None:
    ours = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": _PROTOCOLS, "LC_ALL": "C"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | ours
    command = ["git", "-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", *arguments]
    try:
        subprocess.run(  # noqa: S603 - what a person gave, after `--`, by protocols that run nothing
            command, env=environment, check=True, capture_output=True, text=True, timeout=_GIT_SECONDS
        )
    except FileNotFoundError as error:
        raise HardwonError("git is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise HardwonError(f"git took longer than {_GIT_SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        raise HardwonError(f"git: {one_line(error.stderr)[-_MAX_ERROR_CHARACTERS:]}") from error


def _harvest_artifacts(memory: Hardwon, source: Source) -> str:
    """The transcripts that CI left with `actions/upload-artifact`: those that are newer than what was seen last."""
    import httpx  # noqa: PLC0415 - an extra

    key = os.environ.get(GITHUB_TOKEN, "").strip()
    headers = {"Accept": "application/vnd.github+json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    db = memory.writing()
    seen = f"artifacts {digest(source.place, size=12)}"
    last = int(meta.note(db, seen) or 0)
    remote = source.place.replace("//api.github.com/repos/", "//github.com/").replace("/api/v3/repos/", "/")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="hardwon-artifacts-") as folder,
            httpx.Client(headers=headers, follow_redirects=True, timeout=60) as client,
        ):
            listed = client.get(f"{source.place}/actions/artifacts", params={"per_page": _ARTIFACTS_PER_PAGE})
            found = listed.raise_for_status().json()["artifacts"]
            fresh = [one for one in found if one["id"] > last and one["name"].startswith(ARTIFACT)]
            logs: list[Log] = []
            for one in fresh:
                if not one.get("expired") and one["size_in_bytes"] <= _MAX_ARTIFACT_BYTES:
                    packed = client.get(one["archive_download_url"]).raise_for_status().content
                    logs += _unpacked(packed, Path(folder), source, int(one["id"]), remote)
            done = memory.take_in(logs, None)
    except (httpx.HTTPError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise HardwonError(f"artefacts of {source.place}: {one_line(str(error))[:_MAX_ERROR_CHARACTERS]}") from error
    with db.transaction():
        meta.set_note(db, seen, str(max([last, *(int(one["id"]) for one in fresh)])))
    return f"{done.sessions} sessions, {done.lessons} lessons of {len(fresh)} artefacts"


def _unpacked(packed: bytes, folder: Path, source: Source, id: int, remote: str) -> list[Log]:
    """Its files under names of ours, so that no name in it leads anywhere; no more than is put up with."""
    logs: list[Log] = []
    room = _MAX_ARTIFACT_BYTES
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for number, entry in enumerate(archive.infolist()):
            if entry.is_dir():
                continue
            with archive.open(entry) as inside:
                content = inside.read(room + 1)
            room -= len(content)
            if room < 0:
                raise HardwonError(
                    f"artefact {id} of {source.place} unpacks to more than {_MAX_ARTIFACT_BYTES:,} bytes"
                )
            path = folder / f"{id}-{number}" / f"log{PurePosixPath(entry.filename).suffix[:20]}"
            path.parent.mkdir()
            path.write_bytes(content)
            owner: Literal["own", "foreign"] = "own" if source.mine else "foreign"
            kept = f"{source.place}#{id}/{number}"
            where = source.place if remote_key(remote) else ""
            logs.append(Log(path, owner, where, remote, kept, (len(content), int(digest(content.hex())[:15], 16))))
    return logs


def _embeddings(memory: Hardwon) -> str:
    done = memory.store.embed(seconds=_EMBEDDING_SECONDS)
    return f"{done.done} made, {done.left} left"


def _recount(memory: Hardwon) -> str:
    db = memory.writing()
    with db.unhurried():
        counted = meta.recount_stale(db)
        look_over(db)
        memory.refresh_standing()
    return f"{len(counted)} projects"


def _decay(memory: Hardwon) -> str:
    db = memory.writing()
    with db.unhurried(), db.transaction():
        changed = archive_idle(db, now(), memory.config.half_life_days)
    memory.refresh_standing()
    return f"{len(changed)} lessons"


def _snapshots(memory: Hardwon) -> str:
    db = memory.writing()
    with db.unhurried():
        return f"{memory.store.keep_daily_metrics()} kept"


def _retention(memory: Hardwon) -> str:
    if not memory.retain_days:
        return "nothing is too old"
    return f"{sum(memory.store.purge(memory.retain_days).rows.values())} rows"


WORK: dict[str, Callable[[Hardwon], str]] = {
    "embeddings": _embeddings,
    "recount": _recount,
    "decay": _decay,
    "snapshots": _snapshots,
    "retention": _retention,
}


# The queue.


class Worker:
    """Jobs of the workspace that the settings name, and who does them."""

    def __init__(self, home: Path | None = None, *, told: Told = lambda _: None, wait: int = _WAIT) -> None:
        """Raises `NotAllowed` where the store is a file."""
        self._home, self._told = home, told
        with Hardwon(home) as memory:
            address = memory.database
            if not isinstance(address, str):
                raise NotAllowed("a worker needs a store on PostgreSQL; of a file, `hardwon watch` takes care")
            memory.writing()
        self._address = address
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # what fails is told in a line, and kept
        self.app = App(
            connector=PsycopgConnector(conninfo=address, min_size=1, max_size=4),
            worker_defaults={"listen_notify": True},
        )
        self._retry = RetryStrategy(max_attempts=MOST_TRIES, exponential_wait=wait)
        self._declare()
        self._make_tables()

    def _declare(self) -> None:
        for name, work in WORK.items():
            self._task(name, work)
        self._task("harvest", _harvest)
        for name, act in (("sources", self._ask_sources), ("leftovers", self._take_up)):
            task = self.app.task(name=name, queueing_lock=name)(act)
            self.app.periodic(cron=SCHEDULE[name])(task)
        for name in WORK:
            self.app.periodic(cron=SCHEDULE[name])(self.app.tasks[name])

    def _task(self, name: str, work: Callable[..., str]) -> None:
        def run(context: JobContext, /, timestamp: int = 0, **about: Any) -> None:  # noqa: ARG001 - procrastinate gives it
            called = f"{name} {about['place']}" if "place" in about else name
            with closing(Hardwon(self._home)) as memory:
                try:
                    source = [msgspec.convert(about, Source)] if about else []
                    self._told(f"{called}: {work(memory, *source)}")
                except Exception as error:
                    kind = "" if isinstance(error, HardwonError) else f"{type(error).__name__}: "
                    said = one_line(f"{kind}{error}")
                    self._told(f"{called}: failed, try {context.job.attempts + 1} of {MOST_TRIES}: {said}")
                    with suppress(HardwonError):
                        meta.note_job(memory.writing(), context.job.id or 0, said[:_MAX_ERROR_CHARACTERS])
                    raise
                meta.note_job(memory.writing(), context.job.id or 0, "")

        self.app.task(name=name, pass_context=True, queueing_lock=name, retry=self._retry)(run)

    async def _ask_sources(self, timestamp: int = 0) -> None:  # noqa: ARG002 - procrastinate gives it
        for source in await asyncio.to_thread(self._sources):
            about = f"harvest {source.place}"
            with suppress(AlreadyEnqueued):
                task = self.app.tasks["harvest"].configure(lock=about, queueing_lock=about)
                await task.defer_async(**msgspec.structs.asdict(source))

    def _sources(self) -> list[Source]:
        with Hardwon(self._home) as memory:
            return sources(memory.reading())

    async def _take_up(self, timestamp: int = 0) -> None:  # noqa: ARG002 - procrastinate gives it
        """What a worker that was killed had begun is done again; what is long done is forgotten."""
        manager = self.app.job_manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_SECONDS):
            await manager.retry_job(job)
        await manager.delete_old_jobs(nb_hours=_HOURS_DONE_JOBS_ARE_KEPT)

    def _make_tables(self) -> None:
        """In the workspace: another's, which the search path may lead to, are not ours."""
        known = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'procrastinate_jobs'"
        with psycopg.connect(self._address, autocommit=True) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('hardwon jobs ' || current_schema()))")
            if connection.execute(known).fetchone() is None:
                connection.execute(self.app.schema_manager.get_schema())

    def run(self, *, once: bool = False, concurrency: int = 1) -> None:
        """Until it is stopped; `once` does all that there is to do now, and ends."""
        asyncio.run(self._run(once=once, concurrency=concurrency))

    async def _run(self, *, once: bool, concurrency: int) -> None:
        async with self.app.open_async():
            if once:
                await self._take_up()
                await self._ask_sources()
                for name in WORK:
                    with suppress(AlreadyEnqueued):
                        await self.app.tasks[name].defer_async()
            await self.app.run_worker_async(
                wait=not once, concurrency=concurrency, install_signal_handlers=True, shutdown_graceful_timeout=30
            )

    def retry(self, id: int) -> None:
        """Let a job that was given up be tried again. Raises `NotFound`."""
        with Hardwon(self._home) as memory:
            if id not in [one.id for one in failed(memory.reading())]:
                raise NotFound(f"no failed job {id}: `hardwon worker failed` lists them")

        async def again() -> None:
            async with self.app.open_async():
                await self.app.job_manager.retry_job_by_id_async(id, moment(now()))

        asyncio.run(again())


def failed(db: Database) -> list[FailedJob]:
    """Jobs that were given up, the newest first."""
    return [FailedJob(*row) for row in meta.failed_jobs(db)]
