"""`hardwon install` adds our hooks and changes nothing else; `uninstall` takes exactly them out again."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Hardwon, HardwonError
from hardwon.home import usual_home
from hardwon.install.agents import AGENTS
from hardwon.install.command import Where, command, event_of, interpreter
from hardwon.install.plan import apply, installing, removing
from hardwon.install.status import everywhere
from hardwon.store import spool
from tests.conftest import ClaudeSession, Run
from tests.terminal import on_a_terminal

JSON_AGENTS = ("claude-code", "codex", "gemini", "cursor")
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "opencode": ".config/opencode/plugins/hardwon.js",
    "hermes": ".hermes/plugins/hardwon/__init__.py",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
}


@pytest.fixture
def user() -> Path:
    """A user who has every agent."""
    found = Path(os.environ["HOME"])
    for name in (".claude", ".codex", ".gemini", ".cursor", ".config/opencode", ".hermes", ".cline"):
        (found / name).mkdir(parents=True)
    return found


def here(user: Path, **more: Any) -> Where:
    return Where({"PATH": ""}, user, **more)


def everything(user: Path) -> dict[str, bytes]:
    """Every file of the user but backups."""
    found = (path for path in user.rglob("*") if path.is_file() and not path.name.endswith(".hardwon-backup"))
    return {str(path.relative_to(user)): path.read_bytes() for path in found}


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_twice_changes_nothing_and_uninstalling_leaves_nothing(user: Path, home: Path, agent: str) -> None:
    where = here(user)
    before = everything(user)
    apply(installing(AGENTS[agent], where), home)
    assert FILES[agent] in everything(user)
    assert installing(AGENTS[agent], where) == []
    (status,) = [each for each in everywhere(where) if each.agent == agent]
    waits = agent in ("codex", "hermes")  # for their user to agree
    assert (status.found, status.installed, bool(status.trouble)) == (True, True, waits)
    apply(removing(AGENTS[agent], where, home), home)
    assert everything(user) == before
    assert removing(AGENTS[agent], where, home) == []


events = st.sampled_from(
    ["SessionStart", "PostToolUse", "AfterTool", "sessionStart", "Stop", "SessionEnd", "postToolUse", "x.y"]
)
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
handlers = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text(max_size=12)}, optional={"timeout": st.integers(0, 9)}
)
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=2)}, optional={"matcher": st.text(max_size=4)})
users_settings = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(events, st.lists(groups | handlers, max_size=3), max_size=4),
        "version": st.just(1),
        "env": st.dictionaries(st.text(max_size=4), scalars, max_size=3),
        "theme": scalars,
        "é": st.lists(scalars, max_size=3),
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(JSON_AGENTS), users_settings, st.sampled_from([None, 2, 4, "\t"]))
def test_whatever_was_there_is_there_after_install_and_uninstall(
    user: Path, home: Path, agent: str, theirs: dict[str, Any], indent: int | str | None
) -> None:
    path = user / FILES[agent]
    path.write_text(json.dumps(theirs, indent=indent), encoding="utf-8")
    apply(installing(AGENTS[agent], here(user)), home)
    together = json.loads(path.read_text(encoding="utf-8"))
    assert not _lost(theirs, together)
    assert installing(AGENTS[agent], here(user)) == []
    apply(removing(AGENTS[agent], here(user), home), home)
    assert json.loads(path.read_text(encoding="utf-8")) == theirs


def _lost(theirs: Any, together: Any) -> bool:
    """Whether something is missing, or stands in another order."""
    if isinstance(theirs, dict):
        return any(key not in together or _lost(value, together[key]) for key, value in theirs.items())
    if isinstance(theirs, list):
        return together[: len(theirs)] != theirs
    return bool(theirs != together)


def test_what_others_changed_meanwhile_stays(user: Path, home: Path) -> None:
    path = user / FILES["claude-code"]
    apply(installing(AGENTS["claude-code"], here(user)), home)
    theirs = json.loads(path.read_text())
    other = {"type": "command", "command": "say done"}
    theirs["hooks"]["SessionStart"][0]["hooks"].append(other)
    theirs["hooks"]["Stop"] = [{"hooks": [other]}]
    theirs["model"] = "opus"
    path.write_text(json.dumps(theirs))
    apply(removing(AGENTS["claude-code"], here(user), home), home)
    assert json.loads(path.read_text()) == {
        "hooks": {"SessionStart": [{"hooks": [other]}], "Stop": [{"hooks": [other]}]},
        "model": "opus",
    }


def test_without_the_record_our_hooks_are_taken_out_all_the_same(user: Path, home: Path) -> None:
    path = user / FILES["codex"]
    apply(installing(AGENTS["codex"], here(user)), home)
    (home / "installs.json").unlink()
    apply(removing(AGENTS["codex"], here(user), home), home)
    assert "hardwon" not in path.read_text()


def test_the_backup_is_what_was_there_with_its_rights(user: Path, home: Path) -> None:
    path = user / FILES["claude-code"]
    path.write_text('{"env": {"A": "b"}}')
    path.chmod(0o600)
    (backup,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    assert backup.read_text() == '{"env": {"A": "b"}}'
    assert [stat.S_IMODE(each.stat().st_mode) for each in (backup, path)] == [0o600, 0o600]


BROKEN = (b"{broken", b"[]", b'{"hooks": []}', b'{"hooks": {"SessionStart": {}, "sessionStart": 1}}', b"\xff\xfe{}")


@pytest.mark.parametrize("agent", JSON_AGENTS)
@pytest.mark.parametrize("content", BROKEN)
def test_settings_that_cannot_be_understood_are_left_alone(user: Path, agent: str, content: bytes) -> None:
    path = user / FILES[agent]
    path.write_bytes(content)
    with pytest.raises(HardwonError, match="was not changed: ") as told:
        installing(AGENTS[agent], here(user))
    assert str(told.value).startswith(str(path))
    assert path.read_bytes() == content


def test_a_link_is_not_replaced_by_a_file(user: Path, home: Path, hardwon: Run) -> None:
    real = user / "dotfiles.json"
    real.write_text("{}")
    link = user / FILES["claude-code"]
    link.symlink_to(real)
    done = hardwon("install", "claude-code", "--yes")
    assert done.returncode == 1
    assert "it is a symbolic link to" in done.stderr
    assert link.is_symlink()
    assert real.read_text() == "{}"


servers = st.dictionaries(
    st.sampled_from(["files", "git", "x y"]), st.fixed_dictionaries({"command": st.text(max_size=5)})
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.fixed_dictionaries({}, optional={"mcpServers": servers, "theme": scalars}), st.sampled_from([None, 2]))
def test_servers_that_were_there_are_there_after_install_and_uninstall(
    user: Path, home: Path, theirs: dict[str, Any], indent: int | None
) -> None:
    path = user / FILES["cline"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(theirs, indent=indent))
    apply(installing(AGENTS["cline"], here(user)), home)
    together = json.loads(path.read_text())
    assert together["mcpServers"].pop("hardwon")["args"] == ["-E", "-P", "-m", "hardwon", "mcp"]
    assert together == {"mcpServers": {}} | theirs
    assert installing(AGENTS["cline"], here(user)) == []
    apply(removing(AGENTS["cline"], here(user), home), home)
    assert json.loads(path.read_text()) == theirs


def test_an_agent_without_hooks_gets_the_briefing_in_agents_md(
    user: Path, home: Path, tmp_path: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "reef"
    project.mkdir()
    monkeypatch.chdir(project)
    assert "this project is not known yet" in hardwon("install", "cline", "--project", "--yes").stderr
    hardwon("harvest", ClaudeSession(cwd=str(project)).user("Always use uv in this project.").write(tmp_path))
    (project / "AGENTS.md").write_text("# House rules\n\nBe kind.\n")
    assert hardwon("install", "cline", "--project", "--yes").returncode == 0
    text = (project / "AGENTS.md").read_text()
    assert text.startswith("# House rules\n\nBe kind.\n")
    assert "Always use uv in this project." in text
    assert hardwon("uninstall", "cline", "--project", "--yes").returncode == 0
    assert (project / "AGENTS.md").read_text() == "# House rules\n\nBe kind.\n"


def test_somebody_elses_plugin_of_our_name_is_not_overwritten(user: Path, home: Path) -> None:
    path = user / FILES["opencode"]
    path.parent.mkdir()
    path.write_text("export default {}\n")
    with pytest.raises(HardwonError, match="Hardwon did not write this file"):
        installing(AGENTS["opencode"], here(user))
    assert removing(AGENTS["opencode"], here(user), home) == []


def test_the_variables_of_the_agents_say_where_their_settings_are(user: Path) -> None:
    moved = {
        "CLAUDE_CONFIG_DIR": "/m/claude",
        "CODEX_HOME": "/m/codex",
        "GEMINI_CLI_HOME": "/m/gemini",
        "XDG_CONFIG_HOME": "/m/xdg",
        "HERMES_HOME": "/m/hermes",
        "CLINE_DATA_DIR": "/m/cline",
    }
    found = {name: str(agent.files(Where(moved, user))[0].path) for name, agent in AGENTS.items()}
    assert found == {
        "claude-code": "/m/claude/settings.json",
        "codex": "/m/codex/hooks.json",
        "gemini": "/m/gemini/.gemini/settings.json",
        "opencode": "/m/xdg/opencode/plugins/hardwon.js",
        "cursor": str(user / ".cursor/hooks.json"),
        "hermes": "/m/hermes/plugins/hardwon/plugin.yaml",
        "cline": "/m/cline/settings/cline_mcp_settings.json",
    }
    named = Where({"OPENCODE_CONFIG_DIR": "/m/own"}, user)
    assert str(AGENTS["opencode"].files(named)[0].path) == "/m/own/plugins/hardwon.js"
    on_windows = Where({"LOCALAPPDATA": "/c/Local"}, user, windows=True)
    assert str(AGENTS["hermes"].folder(on_windows)) == "/c/Local/hermes"


def test_a_project_gets_settings_that_are_not_committed(user: Path, tmp_path: Path) -> None:
    where = here(user, project=tmp_path)
    assert AGENTS["claude-code"].files(where)[0].path == tmp_path / ".claude" / "settings.local.json"
    with pytest.raises(HardwonError, match="without --project"):
        AGENTS["hermes"].files(where)
    assert [each.trouble for each in everywhere(where)] == [""] * len(AGENTS)


def test_a_hook_of_an_older_installation_is_replaced_and_not_doubled(user: Path, home: Path) -> None:
    path = user / FILES["claude-code"]
    apply(installing(AGENTS["claude-code"], here(user, python="/old/bin/python")), home)
    (status,) = [each for each in everywhere(here(user)) if each.agent == "claude-code"]
    assert "its Python is gone (/old/bin/python): `hardwon install claude-code` repairs it" in status.trouble
    apply(installing(AGENTS["claude-code"], here(user)), home)
    found = json.loads(path.read_text())["hooks"]
    assert {event: len(entries) for event, entries in found.items()} == dict.fromkeys(found, 1)
    assert "/old/bin" not in path.read_text()
    apply(removing(AGENTS["claude-code"], here(user), home), home)
    assert not path.exists()


def test_an_agent_that_is_not_there_is_said(hardwon: Run) -> None:
    done = hardwon("install", "gemini", "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Gemini CLI is not installed on this machine" in done.stderr
    assert "unknown agent 'emacs'" in hardwon("install", "emacs").stderr
    for slip, meant in (("clod", "claude-code"), ("cladue", "claude-code"), ("codx", "codex"), ("gemni", "gemini")):
        assert f"do you mean {meant}?" in hardwon("install", slip).stderr


def test_the_command_shows_the_change_asks_and_says_what_is_left_to_do(user: Path, hardwon: Run) -> None:
    path = user / FILES["codex"]
    unasked = hardwon("install", "codex", input="")
    assert (unasked.returncode, path.exists()) == (1, False)
    assert unasked.stderr == "hardwon: cannot ask for confirmation without a terminal: pass --yes\n"
    tried = hardwon("install", "codex", "--dry-run")
    assert (tried.returncode, path.exists()) == (0, False)
    assert f"+++ {path}" in tried.stdout
    assert "more lines" not in tried.stdout
    assert tried.stdout.endswith("A dry run: nothing was changed.\n")
    for told in (
        f"This adds 4 hooks to ~/{FILES['codex']}, for these moments: a session starts, you send a prompt, ",
        f"They call {sys.executable}: if that is deleted, they stop without a word.",
    ):
        assert told in tried.stdout
    done = hardwon("install", "codex", "--yes")
    assert re.search(r"… and \d+ more lines: `--diff` shows them", done.stdout)
    assert "Codex waits for your yes" in done.stdout
    assert "now uses" not in done.stdout
    assert "now uses" in hardwon("install", "gemini", "--yes").stdout
    assert json.loads(path.read_text())["hooks"]["PostToolUse"][0]["matcher"] == "Bash"
    assert "already" in hardwon("install", "codex", "--yes").stdout
    found = json.loads(hardwon("uninstall", "codex", "--yes", "--json").stdout)
    assert (found["done"], path.exists()) == (True, False)


def test_on_a_terminal_the_change_fits_it_and_is_whole_when_asked_for(user: Path) -> None:
    seen = on_a_terminal("uninstall", "codex", "--yes")
    assert "not in Codex's settings" in seen
    seen = on_a_terminal("install", "codex", "--yes")
    assert "more lines" in seen
    assert len(seen.split("\n")) < 24
    whole = on_a_terminal("uninstall", "codex", "--yes", "--diff")
    assert "more lines" not in whole
    assert " ".join(whole.split()).count("-m hardwon.hook") == 4, "wherever lines are broken"


def test_who_is_asked_can_see_the_whole_change_first(user: Path) -> None:
    seen = on_a_terminal("install", "codex", typed="d\nn\n")
    assert "Make this change? [y/N, d: show the whole of it]" in seen
    assert " ".join(seen.split()).count("-m hardwon.hook") == 4
    assert "Nothing was changed." in seen


def test_status_tells_what_is_installed_and_what_is_wrong_with_it(user: Path, home: Path, hardwon: Run) -> None:
    assert "hardwon install claude-code" in hardwon("status").stdout
    hardwon("install", "claude-code", "--yes")
    shown = hardwon("status").stdout.splitlines()
    assert shown[1].split() == ["claude-code", "4", "hooks"]
    path = user / FILES["claude-code"]
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    assert "its Python is gone" in hardwon("status").stdout
    doctor = hardwon("doctor")
    assert doctor.returncode == 1
    first, _, worst, *_ = doctor.stdout.splitlines()
    assert (first.endswith(" failed."), worst.split()[0]) == (True, "BAD"), "what is wrong comes first"
    assert "claude-code: its Python is gone (/gone/python): `hardwon install claude-code` repairs it" in doctor.stdout
    path.write_text(path.read_text()[:-3])
    assert "cannot be read: it is not valid JSON" in hardwon("status", env={**os.environ, "COLUMNS": "1000"}).stdout


def test_of_an_agent_without_our_hooks_status_says_how_to_install_them_whatever_a_hook_met(
    user: Path, home: Path, hardwon: Run
) -> None:
    with Hardwon(home) as memory:
        memory.writing()
    spool.leave(str(home), "tool-failed", "claude-code", 9000, "BusyError at read.py:12: locked")
    assert "hardwon install claude-code" in hardwon("status").stdout
    hardwon("install", "claude-code", "--yes")
    assert "BusyError" in hardwon("status").stdout


def test_settings_that_are_broken_without_us_are_none_of_our_business(user: Path) -> None:
    for name in JSON_AGENTS:
        (user / FILES[name]).write_text("{broken")
    (user / FILES["opencode"]).mkdir(parents=True)
    assert [each.trouble for each in everywhere(here(user))] == [""] * len(AGENTS)


@pytest.mark.parametrize("python", ["/opt/my tools/python's/bin/python3", "/usr/bin/python3", "/a$b/`c`/python"])
def test_the_command_is_the_same_words_for_every_posix_shell(user: Path, python: str) -> None:
    line = command("prompt", "codex", Where({"HARDWON_HOME": "/my data"}, user, python=python, windows=False))
    told = subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
    words = [python, "-E", "-P", "-m", "hardwon.hook", "prompt", "--agent", "codex", "--home", "/my data"]
    assert told.stdout.split("\n")[:-1] == words
    assert (interpreter(line), event_of(line)) == (python, "prompt")


def test_on_windows_the_command_needs_no_quotes_or_is_refused(user: Path) -> None:
    def line(python: str) -> str:
        return command("prompt", "codex", Where({}, user, python=python, windows=True))

    expected = "C:/Users/me/venv/Scripts/python.exe -E -P -m hardwon.hook prompt --agent codex"
    assert line(r"C:\Users\me\venv\Scripts\python.exe") == expected
    with pytest.raises(HardwonError, match="a folder without them"):
        line(r"C:\Program Files\Python\python.exe")


def test_a_store_that_was_moved_is_found_without_the_variable(user: Path, home: Path) -> None:
    Hardwon(home).harvest([])
    apply(installing(AGENTS["claude-code"], Where({"HARDWON_HOME": str(home)}, user)), home)
    hooks = json.loads((user / FILES["claude-code"]).read_text())["hooks"]
    line = hooks["SessionStart"][0]["hooks"][0]["command"]
    bare = {name: value for name, value in os.environ.items() if name != "HARDWON_HOME"}
    subprocess.run(["sh", "-c", line], input='{"cwd": "/srv"}', env=bare, text=True, check=True, timeout=20)
    assert [run[2] for run in spool.waiting(str(home))] == ["session-start"]


def test_mcp_prints_the_very_entry_that_install_writes(user: Path, home: Path, hardwon: Run) -> None:
    path = user / FILES["cline"]
    path.parent.mkdir(parents=True, exist_ok=True)
    assert hardwon("install", "cline", "--yes").returncode == 0
    printed = json.loads(hardwon("mcp", "--json").stdout)
    assert printed == json.loads(path.read_text())
    entry = printed["mcpServers"]["hardwon"]
    assert (entry["args"][:2], entry["env"]) == (["-E", "-P"], {"HARDWON_HOME": str(home)})


@pytest.mark.parametrize("agent", [agent for agent in FILES if agent != "cline"])
def test_hooks_of_another_store_are_whole(user: Path, home: Path, tmp_path: Path, agent: str) -> None:
    """Whoever tries a store out is not told to repair hooks that are as they should be."""
    mine, tried = here(user), Where({"PATH": "", "HARDWON_HOME": str(tmp_path / "try")}, user)

    def trouble(where: Where) -> str:
        return next(one.trouble for one in everywhere(where) if one.agent == agent)

    apply(installing(AGENTS[agent], mine), home)
    assert trouble(tried) == f"its hooks use another store: {usual_home()}"
    assert "store" not in trouble(mine)
    apply(installing(AGENTS[agent], tried), home)
    assert trouble(mine) == f"its hooks use another store: {tmp_path / 'try'}"
