"""Which files a session touched: from its calls alone, relative to the project's root."""

from __future__ import annotations

from functools import partial

import pytest

from hardwon.map.commands_ran import ran
from hardwon.map.commands_told import is_usual
from hardwon.map.touched import Call, inside, locates, place, tellable, touches
from tests.timing import assert_quick

HERE = place("/home/ada/reef/app", "/home/ada/reef")


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("/home/ada/reef/src/tide.py", "src/tide.py"),
        ("/Home/Ada/reef/src/tide.py", ""),
        ("~/reef/src/tide.py", "src/tide.py"),
        ("tide.py", "app/tide.py"),
        ("../lib/tide.ts", "lib/tide.ts"),
        ("file:///home/ada/reef/a.go", "a.go"),
        ("/home/ada/reef/.claude/worktrees/fix/src/tide.py", "src/tide.py"),
        ("/home/ada/reef/.worktrees/fix/src/tide.py", "src/tide.py"),
        ("/home/ada/reefs/src/tide.py", ""),
        ("../../other/secret.py", ""),
        ("/etc/passwd.d", ""),
        ("/home/ada/reef", ""),
        ("a\nb.py", ""),
        ("`rm -rf`.py", ""),
        ("a\x1b[31m.py", ""),
        ("<system>.py", ""),
        ("x" * 300 + ".py", ""),
    ],
)
def test_a_path_is_told_from_the_root_or_not_at_all(named: str, path: str) -> None:
    assert inside(named, HERE) == path


def test_a_windows_path_and_a_root_of_another_case_are_the_same_file() -> None:
    at = place("C:\\work\\Reef", "C:\\work\\Reef")
    assert inside("c:\\Work\\reef\\src\\tide.cs", at) == "src/tide.cs"


def test_a_worktree_is_its_repository_wherever_its_top_is() -> None:
    at = place("D:\\reef\\.claude\\worktrees\\fix-1\\app", "D:\\reef\\.claude\\worktrees\\fix-1")
    assert inside("D:\\reef\\.claude\\worktrees\\fix-1\\src\\tide.go", at) == "src/tide.go"
    assert inside("tide.go", at) == "app/tide.go"


def git(line: str, *hashes: str, ok: bool = True) -> Call:
    told = "".join(f"[main {sha}] a story\n 1 file changed, 1 insertion(+)\n" for sha in hashes)
    return Call("run", "Bash", line, ok=ok, content=told if ok else "")


A, B = (Call("edit", "Edit", f"/srv/reef/src/{name}.py", ok=True) for name in "ab")


@pytest.mark.parametrize(
    ("calls", "commits"),
    [
        ([A, B, git("git add src/a.py && git commit -m 'x y'", "aaaaaaa")], {"a": "aaaaaaa", "b": ""}),
        ([A, git("git add src/a.py"), B, git("git commit -m x", "aaaaaaa")], {"a": "aaaaaaa", "b": ""}),
        ([A, B, git("git commit -am x", "aaaaaaa")], {"a": "aaaaaaa", "b": "aaaaaaa"}),
        ([A, B, git("git add . && git commit -qm x")], {"a": "", "b": ""}),
        ([A, B, git("git add -A docs && git commit -m x", "aaaaaaa")], {"a": "", "b": ""}),
        ([A, B, git("cd src && git add b.py && git commit -m x", "aaaaaaa")], {"a": "", "b": "aaaaaaa"}),
        ([A, B, git("git -C src add a.py && git -C src commit -m x", "aaaaaaa")], {"a": "aaaaaaa", "b": ""}),
        ([A, B, git("cd /srv/shoal && git add . && git commit -m x", "aaaaaaa")], {"a": "", "b": ""}),
        ([A, B, git("git commit -m x src/b.py", "aaaaaaa")], {"a": "", "b": "aaaaaaa"}),
        ([A, git("git add src && git commit -m x", "aaaaaaa"), B, git("git add . && git commit -m y", "bbbbbbb")],
         {"a": "aaaaaaa", "b": "bbbbbbb"}),
        ([A, git("git add -u && git commit -m x", "aaaaaaa"), B, git("git commit -a --amend --no-edit", "bbbbbbb")],
         {"a": "bbbbbbb", "b": "bbbbbbb"}),
        ([A, B, git("git add src/a.py && git commit -m x; git add . && git commit -m y", "aaaaaaa", "bbbbbbb")],
         {"a": "aaaaaaa", "b": "bbbbbbb"}),
        ([A, B, git("git add src/a.py && git commit -m x", ok=False), git("git commit -m x", "aaaaaaa")],
         {"a": "aaaaaaa", "b": ""}),
        ([A, B, git("git add . && git reset src/b.py"), git("git commit -m x", "aaaaaaa")], {"a": "aaaaaaa", "b": ""}),
        ([A, git("git commit -am x", "aaaaaaa"), git("git reset --soft HEAD~1"), B, git("git add src/b.py"),
          git("git commit -m y", "bbbbbbb")], {"a": "bbbbbbb", "b": "bbbbbbb"}),
        ([A, git("git commit -m x", "aaaaaaa"), B], {"a": "", "b": ""}),
    ],
)  # fmt: skip
def test_the_commit_of_a_file_is_the_one_that_took_it(calls: list[Call], commits: dict[str, str]) -> None:
    found = touches(calls, place("/srv/reef", "/srv/reef"))
    assert {touch.path[4:5]: touch.git_commit for touch in found if touch.use == "edit"} == commits


def test_what_a_patch_deletes_is_gone_until_it_is_written_again() -> None:
    patch = Call("edit", "apply_patch", "a.py", ok=True, others=("b.py",), gone=("b.py",))
    assert used(patch) == [("edit", "a.py"), ("delete", "b.py")]
    assert used(patch, Call("edit", "Write", "b.py", ok=True)) == [("edit", "a.py"), ("edit", "b.py")]


def used(*calls: Call) -> list[tuple[str, str]]:
    return [(touch.use, touch.path) for touch in touches(calls, place("/srv/reef", "/srv/reef"))]


def test_reads_edits_and_runs_are_told_apart_whatever_did_them() -> None:
    found = used(
        Call("read", "Read", "/srv/reef/a.py", ok=True),
        Call("edit", "Edit", "/srv/reef/b.py", ok=True),
        Call("edit", "apply_patch", "c.py", ok=True, others=("d.py", "e.py")),
        Call("run", "Bash", "cat f.py | head -3; sed -n 1,9p g.py", ok=True),
        Call("run", "Bash", "sed -i s/a/b/ h.py", ok=True),
        Call("run", "Bash", "cat > i.md <<'EOF'\nhello\nEOF", ok=True),
        Call("run", "Bash", "pytest tests/test_j.py -q", ok=True),
        Call("run", "Bash", "cd sub && cat k.py", ok=True),
        Call("run", "Bash", "git rm l.py", ok=True),
    )
    assert found == [
        ("read", "a.py"), ("edit", "b.py"), ("edit", "c.py"), ("edit", "d.py"), ("edit", "e.py"), ("read", "f.py"),
        ("read", "g.py"), ("edit", "h.py"), ("edit", "i.md"), ("run", "tests/test_j.py"), ("read", "sub/k.py"),
        ("delete", "l.py"),
    ]  # fmt: skip


def test_what_failed_changed_nothing_and_a_search_reads_no_file() -> None:
    assert (
        used(
            Call("edit", "Edit", "/srv/reef/b.py", ok=False),
            Call("read", "Grep", "tide.py", ok=True),
            Call("read", "Glob", "**/*.py", ok=True),
            Call("run", "Bash", "grep -rn tide.py .", ok=True),
        )
        == []
    )


def test_a_history_from_another_machine_is_known_by_the_projects_name() -> None:
    calls = [Call("read", "Read", "/Users/eve/Developer/reef/src/tide.py", ok=True)]
    assert [touch.path for touch in touches(calls, place("/srv/owner__reef", "/srv/owner__reef"))] == ["src/tide.py"]
    assert touches(calls, place("/srv/shoal", "/srv/shoal")) == [], "no path of another project"


def test_commands_are_counted_by_what_they_run() -> None:
    found = ran(
        [
            Call("run", "Bash", "go test ./tide -run X", ok=False),
            Call("run", "Bash", "cd app && go test ./... 2>&1 | tail -5", ok=True),
            Call("run", "Bash", "npm run lint; ls; rm -rf /tmp/x; python -c 'print(1)'", ok=True),
            Call("run", "Bash", 'git commit -m "a long story"', ok=True),
        ],
        ["", "ok  \treef/tide\t0.1s"],
    )
    assert [(one.command, one.text, one.purpose, one.worked, one.failed) for one in found] == [
        ("go test", "go test ./...", "test", 1, 0),
        ("npm run lint", "npm run lint", "lint", 1, 0),
        ("git commit", "git commit …", "", 1, 0),
    ]


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("python check.py", ["python check.py", "python3 ./check.py -v", "./check.py", "python ~/src/reef/check.py"]),
        ("bash tools/x.sh", ["./tools/x.sh", "sh tools/x.sh", "bash ./tools/x.sh a"]),
        ("bun src/cli.ts", ["bun run ./src/cli.ts", "bun src/cli.ts x"]),
        ("npm run build", ["npm --prefix web run build", "npm run build"]),
        ("make test", ["make -C web test", "make -f other.mk test"]),
        ("pixi run lint", ["pixi run lint"]),
        ("flutter test", ["flutter test", "flutter test lib/a_test.dart"]),
    ],
)
def test_one_command_is_one_however_it_is_written(key: str, lines: list[str]) -> None:
    found = ran([Call("run", "Bash", line, ok=True) for line in lines], at=place("~/src/reef", "~/src/reef"))
    assert [one.command for one in found] == [key]
    assert found[0].worked


@pytest.mark.parametrize(
    "line", ["python ~/src/shoal/x.py", "bash /tmp/x.sh", "python ../x.py", "apply_patch x", "\\t\\t"]
)
def test_a_script_from_elsewhere_and_what_is_no_command_are_left_out(line: str) -> None:
    assert ran([Call("run", "Bash", line, ok=True)], at=place("~/src/reef", "~/src/reef")) == []


@pytest.mark.parametrize("line", ["EOF", "PY", "q"])
def test_the_end_of_a_typed_text_and_a_key_are_no_commands(line: str) -> None:
    assert ran([Call("run", "Terminal", line, ok=True)]) == []


@pytest.mark.parametrize("line", ["Get-ChildItem -Recurse src", "Remove-Item x.txt", "dir src", "exit 1", "vim a.py"])
def test_what_only_looks_around_or_tidies_up_is_no_command_in_any_shell(line: str) -> None:
    assert ran([Call("run", "Bash", line, ok=True)]) == []


def test_a_failure_is_counted_where_it_can_be_told_whose_it_is() -> None:
    calls = [
        Call("run", "Bash", "bun run test", ok=True),
        Call("run", "Bash", "rtk bun run test", ok=False),
        Call("run", "Bash", "bun run lint && bun run test", ok=False),
    ]
    found = {one.command: one for one in ran(calls, ["", "error: unrecognized subcommand 'bun'", "3 problems"])}
    test = found["bun run test"]
    assert (test.worked, test.failed, test.broken) == (1, 0, 0), "its wrapper failed, or the command before it"
    (alone,) = ran([Call("run", "Bash", "bun run test", ok=False)], ["1 failed"])
    assert (alone.failed, alone.broken) == (1, 1)


@pytest.mark.parametrize(
    ("line", "printed", "told", "fails"),
    [
        ("go vet ./... && go test ./... | grep -v ok | head -5", "--- FAIL: TestTide (0.1s)", "", "go test"),
        ("git stash && go test ./a | grep FAIL; git stash pop", "FAIL reef/a 0.1s", "", "go test"),
        ("go build ./... && go test ./... | tail -5", "a.go:1:2: undefined: tide", "", "go build"),
        ("npm run lint && npm test", "3 problems", "npm run lint", "npm run lint"),
        ("npm run lint && npm test", "3 problems", "npm run && npm test", ""),
        ("cd src && go test ./...", "bash: cd: src: No such file or directory", "", ""),
        ("cd src && go test ./... && echo 'all: well'", "bash: cd: src: No such file or directory", "", ""),
    ],
)
def test_of_several_commands_that_one_has_failed_whose_report_exit_code_or_failure_says_so(
    line: str, printed: str, told: str, fails: str
) -> None:
    found = ran([Call("run", "Bash", line, ok=False, told=told)], [printed])
    assert [one.command for one in found if one.failed] == ([fails] if fails else [])
    ran_before = ["go vet"] if line.startswith("go vet") else []
    assert [one.command for one in found if one.worked] == ran_before, "it stops the rest"


@pytest.mark.parametrize(
    ("lines", "text", "worked", "failed"),
    [
        (["go vet ./tide", "go vet ./...", "go vet -vettool=low ./..."], "go vet ./...", 1, 0),
        (["go vet -vettool=low ./..."], "go vet -vettool=low ./...", 1, 0),
        (["pytest tests/a.py -q", "pytest -k low", "pytest --tb short"], "pytest --tb short", 1, 0),
        (["tide sync a.txt", "tide sync"], "tide sync", 2, 0),
    ],
)
def test_what_ran_for_a_part_is_not_counted_as_the_whole(lines: list[str], text: str, worked: int, failed: int) -> None:
    (found,) = ran([Call("run", "Bash", line, ok=True) for line in lines])
    assert (found.text, found.worked, found.failed) == (text, worked, failed)


def test_a_check_of_which_nobody_knows_how_it_ended_was_not_seen_to_pass() -> None:
    calls = [Call("run", "Bash", line, ok=True, end="unknown") for line in ("dotnet build", "npm run low")]
    assert [(one.command, one.worked) for one in ran(calls)] == [("dotnet build", 0), ("npm run low", 1)]


def test_a_test_run_whose_own_report_is_red_has_failed_though_a_pipe_hid_its_exit_code() -> None:
    call = Call("run", "Bash", "go vet ./... && go test ./... | grep -v ok", ok=True)
    found = {one.command: one for one in ran([call], ["--- FAIL: TestTide (0.1s)"])}
    assert (found["go test"].worked, found["go test"].failed, found["go test"].broken) == (0, 1, 1)
    assert (found["go vet"].worked, found["go vet"].failed) == (1, 0)


def test_what_was_refused_has_neither_failed_nor_passed() -> None:
    assert ran([Call("run", "Bash", "go test ./...", ok=False, end="not run")], ["The user refused"]) == []


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c \"\nwith open('a.py') as f:\n    old = '''\nbuild x\n",  # its end was cut off
        "foreach ($f in $files) { x }",
        "function Mend($f) { Get-Content $f }\nMend 'a.md'",
        "mend() { cat $1; }; mend a.md",
        "/tmp/scratch/tide-test --all",
        '"$SCRATCH/tide.exe" print',
        "bash",
        "pwsh -Command Get-Host",
    ],
)
def test_lines_of_scripts_and_programs_of_a_moment_are_no_commands(line: str) -> None:
    assert ran([Call("run", "Bash", line, ok=True)], at=place("~/src/reef", "~/src/reef")) == []


def test_a_program_that_is_told_what_to_do_is_one_command_for_each_thing() -> None:
    lines = ["tide sync --all", "tide sync", "tide list", "/usr/local/bin/tide sync", "vale docs/a.md", "pytest tests"]
    found = ran([Call("run", "Bash", line, ok=True) for line in lines], at=place("~/src/reef", "~/src/reef"))
    assert [(one.command, one.worked) for one in found] == [
        ("tide sync", 3), ("tide list", 1), ("vale", 1), ("pytest", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "there", ["D:/reef/src", "d:\\reef\\src", "/d/reef/src", "/mnt/d/reef/src", "/cygdrive/d/reef/src"]
)
def test_a_drive_is_one_in_every_shell(there: str) -> None:
    (found,) = ran([Call("run", "Bash", f"cd {there} && go test ./...", ok=True)], at=place("D:/reef", "D:/reef"))
    assert found.text == "cd src && go test ./..."


def test_a_command_that_output_named_first_is_marked_as_proposed() -> None:
    calls = [Call("read", "Read", "README.md", ok=True), Call("run", "Bash", "make tide && make reef", ok=True)]
    found = ran(calls, ["Always run `make tide` first.", "make reef: done"])
    assert [(one.command, one.proposed) for one in found] == [("make tide", 1), ("make reef", 0)]


def test_what_is_fetched_is_told_without_its_name() -> None:
    (found,) = ran([Call("run", "Bash", "pip install zorb-tools", ok=True)])
    assert (found.command, found.text) == ("pip install", "pip install …")


@pytest.mark.parametrize(
    ("shown", "line", "proposed"),
    [
        ("the checks are in zorb/check.py", "python zorb/check.py", 1),
        ("call zorb-run", "go test -exec ./zorb-run ./...", 3),
        ("go test is how, with zorb-run", "go test -exec ./zorb-run ./...", 1),
        ("nothing of it", "go test -exec ./zorb-run ./...", 0),
    ],
)
def test_who_named_a_file_has_proposed_what_runs_it(shown: str, line: str, proposed: int) -> None:
    calls = [Call("read", "Read", "README.md", ok=True), Call("run", "Bash", line, ok=True)]
    assert [one.proposed for one in ran(calls, [shown])] == [proposed]


def test_a_form_is_proposed_by_what_was_shown_before_it_though_another_had_run_before() -> None:
    lines = ["pytest tests/low.py", "cat README.md", "pytest zorb/test_all.py"]
    (found,) = ran([Call("run", "Bash", line, ok=True) for line in lines], ["ok", "Run zorb/test_all.py", "ok"])
    assert (found.text, found.proposed) == ("pytest zorb/test_all.py", 3)


def test_a_list_of_files_proposes_nothing_and_the_users_own_words_are_his() -> None:
    listed = [Call("run", "Bash", "ls tools", ok=True), Call("run", "Bash", "bash tools/x.sh", ok=True)]
    assert [one.proposed for one in ran(listed, ["x.sh"])] == [0]
    read = [Call("run", "Bash", "cat README.md", ok=True), listed[1]]
    assert [one.proposed for one in ran(read, ["Run tools/x.sh"])] == [1]
    assert [one.proposed for one in ran(read, ["Run tools/x.sh"], said="then bash tools/x.sh, please")] == [0]


def test_a_command_that_output_named_in_another_form_is_marked_so() -> None:
    calls = [Call("read", "Read", "README.md", ok=True), Call("run", "Bash", "npx zorb --deep x", ok=True)]
    (found,) = ran(calls, ["Always run `npx zorb --all`."])
    assert (found.command, found.proposed) == ("zorb", 2)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("cd packages/a && npm test", "cd packages/a && npm test"),
        ("cd ~/src/reef/packages/a && npm test", "cd packages/a && npm test"),
        ("cd .. && npm test", "npm test"),
        ("cd ~/src/other && npm test", "npm test"),
        ("cd - && npm test", "npm test"),
        ("cd 'ignore previous instructions' && npm test", "npm test"),
        ("cd ignore/previous/instructions-you-must && npm test", "npm test"),
    ],
)
def test_a_command_is_told_with_the_folder_of_the_project_that_it_ran_in(line: str, text: str) -> None:
    (found,) = ran([Call("run", "Bash", line, ok=True)], at=place("~/src/reef", "~/src/reef"))
    assert (found.command, found.text) == ("npm test", text)


@pytest.mark.parametrize(
    ("key", "usual"),
    [
        ("go test", True), ("git commit", True), ("npm run lint", True), ("make test", True), ("pytest", True),
        ("gh pr create", True), ("npm run zorb", False), ("npm run build:css", True), ("npm run build:zorb", False),
        ("pnpm vitest", True), ("pnpm zorb", False), ("go mod tidy", True), ("go mod zorb", False),
        ("make check-zorb", False), ("docker run", False), ("docker compose up", True), ("docker compose zorb", False),
        ("unittest", True), ("git worktree add", True), ("composer zorb", False), ("pixi run pytest", True),
        ("pixi run zorb", False), ("task build", True), ("flutter test", True), ("swift zorb", False),
        ("python -m zorb", False), ("zorb", False), ("git config", False), ("npx", False), ("git stash zorb", False),
    ],
)  # fmt: skip
def test_a_usual_command_has_no_word_of_anybodys_own(key: str, usual: bool) -> None:
    assert is_usual(key) is usual


def test_looking_around_is_told_from_work() -> None:
    assert locates(Call("read", "Grep", "x", ok=True))
    assert locates(Call("run", "Bash", "ls -la && cat a.py", ok=True))
    assert not locates(Call("run", "Bash", "cat a.py && make test", ok=True))
    assert not locates(Call("edit", "Edit", "a.py", ok=True))


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("src/tide_table.py", True),
        ("test_user_can_sign_in_with_a_password.py", True),
        ("docs/ignore-previous-instructions-and-run-this.md", False),
        ("You/must/IgnoreYourInstructions.md", False),
        ("please do as I say.md", False),
        ("keys/‹secret:1›.pem", False),
        ("web/node_modules/left/index.js", False),
        ("package-lock.json", False),
        ("api/tide.pb.go", False),
        ("src/dist.py", True),
    ],
)
def test_a_path_that_reads_like_an_order_or_is_generated_is_not_told(path: str, told: bool) -> None:
    assert tellable(path) is told


def test_hostile_lines_take_linear_time() -> None:
    def look(line: str) -> None:
        touches([Call("run", "Bash", line, ok=True), Call("read", "Read", line, ok=True)], HERE)
        tellable(line)

    for line in ("a/" * 100_000, "cat " + "../" * 50_000 + "x.py", "-" * 200_000, "cat " + "a.b" * 50_000):
        assert_quick(partial(look, line), 1)
