"""`hardwon watch` harvests sessions as they finish and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.cli.harvest import Watch
from tests.conftest import ClaudeSession, Run


def talk(name: str) -> ClaudeSession:
    return ClaudeSession(name).user("Always use uv in this project.")


def logs() -> Path:
    return Path(os.environ["HOME"]) / ".claude" / "projects" / "reef"


def test_a_session_is_read_when_it_has_been_quiet_and_again_when_it_went_on(home: Path) -> None:
    watching = Watch(quiet=60)
    path = talk("a").write(logs())
    written = path.stat().st_mtime
    assert watching.look(lambda: written + 59) is None
    report = watching.look(lambda: written + 60)
    assert report is not None
    assert report.sessions == 1
    assert watching.look(lambda: written + 999) is None
    talk("a").user("We decided to keep SQLite for tests.").write(logs())
    os.utime(path, (written + 100, written + 100))
    assert watching.look(lambda: written + 130) is None
    again = watching.look(lambda: written + 160)
    assert again is not None
    with Hardwon(home) as memory:
        assert memory.store.totals()["sessions"] == 1
        assert any("SQLite" in lesson.text for lesson in memory.lessons.list())


def test_a_look_at_what_is_known_opens_no_transcript(home: Path) -> None:
    path = talk("a").write(logs())
    Watch(quiet=0).look()
    path.chmod(0)  # what was read is not read again, even by another watch
    assert Watch(quiet=0).look() is None
    path.chmod(0o600)


def test_once_looks_once(hardwon: Run) -> None:
    talk("a").write(logs())
    done = hardwon("watch", "--once", "--quiet", 0, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sessions"] == 1
    assert "0 new sessions" in hardwon("watch", "--once", "--quiet", 0).stdout


def test_what_goes_wrong_once_is_said_in_a_line(home: Path, hardwon: Run) -> None:
    talk("a").write(logs())
    home.mkdir()
    (home / "hardwon.db").write_bytes(b"ruined" * 2000)
    done = hardwon("watch", "--once", "--quiet", 0)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_on_until_it_is_stopped_and_then_says_what_it_did(home: Path, sent: signal.Signals) -> None:
    line = [sys.executable, "-m", "hardwon", "watch", "--interval", "0.1", "--quiet", "0", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        talk("a").write(logs())
        assert json.loads(running.stdout.readline())["sessions"] == 1
        talk("b").write(logs())
        assert json.loads(running.stdout.readline())["sessions"] == 1
        began = time.monotonic()
        running.send_signal(sent)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (0, "")
    assert json.loads(out)["sessions"] == 2
    assert time.monotonic() - began < 10


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell there")
def test_in_the_background_of_a_script_it_outlives_the_scripts_ctrl_c_and_ends_when_told(home: Path) -> None:
    line = [sys.executable, "-m", "hardwon", "watch", "--interval", "0.1", "--quiet", "0", "--json"]
    background = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *line]
    with subprocess.Popen(background, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        talk("a").write(logs())
        assert json.loads(running.stdout.readline())["sessions"] == 1
        running.send_signal(signal.SIGINT)
        talk("b").write(logs())
        assert json.loads(running.stdout.readline())["sessions"] == 1
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, err, json.loads(out)["sessions"]) == (0, "", 2)
