"""A shell line is taken apart as a shell would, without running it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.failures import tools
from hardwon.failures.shell import commands, elements, suits


def parsed(line: str) -> list[tuple[str, str]]:
    return [(command.program, command.subcommand) for command in commands(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd /srv/x && npm run build 2>&1 | tail -20", [("npm", "run build")]),
        (
            "gofmt -w a.go && golangci-lint run ./... ; go test",
            [("gofmt", ""), ("golangci-lint", "run"), ("go", "test")],
        ),
        ('git commit -m "feat: a && b; c" && git push', [("git", "commit"), ("git", "push")]),
        ("FOO=1 timeout 60 sudo make migrate", [("make", "migrate")]),
        ("uv run python -m pytest -q", [("pytest", "")]),
        ("python3 tools/load.py --all", [("python3", "tools/load.py")]),
        ("for f in *.py; do black $f; done", [("black", "")]),
        ("git -C /srv commit --amend", [("git", "commit")]),
        ("docker compose up -d db", [("docker", "compose up")]),
        ("# only words\n\n", []),
    ],
)
def test_the_commands_of_a_line_are_found(line: str, expected: list[tuple[str, str]]) -> None:
    assert parsed(line) == expected


def test_a_text_given_in_place_is_a_file_and_its_first_line() -> None:
    (command,) = commands("cat > conf/app.toml <<'EOF'\n\n[server]\nport = 1 && 2\nEOF\n")
    assert (command.writes, command.head) == ("conf/app.toml", "[server]")


def test_where_a_command_runs_and_how_it_is_called_are_kept_apart() -> None:
    (command,) = commands("cd web && CI=1 npx /opt/bin/tsc --noEmit | grep error")
    assert (command.program, command.folder) == ("tsc", "web")
    assert command.settings == ("CI=1", "npx", "/opt/bin/tsc")
    assert (command.through, command.masked) == (("grep",), True)


def test_the_exit_code_of_a_plain_line_is_its_own() -> None:
    assert [command.masked for command in commands("go build && go test")] == [False, False]
    assert [command.masked for command in commands("go test; echo done")] == [True, False]


def test_every_element_of_a_pipe_can_be_asked_for() -> None:
    assert [command.program for command in elements("sed -n 1,9p a.go | cat -A | head")] == ["sed", "cat", "head"]


@pytest.mark.parametrize(
    "line", ["gh pr view 3", "git tag -l", "curl -s http://localhost", "go doc fmt", "node --version"]
)
def test_looking_is_known(line: str) -> None:
    assert all(tools.looks(command) for command in commands(line))


@pytest.mark.parametrize(
    "line", ["npm run typecheck", "go vet ./...", "eslint src", "make test", "cargo clippy", "npm test"]
)
def test_checking_is_known(line: str) -> None:
    assert all(tools.checks(command) for command in commands(line))


@pytest.mark.parametrize("line", ["eslint --fix src", "gofmt -w a.go", "npm install", "make migrate", "ruff format"])
def test_repairing_is_no_check(line: str) -> None:
    assert not any(tools.checks(command) for command in commands(line))


@given(st.text(alphabet=st.sampled_from("ab -|&;<>\"'$()`\\\n=#/.E…"), max_size=200))
def test_no_line_is_too_strange(line: str) -> None:
    for command in [*commands(line), *elements(line)]:
        assert command.program is not None


def test_what_stands_in_a_quote_of_dollars_is_no_command() -> None:
    found = commands("gh pr edit 3 --body $'it\\'s done; tracked elsewhere' && make test")
    assert [one.program for one in found] == ["gh", "make"]


def test_the_folder_that_the_shell_was_in_is_where_a_line_begins() -> None:
    assert [one.folder for one in commands("in web: npm test && cd src && make && cd /srv && ls x")] == [
        "web", "web/src", "/srv"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "succeeded_as", "command", "for_it"),
    [
        ([], "tide session start <session> --task <id>", "tide session get", False),
        ([], "tide session start <session> --task <id>", "cd reef && tide session start --task 7 | cat", True),
        ([], "bun src/tide.ts git pr --path .", "bun run src/tide.ts git pr", True),
        ([], "uv run pytest", "pytest tests", True),
        ([("drop", "cd reef")], "", "cd reef && make", True),
        ([("drop", "cd reef")], "", 'cd "reef" && make', True),
        ([("drop", "cd reef")], "", "cd reef/north && make", False),
        ([("replace", "`rtk bun` with `bun`")], "", "rtk bun test", True),
        ([("replace", "`rtk bun` with `bun`")], "", "rtk npm test", False),
        ([("replace", "`cd /srv/t#<id>` with `cd /srv/n/t#<id>`")], "", "cd /srv/t#07 && git log", True),
        ([("replace", "`<id>` with `'#<id>'`")], "", "tide tasks get 11", True),
        ([("run", "npm ci")], "", "npm test", True),
        ([("drop", "cd reef")], "", "", True),
    ],
)
def test_a_remedy_is_for_the_call_that_it_changes(
    steps: list[tuple[str, str]], succeeded_as: str, command: str, for_it: bool
) -> None:
    assert suits(steps, succeeded_as, command) is for_it
