"""`hardwon open`: it starts a service, finds one that runs, and leaves none behind."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

from hardwon import Hardwon
from hardwon.afterwards import held
from tests.conftest import Run
from tests.serve.service import environment, served

LOCK = "serving.json.lock"


def test_open_starts_a_service_that_ends_by_itself(hardwon: Run, home: Path) -> None:
    told = json.loads(hardwon("open", "--no-browser", "--idle", "0.05", "--json").stdout)
    assert told["link"].startswith(f"{told['address']}/login?token=hardwon_")
    assert len(told["link"]) < 80, "it can be clicked where a terminal breaks longer lines"
    assert not told["opened"]
    with (home / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the service lets go of it, which it does when it ends
    assert (home / "serve.log").read_bytes() == b""


def test_the_service_can_be_stopped(hardwon: Run, home: Path) -> None:
    assert hardwon("open", "--stop").stdout == "No service was running.\n"
    hardwon("open", "--no-browser")
    assert hardwon("open", "--stop").stdout == "Stopped.\n"
    with held(home / LOCK) as free:
        assert free


def test_open_finds_the_service_that_runs_and_makes_no_token_that_nobody_sees(hardwon: Run, home: Path) -> None:
    with served(environment(home, Path())) as service:
        told = json.loads(hardwon("open", "--no-browser", "--json").stdout)
        assert told["address"] == service.address
        again = json.loads(hardwon("open", "--no-browser", "--json").stdout)
        assert again["link"] != told["link"]
    with held(home / LOCK) as free:
        assert free
    with Hardwon(home) as memory:
        assert sorted(token.name for token in memory.store.tokens()) == ["browser", "browser", "first"]


def test_without_a_browser_the_link_is_printed(hardwon: Run, home: Path) -> None:
    with served(environment(home, Path())):
        done = hardwon("open", "--no-browser")
    assert done.stdout.count("\n") == 1
    assert "/login?token=" in done.stdout
    assert "once" in done.stderr
