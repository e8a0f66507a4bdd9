"""Jobs in the same PostgreSQL: harvested on a schedule, tried again, given up in the open, taken over from the dead."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from hardwon import Hardwon, NotAllowed, NotFound
from hardwon.jobs import MOST_TRIES, WORK, Source, Worker, add_source, failed, remove_source, sources
from hardwon.store import meta
from tests.conftest import ClaudeSession, Run


@pytest.fixture
def memory(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hardwon]:
    monkeypatch.setenv("HARDWON_DATABASE", postgres)
    with Hardwon() as memory:
        memory.writing()
        yield memory


def session(name: str = "s-1", cwd: str = "/srv/work/reef") -> ClaudeSession:
    return ClaudeSession(name, cwd=cwd).user("Always use reefctl in this project.").run("make", "no rule", exit_code=2)


def test_a_shared_folder_and_a_repository_are_harvested_and_the_store_is_cared_for(
    memory: Hardwon, tmp_path: Path
) -> None:
    shared, repository = tmp_path / "shared", tmp_path / "tidepool"
    session().write(shared)
    session("s-2", str(repository)).write(repository / ".claude")
    for command in (
        ["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "logs"],
    ):  # fmt: skip
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    for one in (Source("folder", str(shared), mine=True), Source("git", f"file://{repository}")):
        add_source(memory.writing(), one)
    told: list[str] = []
    Worker(told=told.append).run(once=True)
    assert {line.partition(":")[0].partition(" ")[0] for line in told} == {*WORK, "harvest"}
    assert [line for line in told if "failed" in line] == []
    owners = memory.reading().query("SELECT external_id, owner FROM session ORDER BY 1")
    assert owners == [("s-1", "own"), ("s-2", "foreign")], "what a repository holds is other people's word"
    assert [one.text for one in memory.lessons.list()]
    session("s-3", str(repository)).write(repository / ".claude")
    for command in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "more"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    Worker().run(once=True)
    assert memory.reading().query("SELECT count(*) FROM session") == [(3,)], "the mirror was brought up to date"
    assert all(one.ok for one in memory.store.check() if one.name in ("integrity", "rows", "audit", "jobs"))


def test_what_fails_is_tried_again_then_given_up_in_the_open_and_can_be_retried(
    memory: Hardwon, hardwon: Run, tmp_path: Path
) -> None:
    place = tmp_path / "not yet"
    add_source(memory.writing(), Source("folder", str(place)))
    told: list[str] = []
    for _ in range(MOST_TRIES + 1):
        worker = Worker(told=told.append, wait=0)
        worker.run(once=True)
        with psycopg.connect(os.environ["HARDWON_DATABASE"], autocommit=True) as connection:  # time goes by
            connection.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE scheduled_at > now()")
    (lost,) = failed(memory.reading())
    assert (lost.task, lost.about, lost.tries >= MOST_TRIES) == ("harvest", str(place), True)
    assert "no such file or folder" in lost.error
    (told_by_doctor,) = [one for one in memory.store.check() if one.name == "jobs"]
    assert not told_by_doctor.ok
    assert str(place) in told_by_doctor.says
    listed = json.loads(hardwon("worker", "failed", "--json").stdout)
    assert [one["id"] for one in listed] == [lost.id]
    session().write(place)
    remove_source(memory.writing(), str(place))
    assert hardwon("worker", "retry", str(lost.id)).returncode == 0
    Worker().run(once=True)
    assert failed(memory.reading()) == []
    assert memory.reading().query("SELECT count(*) FROM session") == [(1,)]
    assert "no failed job" in hardwon("worker", "retry", str(lost.id)).stderr


def test_what_a_killed_worker_had_begun_is_done_by_the_next(memory: Hardwon, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    session().write(folder)
    add_source(memory.writing(), Source("folder", str(folder)))
    held = psycopg.connect(os.environ["HARDWON_DATABASE"])
    held.execute("SELECT pg_advisory_xact_lock(hashtext('hardwon ' || current_schema()))")  # a harvest must wait for it
    program = "from hardwon.jobs import Worker; Worker().run(once=True)"
    process = subprocess.Popen([sys.executable, "-c", program])
    began = "SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing' AND task_name = 'harvest'"
    with psycopg.connect(os.environ["HARDWON_DATABASE"], autocommit=True) as connection:
        known = "SELECT to_regclass(current_schema() || '.procrastinate_jobs')"
        while connection.execute(known).fetchone() == (None,) or connection.execute(began).fetchone() == (0,):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        held.close()
        connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
    Worker().run(once=True)
    assert memory.reading().query("SELECT count(*) FROM session") == [(1,)]
    assert memory.reading().query("SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'") == [(0,)]


def test_several_workers_do_each_job_once(memory: Hardwon, tmp_path: Path) -> None:
    for number in range(6):
        folder = tmp_path / str(number)
        session(f"s-{number}", f"/srv/work/{number}").write(folder)
        add_source(memory.writing(), Source("folder", str(folder)))
    told: list[str] = []
    running = [threading.Thread(target=_quiet, args=(told,)) for _ in range(3)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    assert memory.reading().query("SELECT count(*) FROM session") == [(6,)]
    assert [line for line in told if "failed" in line] == []
    done = memory.reading().query(
        "SELECT count(*), count(DISTINCT args ->> 'place') FROM procrastinate_jobs "
        "WHERE task_name = 'harvest' AND status = 'succeeded'"
    )
    assert done[0][1] == 6


def _quiet(told: list[str]) -> None:
    import asyncio

    worker = Worker(told=told.append)

    async def run() -> None:
        async with worker.app.open_async():
            await worker._ask_sources()
            await worker.app.run_worker_async(wait=False, install_signal_handlers=False)

    asyncio.run(run())


@contextmanager
def github(*artifacts: tuple[str, dict[str, bytes]]) -> Iterator[str]:
    """An HTTP server that lists and gives artefacts as GitHub does."""
    packed = []
    for _, files in artifacts:
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        packed.append(whole.getvalue())

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "/zip/" in self.path:
                body = packed[int(self.path.rpartition("/")[2])]
            else:
                base = f"http://127.0.0.1:{self.server.server_address[1]}"
                listed = [
                    {"id": 100 + number, "name": name, "expired": False, "size_in_bytes": len(packed[number]),
                     "archive_download_url": f"{base}/zip/{number}"}
                    for number, (name, _) in enumerate(artifacts)
                ]  # fmt: skip
                body = json.dumps({"artifacts": listed}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/repos/tide/pool"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_transcripts_that_ci_uploaded_are_harvested_as_other_peoples(memory: Hardwon, tmp_path: Path) -> None:
    content = session().write(tmp_path).read_bytes()
    hostile = {"../../escaped.jsonl": content, "folder/": b"", "notes.txt": b"no session"}
    with github(("hardwon-transcript-1", hostile), ("coverage", {"a.jsonl": content})) as place:
        add_source(memory.writing(), Source("artifacts", place))
        for _ in range(2):
            told: list[str] = []
            Worker(told=told.append).run(once=True)
            assert [line for line in told if "failed" in line] == []
    assert memory.reading().query("SELECT external_id, owner FROM session") == [("s-1", "foreign")]
    assert not list(tmp_path.parent.rglob("escaped.jsonl"))
    assert shutil.which("git")


def test_places_that_run_something_or_lead_elsewhere_are_refused(memory: Hardwon) -> None:
    db = memory.writing()
    for place in ("--upload-pack=touch /tmp/x", "a\nb"):
        with pytest.raises(NotAllowed):
            add_source(db, Source("git", place))
    with pytest.raises(NotAllowed):
        add_source(db, Source("artifacts", "file:///etc/passwd"))
    with pytest.raises(NotFound):
        remove_source(db, "nobody added it")
    add_source(db, Source("git", "ext::sh -c 'touch /tmp/hardwon-ran'"))
    told: list[str] = []
    Worker(told=told.append).run(once=True)
    assert any("failed" in line for line in told)
    assert not Path("/tmp/hardwon-ran").exists()
    assert len(sources(db)) == 1


def test_a_store_in_a_file_needs_no_worker(hardwon: Run) -> None:
    assert "needs a store on PostgreSQL" in hardwon("worker", "--once").stderr


def test_old_sessions_go_when_the_workspace_says_so(memory: Hardwon, tmp_path: Path) -> None:
    memory.harvest(session().write(tmp_path), mine=True)
    db = memory.writing()
    with db.transaction():
        meta.set_limits(db, meta.Limits(retain_days=1))
        db.execute("UPDATE session SET started_at = 0, ended_at = 0")
    Worker().run(once=True)
    assert memory.reading().query("SELECT count(*) FROM session") == [(0,)]
