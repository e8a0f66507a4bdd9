"""What was made under the project's former name is found and moved over once, and `doctor` says so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, StoreError
from hardwon.api.access import recognise
from hardwon.home import FORMER_NAME, MOVED_RECORD
from hardwon.install.command import Where
from hardwon.install.plan import AGENTS, apply, installing, moving_over
from hardwon.install.status import everywhere
from hardwon.model.failure import OFFERED
from hardwon.scrub.scrubber import Scrubber
from hardwon.sessions.origin import user_message
from hardwon.store import failures
from hardwon.text.shown import is_in, one_line, unfenced
from tests.conftest import EXAMPLES, Run
from tests.install.test_install import FILES, user  # noqa: F401 - a fixture


@pytest.fixture
def former_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a store, as the former name has left it in the usual place."""
    monkeypatch.delenv("HARDWON_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Hardwon() as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.jsonl"))[:3])
    home = tmp_path / "data" / FORMER_NAME
    shutil.move(tmp_path / "data" / "hardwon", home)
    (home / "hardwon.db").rename(home / f"{FORMER_NAME}.db")
    return home


def test_a_home_of_the_former_name_is_moved_over_once_with_all_that_is_in_it(former_home: Path) -> None:
    with Hardwon() as memory:
        assert memory.home == former_home.with_name("hardwon")
        assert memory.store.totals()["sessions"] > 0
        assert any(check.name == "former name" and str(former_home) in check.says for check in memory.store.check())
    assert not former_home.exists()
    record = (former_home.with_name("hardwon") / MOVED_RECORD).read_text()
    with Hardwon() as memory:
        assert memory.store.totals()["sessions"] > 0
    assert (former_home.with_name("hardwon") / MOVED_RECORD).read_text() == record, "once"


def test_a_home_that_is_already_there_is_never_replaced(former_home: Path) -> None:
    home = former_home.with_name("hardwon")
    home.mkdir()
    (home / "config.toml").write_text("budget = 100\n")
    with Hardwon() as memory:
        assert memory.config.budget == 100
    assert (former_home / f"{FORMER_NAME}.db").exists()


def test_a_store_that_somebody_still_uses_is_left_alone_and_said(former_home: Path) -> None:
    using = apsw.Connection(str(former_home / f"{FORMER_NAME}.db"))
    using.execute("PRAGMA journal_mode = WAL").fetchall()
    using.execute("CREATE TABLE held (x)")
    with pytest.raises(StoreError, match="in use by a program of the former name"):
        Hardwon()
    using.close()
    with Hardwon() as memory:
        assert memory.store.totals()["sessions"] > 0, "what was moved is complete once nobody holds it"


def test_the_doctor_names_variables_that_nobody_reads_any_more(hardwon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{FORMER_NAME.upper()}_BUDGET", "100")
    said = hardwon("doctor").stdout
    assert f"{FORMER_NAME.upper()}_BUDGET is set but not read any more: set HARDWON_BUDGET instead" in said


def formerly(where: Where, agent: str, home: Path) -> None:
    """Install, and turn all that was written into what the former name wrote."""
    for change in installing(AGENTS[agent], where):
        path = Path(str(change.path).replace("hardwon", FORMER_NAME))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((change.new or "").replace("hardwon", FORMER_NAME).replace("HARDWON", FORMER_NAME.upper()))


@pytest.mark.parametrize("agent", AGENTS)
def test_an_installed_hook_of_the_former_name_is_moved_over_once(user: Path, home: Path, agent: str) -> None:  # noqa: F811
    where = Where({"PATH": ""}, user)
    formerly(where, agent, home)
    if agent not in ("opencode", "hermes"):
        (found,) = (each for each in everywhere(where) if each.agent == agent)
        assert "our former name" in found.trouble
    ((moved, changes),) = moving_over(where)
    assert agent == moved.name
    apply(changes, home)
    assert FORMER_NAME not in (user / FILES[agent]).read_text()
    assert not [path for path in user.rglob(f"*{FORMER_NAME}*") if not path.name.endswith("-backup")]
    assert moving_over(where) == []
    assert installing(AGENTS[agent], where) == []


def test_up_moves_the_hooks_over_and_says_so(user: Path, home: Path, hardwon: Run) -> None:  # noqa: F811
    formerly(Where(os.environ, user), "claude-code", home)
    settings = user / FILES["claude-code"]
    assert FORMER_NAME in settings.read_text()
    assert "Claude Code used Hardwon under its former name" in hardwon("up").stderr
    commands = json.dumps(json.loads(settings.read_text())["hooks"])
    assert "-m hardwon.hook " in commands
    assert FORMER_NAME not in commands
    assert "former name" not in hardwon("up").stderr


def test_briefings_with_the_former_mark_are_ours_in_old_transcripts() -> None:
    briefing = f'<{FORMER_NAME}-memory id="abcdefgh">\nAlways deploy on Fridays.\n</{FORMER_NAME}-memory id="abcdefgh">'
    assert is_in(briefing)
    assert unfenced(f"{briefing}\nhello").strip() == "hello"
    assert user_message(briefing).origin == "injected"
    assert FORMER_NAME not in one_line(briefing)


def test_a_token_of_the_former_name_still_lets_in_and_is_scrubbed(home: Path) -> None:
    with Hardwon(home) as memory:
        token = memory.store.make_token("laptop", ["read"]).secret.replace("hardwon", FORMER_NAME, 1)
        found = recognise(memory, token)
    assert found
    assert found.name == "laptop"
    assert token not in Scrubber().scrub(f"curl -H 'Authorization: Bearer {token}'; echo {token} >> notes")


def test_a_fix_that_was_only_offered_is_told_as_such_in_a_store_of_the_former_name(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest(EXAMPLES)
        db = memory.writing()
        fix, source = db.query("SELECT fix, source FROM fix_evidence ORDER BY fix, source LIMIT 1")[0]
        with db.transaction():
            db.execute("DELETE FROM fix_evidence WHERE fix = ? AND source <> ?", (fix, source))
            db.execute(
                "UPDATE fix_evidence SET untrusted = ? WHERE fix = ?", (f"offered by {FORMER_NAME.title()}", fix)
            )
            failures.refresh(db, [failure for (failure,) in db.query("SELECT failure FROM fix WHERE id = ?", (fix,))])
        assert db.query("SELECT untrusted FROM fix WHERE id = ?", (fix,)) == [(OFFERED,)]
