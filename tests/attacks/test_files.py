"""Nobody but its owner can read what Hardwon keeps, whatever made it first; and no link leads it elsewhere."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.home import DATABASE, private_folder
from hardwon.store import spool
from tests.conftest import ClaudeSession
from tests.forked import Commands
from tests.hook.conftest import example

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")

UMASKS = (0, 0o002, 0o022, 0o027, 0o077)
EVENTS = ("session-start", "prompt", "tool-failed", "session-end")
COMMANDS = (
    ("install", "claude-code", "--yes"),
    ("config", "budget", "900"),
    ("harvest", "{sessions}"),
    ("sample", "--limit", "3"),
    ("backup",),
    ("export", "{home}/tree"),
    ("export", "--jsonl", "{home}/dump.jsonl"),
    ("status",),
    ("token", "make", "ann"),
    ("measure",),
    ("doctor",),
)
MAKERS = tuple(f"hook {event}" for event in EVENTS) + tuple(" ".join(words) for words in COMMANDS) + ("serve",)
LINKED = (
    DATABASE,
    "spool",
    f"spool/{spool.OPEN}",
    f"spool/{spool.DEALT}",
    "scan.cache",
    "scan.states",
    "installs.json",
    "capture-error.txt",
    "harvest.lock",
)


def orders(umask: int) -> list[tuple[str, ...]]:
    """Each of what can make the home first, and another after it."""
    chance = random.Random(umask)
    return [(first, chance.choice([other for other in MAKERS if other != first])) for first in MAKERS]


def attacks() -> dict[str, int]:
    """Class of attack → cases tried."""
    return {
        "files that another user can read": sum(len(orders(umask)) for umask in UMASKS) * 2,
        "links in the home and the spool": len(LINKED) * 2,
    }


@contextmanager
def masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def wide(home: Path) -> list[str]:
    found = []
    for path in [home, *home.rglob("*")] if home.exists() else []:
        with suppress(FileNotFoundError):  # of a process that a hook started
            mode = path.lstat().st_mode
            if stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600):
                found.append(f"{path} {mode:o}")
    return found


def _server_is_made(home: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # litestar's, on import
        from hardwon.serve.app import Server
        from hardwon.serve.middleware import ServiceSettings

        Server(ServiceSettings(port=0), home)._close()


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Does one of MAKERS, under the umask of this process."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "user" / ".claude").mkdir()
    sessions = tmp_path / "sessions"
    ClaudeSession("a").user("Always use uv in this project.").run("pytest -q", "no", exit_code=1).write(sessions)
    helper = Commands()

    def run(maker: str) -> None:
        place = Path(os.environ["HARDWON_HOME"])
        if maker.startswith("hook "):
            event = maker.removeprefix("hook ")
            payload = example("claude-code", event)
            line = [sys.executable, "-m", "hardwon.hook", event]
            subprocess.run(line, input=json.dumps(payload), text=True, capture_output=True, check=True)
        elif maker == "serve":
            _server_is_made(place)
        else:
            helper.run(*(word.format(home=place, sessions=sessions) for word in maker.split()))

    yield run
    helper.close()


@pytest.mark.parametrize("umask", UMASKS, ids=oct)
def test_only_the_owner_can_read_what_is_made_in_whatever_order(
    umask: int, make: Callable[[str], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with masked(umask):
        for number, order in enumerate(orders(umask)):
            fresh = home / "of" / str(number)
            monkeypatch.setenv("HARDWON_HOME", str(fresh))
            for maker in order:
                make(maker)
                assert wide(fresh) == [], order


def test_doctor_tells_what_others_can_read_and_mends_it(make: Callable[[str], None], home: Path) -> None:
    make("harvest {sessions}")
    make("backup")
    for path in [home, *home.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    helper = Commands()
    told = helper.run("doctor")
    assert told.returncode == 1
    assert "other users can read" in told.stdout
    assert helper.run("doctor", "--fix").returncode == 0
    assert wide(home) == []
    helper.close()


def test_a_writer_closes_a_home_that_an_older_version_left_open(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.lessons.add("Use uv.", scope="global")
    home.chmod(0o755)
    (home / DATABASE).chmod(0o644)
    with Hardwon(home) as memory:
        memory.lessons.add("Use pnpm.", scope="global")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / DATABASE).stat().st_mode) == 0o600


def test_a_folder_of_other_things_is_not_closed(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "index.html").write_text("")
    private_folder(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_in_the_home_leads_nowhere(
    name: str, dangling: bool, make: Callable[[str], None], home: Path, tmp_path: Path
) -> None:
    """What it points to is neither written nor read."""
    elsewhere = tmp_path / "elsewhere"
    is_folder = name == "spool"
    if not dangling:
        elsewhere.mkdir() if is_folder else elsewhere.write_text("mine")
    place = home / name
    private_folder(home)
    private_folder(place.parent)
    place.symlink_to(elsewhere)
    for maker in (
        "hook session-start",
        "hook tool-failed",
        "hook session-end",
        "harvest {sessions}",
        "sample --limit 3",
    ):
        make(maker)
    assert elsewhere.exists() is not dangling
    if not dangling:
        assert (list(elsewhere.iterdir()) == []) if is_folder else elsewhere.read_text() == "mine"
