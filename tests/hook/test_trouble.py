"""Whatever is wrong with the machine or the store, the agent is neither held up nor told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, afterwards
from hardwon.store import spool
from tests.conftest import ClaudeSession
from tests.hook.conftest import EVENTS, context, example, hook
from tests.hook.test_session_end import wait_for

ABOUT_IT = "why does asyncpg fail with ModuleNotFoundError in tide_gauge.py"


def payload(event: str) -> dict[str, object]:
    return example("claude-code", event, prompt=ABOUT_IT)


def errors(home: Path) -> list[str]:
    return [run[5] for run in spool.waiting(str(home)) if run[5]]


@pytest.mark.parametrize("event", EVENTS[:3])
def test_a_store_of_a_newer_version_is_read_as_far_as_it_is_the_same(harvested: Path, event: str) -> None:
    db = apsw.Connection(str(harvested / "hardwon.db"))
    db.execute("PRAGMA user_version = 999")
    db.execute("ALTER TABLE standing RENAME TO standing_of_the_future")
    db.close()
    done = hook(event, payload(event))
    assert (done.returncode, done.stderr) == (0, "")
    assert not done.stdout or json.loads(done.stdout)


@pytest.mark.parametrize("event", EVENTS)
def test_a_home_that_is_a_file_is_no_obstacle(home: Path, event: str) -> None:
    home.write_text("not a folder")
    done = hook(event, payload(event))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("event", EVENTS[:3])
def test_a_store_that_moved_to_a_server_is_not_read_from_the_file_it_left(harvested: Path, event: str) -> None:
    (harvested / "config.toml").write_text('database = "postgresql://nobody.invalid/none"\n')
    done = hook(event, payload(event))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_server_that_cannot_be_reached_is_told_to_the_doctor_alone(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('database = "postgresql://nobody@127.0.0.1:9/none?connect_timeout=2"\n')
    transcript = ClaudeSession().user("Always use uv.").write(tmp_path)
    done = hook("session-end", example("claude-code", "session-end", transcript=str(transcript)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    wait_for(lambda: any(run[2] == "harvest" for run in spool.waiting(str(home))))
    assert "StoreError" in errors(home)[0]
    assert len(afterwards.waiting(home)) == 1, "it is harvested when the server is there again"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_is_no_obstacle(harvested: Path) -> None:
    line = [sys.executable, "-m", "hardwon.hook", "session-start"]
    with open("/dev/full", "w") as full:
        text = json.dumps(payload("session-start"))
        done = subprocess.run(line, input=text, stdout=full, stderr=subprocess.PIPE, text=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No space left on device" in errors(harvested)[0]


FULL = (
    "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
    "runpy.run_module('hardwon.hook', run_name='__main__')"
)


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
@pytest.mark.parametrize("event", EVENTS)
def test_a_disk_that_takes_not_a_byte_more_is_no_obstacle(
    harvested: Path, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_EXPERIMENT", "off")
    line = [sys.executable, "-c", FULL, event]
    done = subprocess.run(
        line, input=json.dumps(payload(event)), capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (event in ("session-start", "tool-failed")), "what is known is told"


def test_sixteen_sessions_that_start_at_once_are_all_briefed_and_all_kept(
    harvested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_EXPERIMENT", "off")
    line = [sys.executable, "-m", "hardwon.hook", "session-start"]
    running = [subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(16)]
    for number, each in enumerate(running):
        each.stdin.write(json.dumps({**payload("session-start"), "session_id": f"s{number}"}))  # type: ignore[union-attr]
    said = [each.communicate(timeout=60)[0] for each in running]  # each waits for the end of its own stdin
    assert {each.returncode for each in running} == {0}
    assert all("Always use uv in this project." in text for text in said)
    with Hardwon(harvested) as memory:
        db = memory.writing()
        assert db.query("SELECT count(*), max(error) FROM hook_run WHERE event = 'session-start'") == [(16, "")]
        assert db.query("SELECT count(DISTINCT session) FROM bootstrap") == [(16,)]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("event", EVENTS)
def test_a_home_that_nobody_may_write_to_is_no_obstacle(harvested: Path, event: str) -> None:
    harvested.chmod(0o500)
    done = hook(event, payload(event))
    harvested.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="signals are told otherwise there")
def test_an_interrupt_ends_it_without_a_word(harvested: Path) -> None:
    line = [sys.executable, "-m", "hardwon.hook", "session-start"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdin.write(b" " * 1_000_000)  # type: ignore[union-attr]  # more than a pipe holds: it is reading
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (0, b"", b"")


def test_an_agent_that_never_closes_its_pipe_is_left_after_two_seconds(harvested: Path) -> None:
    line = [sys.executable, "-m", "hardwon.hook", "session-start"]
    for _ in range(3):  # on a busy machine the note may have to be left out
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            began = time.monotonic()
            assert running.wait(timeout=20) == 0
            assert 1.0 < time.monotonic() - began < 15.0  # the rest is for a busy machine
            assert (running.stdout.read(), running.stderr.read()) == (b"", b"")  # type: ignore[union-attr]
        if noted := errors(harvested):
            break
    assert noted == ["stopped after 2 s"]


def test_code_in_the_folder_of_a_session_is_never_run(harvested: Path, tmp_path: Path) -> None:
    """As the installer writes it, the command looks for no module in the folder or in what PYTHONPATH names."""
    trap = tmp_path / "hostile"
    (trap / "hardwon").mkdir(parents=True)
    for name in ("json.py", "signal.py", "hardwon/__init__.py", "apsw.py", "sitecustomize.py"):
        (trap / name).write_text("open('sprung', 'w')")
    line = [sys.executable, "-E", "-P", "-m", "hardwon.hook", "tool-failed"]
    done = subprocess.run(
        line,
        input=json.dumps(payload("tool-failed")),
        cwd=trap,
        env=os.environ | {"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert "uv sync" in context(done)["additionalContext"]
    assert not (trap / "sprung").exists()
