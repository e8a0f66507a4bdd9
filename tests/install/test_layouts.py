"""Whatever settings look like, `uninstall` gives back the same bytes, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hardwon import HardwonError
from hardwon.durable import beside
from hardwon.install.agents import AGENTS
from hardwon.install.command import Where, command
from hardwon.install.plan import BACKUP, FILE, apply, installing, removing
from hardwon.install.status import everywhere
from tests.conftest import Run

HOOK = '{"type": "command", "command": "say done"}'
LAYOUTS = {
    "empty file": "",
    "blank lines": "\n\n",
    "empty object": "{}",
    "empty object over lines": "{\n\n}\n",
    "one line": '{"theme": "dark", "env": {"A": "b"}}',
    "no final newline": '{\n  "theme": "dark"\n}',
    "several final newlines": '{\n  "theme": "dark"\n}\n\n\n',
    "CRLF": '{\r\n  "theme": "dark",\r\n  "env": {}\r\n}\r\n',
    "mixed newlines": '{\r\n  "theme": "dark",\n  "env": {}\r\n}\n',
    "tabs": '{\n\t"theme": "dark",\n\t"env": {\n\t\t"A": "b"\n\t}\n}\n',
    "four spaces": '{\n    "theme": "dark",\n    "env": {"A": "b"}\n}\n',
    "uneven indents": '{\n   "theme":"dark" ,\n "env" :{ }\n      }\n',
    "byte order mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "byte order mark alone": "\ufeff",
    "line comments": '{\n  // mine\n  "theme": "dark" // the best\n  // end\n}\n// after\n',
    "block comments": '/* head */ {\n  /* mine */ "theme": /* so */ "dark" /* there */\n}\n',
    "a comment alone": "{\n  // nothing yet\n}\n",
    "trailing comma": '{\n  "theme": "dark",\n}\n',
    "trailing commas inside": '{\n  "a": [1, 2,],\n  "b": {"c": 1,},\n}\n',
    "empty hooks": '{"hooks": {}}',
    "empty hooks over lines": '{\n  "hooks": {\n  },\n  "z": 1\n}\n',
    "hooks of others": f'{{\n  "hooks": {{"Stop": [{{"hooks": [{HOOK}]}}]}},\n  "theme": "dark"\n}}\n',
    "the same events": f'{{"hooks": {{"SessionStart": [ {{"hooks":[ {HOOK} ] }} ], "sessionStart": [ {HOOK} ]}}}}',
    "empty lists": '{"hooks": {"SessionStart": [], "sessionStart": [ ], "SessionEnd": [\n]}}\n',
    "keys in an order of their own": '{"z": 1, "hooks": {}, "a": {"y": 2, "b": 3}, "version": 1}\n',
    "a key twice": '{"theme": "dark", "theme": "light"}\n',
    "deeply nested": '{"a": {"b": {"c": {"d": [[[{"e": null}]]]}}}}\n',
    "escapes": '{"p": "C:\\\\x \\u00e9 \\/ \\" // no comment", "é": "漢"}\n',
    "numbers as written": '{"n": 1.50, "big": 12345678901234567890, "e": 1E5}\n',
}
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
}


def everything(user: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(user)): path.read_bytes() if path.is_file() else None for path in user.rglob("*")}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A user who has every agent."""
    found = tmp_path / "user"
    for name in (".claude", ".codex", ".gemini", ".cursor", ".config/opencode", ".hermes", ".cline"):
        (found / name).mkdir(parents=True)
    return found


def here(user: Path, python: str = "/usr/bin/python3", project: Path | None = None) -> Where:
    return Where({"PATH": ""}, user, project, python=python)


def written(user: Path, agent: str, layout: str) -> Path:
    path = user / FILES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(LAYOUTS[layout].encode())
    return path


@pytest.mark.parametrize("agent", FILES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_comes_back_to_the_byte(user: Path, home: Path, agent: str, layout: str) -> None:
    path = written(user, agent, layout)
    before = everything(user)
    for python in ("/usr/bin/python3", "/another/python"):
        apply(installing(AGENTS[agent], here(user)), home)
        backup = path.with_name(path.name + BACKUP)
        assert backup.read_bytes() == LAYOUTS[layout].encode()
        apply(installing(AGENTS[agent], here(user, python)), home)  # once the same, once an upgrade
        assert python in path.read_text(encoding="utf-8")
        assert backup.read_bytes() == LAYOUTS[layout].encode()
        apply(removing(AGENTS[agent], here(user), home), home)
        assert everything(user) == before
    assert not (home / FILE).exists()


@pytest.mark.parametrize("agent", AGENTS)
def test_where_nothing_was_nothing_is_left_not_even_a_folder(user: Path, home: Path, agent: str) -> None:
    before = everything(user)
    apply(installing(AGENTS[agent], here(user)), home)
    assert everything(user) != before
    apply(removing(AGENTS[agent], here(user), home), home)
    assert everything(user) == before


def test_several_agents_and_a_project_leave_in_any_order(user: Path, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "reef"
    project.mkdir()
    for agent in FILES:
        written(user, agent, "line comments")
    before = everything(tmp_path)
    places = [(AGENTS[agent], here(user)) for agent in AGENTS] + [(AGENTS["claude-code"], here(user, project=project))]
    for agent, where in places:
        apply(installing(agent, where), home)
    for agent, where in places[1::2] + places[::2]:
        apply(removing(agent, where, home), home)
    assert {name: found for name, found in everything(tmp_path).items() if name in before} == before
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("layout", [name for name, text in LAYOUTS.items() if '"dark"' in text])
def test_what_others_wrote_since_stays_in_its_layout_and_each_backup_is_of_what_was_changed(
    user: Path, home: Path, layout: str
) -> None:
    path = written(user, "claude-code", layout)
    (first,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    others = path.read_bytes().replace(b'"dark"', b'"light"')
    path.write_bytes(others)
    (second,) = apply(installing(AGENTS["claude-code"], here(user, "/another/python")), home)
    assert second.read_bytes() == others
    again = path.read_bytes()
    (third,) = apply(removing(AGENTS["claude-code"], here(user), home), home)
    assert third.read_bytes() == again
    left = path.read_bytes()
    assert left == LAYOUTS[layout].replace('"dark"', '"light"').encode()
    (fourth,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    assert fourth.read_bytes() == left
    assert first.read_bytes() == LAYOUTS[layout].encode()


def test_settings_that_were_replaced_since_are_what_the_next_backup_holds(user: Path, home: Path) -> None:
    path = written(user, "claude-code", "one line")
    (first,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    path.write_text('{"model":"sonnet","hooks":{}}')
    (second,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    assert second.read_text() == '{"model":"sonnet","hooks":{}}'
    path.write_text(path.read_text().replace("sonnet", "opus"))
    (third,) = apply(removing(AGENTS["claude-code"], here(user), home), home)
    assert '"opus"' in third.read_text()
    assert path.read_text() == '{"model":"opus","hooks":{}}'
    assert first.read_text() == LAYOUTS["one line"]
    (again,) = apply(installing(AGENTS["claude-code"], here(user)), home)
    assert again.read_text() == '{"model":"opus","hooks":{}}'
    assert apply(removing(AGENTS["claude-code"], here(user), home), home) == []
    assert path.read_text() == '{"model":"opus","hooks":{}}'
    assert (first.read_text(), second.exists(), third.exists()) == (LAYOUTS["one line"], True, True)


def test_without_the_backup_nothing_of_others_is_lost(user: Path, home: Path) -> None:
    path = written(user, "claude-code", "tabs")
    apply(installing(AGENTS["claude-code"], here(user)), home)
    path.with_name(path.name + BACKUP).unlink()
    apply(removing(AGENTS["claude-code"], here(user), home), home)
    assert path.read_text() == LAYOUTS["tabs"]


def test_what_cannot_be_written_is_left_as_it_was(user: Path, home: Path) -> None:
    path = written(user, "claude-code", "tabs")
    before = everything(user)
    in_the_way = beside(path)
    (in_the_way / "x").mkdir(parents=True)
    with pytest.raises(HardwonError, match="was not changed: "):
        apply(installing(AGENTS["claude-code"], here(user)), home)
    (in_the_way / "x").rmdir()
    in_the_way.rmdir()
    assert everything(user) == before
    assert not (home / FILE).exists()


def test_everything_goes_with_uninstall_all_and_purge(
    tmp_path: Path, home: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, project = tmp_path / "user", tmp_path / "reef"
    for agent in ("claude-code", "codex", "cline"):
        written(user, agent, "line comments")
    (project / ".gemini").mkdir(parents=True)
    before = everything(user), everything(project)
    for agent in ("claude-code", "codex", "cline"):
        assert hardwon("install", agent, "--yes").returncode == 0
    monkeypatch.chdir(project)
    assert hardwon("install", "gemini", "--project", "--yes").returncode == 0
    monkeypatch.chdir(tmp_path)
    hardwon("remember", "Always use uv.", "--project", "reef")
    assert (everything(user), everything(project)) != before
    assert hardwon("uninstall", "--purge").returncode == 2, "it must be told of whom"
    done = hardwon("uninstall", "--all", "--purge", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert (everything(user), everything(project)) == before
    assert not home.exists()


def test_purge_takes_the_files_of_shell_completion(tmp_path: Path, home: Path, hardwon: Run) -> None:
    user = Path.home()
    (user / ".bashrc").write_text("alias ll='ls -l'\n")
    before = everything(user)
    (user / ".bash_completions").mkdir()
    sourced = user / ".bash_completions" / "hardwon.sh"
    sourced.write_text("complete hardwon")
    (user / ".bashrc").write_text(f"alias ll='ls -l'\n\nsource '{sourced}'\n")
    hardwon("remember", "Always use uv.", "--global")
    assert hardwon("uninstall", "--all", "--purge", "--yes").returncode == 0
    assert everything(user) == before


def test_a_folder_that_is_not_ours_is_not_purged(home: Path, hardwon: Run) -> None:
    home.mkdir()
    (home / "thesis.tex").write_text("mine")
    done = hardwon("uninstall", "--all", "--purge", "--yes")
    assert (done.returncode, (home / "thesis.tex").exists()) == (1, True)


@pytest.mark.parametrize("python", [sys.executable, "/gone/bin/python"])
def test_the_hooks_of_a_package_that_is_gone_are_silent(user: Path, python: str) -> None:
    line = command("session-start", "claude-code", here(user, python)).replace("hardwon.hook", "hardwon_gone.hook")
    done = subprocess.run(["sh", "-c", line], capture_output=True, input=b"{}", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_status_says_what_it_cannot_read(user: Path, home: Path) -> None:
    path = user / FILES["claude-code"]
    path.symlink_to(path)  # leads nowhere, however often it is followed
    (found,) = [each for each in everywhere(here(user)) if each.agent == "claude-code"]
    assert str(path) in found.trouble
    assert "cannot be read" in found.trouble
