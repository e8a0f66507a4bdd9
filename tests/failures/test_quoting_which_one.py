"""A line says which one it was: the command that spoke, the file that raised, what was in conflict, what was wanted."""

from __future__ import annotations

import pytest

from hardwon.briefing.foreseen import _not_told, _speaker
from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.signature import reads_like_an_order, signature
from hardwon.failures.speaker import MAX_ERROR_CHARACTERS, told_command
from hardwon.failures.told import error_line
from hardwon.store.failures import FailureRow

_TRACEBACK = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nKeyError: 'tides'"
_TYPED_INTO_IT = '  File "<stdin>", line 1\n    python.exe -c "import tides"\n    ^\nSyntaxError: invalid syntax'
_OF_NODE = "[eval]:1\nebb\n^\n\nReferenceError: ebb is not defined\n    at [eval]:1:1\n\nNode.js v22.1.0"
_LINTED = "src/tides.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."
_USAGE = "accepts 1 arg(s), received 2\n\nUsage:\n  reefctl show [gauge] [flags]\n"
_VETTED = "# reef/tides\ntides/map_windows.go:58:8: possible misuse of unsafe.Pointer"
_NOT_UPLOADED = (
    "upload failed: ./ebb.csv to s3://tides/ebb.csv An error occurred (InvalidAccessKeyId) when calling the PutObject "
    "operation: The key does not exist in our records."
)
_UNSORTED = "tides.go:9:1: File is not properly formatted (gofmt)"


def row(output: str, command: str) -> FailureRow:
    found = fingerprint(output, command)
    assert found is not None
    line = error_line(found, "Bash", command)
    return FailureRow(
        id=found.id,
        family=found.family,
        signature=signature(found),
        error=line,
        command=command,
        occurrences=1,
        sessions=1,
        first_seen=0,
        last_seen=0,
        agents="",
    )


def told(output: str, command: str) -> str:
    """As a briefing has it; empty where it is withheld."""
    one = row(output, command)
    if _not_told(one.error, one.signature, one.family, one.command):
        return ""
    said = _speaker(one) if not one.error.startswith("`") else ""
    return f"`{said}`: {one.error}" if said else one.error


@pytest.mark.parametrize(
    ("output", "command", "speaker"),
    [
        (_TRACEBACK, "reefctl list --json | python3 -c 'import json'", "python3 -c"),
        (_OF_NODE, "npm ls --json | node -e 'ebb'", "node -e"),
        (_LINTED, "git add src/tides.ts \\\n  src/reef.ts && \\\n  git commit -m x", "git commit"),
        (_LINTED, "npm run build && git commit -m x", "npm run build"),
        ("error: unknown flag: --follw", "reefctl list && reefctl logs --follw north", "reefctl logs"),
        (_USAGE, "reefctl list --json && reefctl show north south", "reefctl show north south"),
        ("CONFLICT (content): Merge conflict in tides.csv", "git checkout ebb && git rebase main", "git rebase main"),
        (_UNSORTED, "golangci-lint run && go test ./...", "golangci-lint run"),
        (_VETTED, "go build ./... && go vet ./... && go test ./...", "go vet ./..."),
        (_VETTED.replace("possible misuse", "unknown kind"), "go build ./... && go vet ./...", "go build ./..."),
        (
            _NOT_UPLOADED,
            "npm run build && aws s3 cp ebb.csv s3://tides/ebb.csv && git push",
            "aws s3 cp ebb.csv <url>/ebb.csv",
        ),
        (_NOT_UPLOADED, "bash -x scripts/upload.sh 2026-09", "bash scripts/upload.sh 2026-09"),
        ("tides.py:3:1: F401 `os` imported but unused", "ruff check . && ruff format .", "ruff check ."),
        ("Would reformat: tides.py", "ruff check . && ruff format --check .", "ruff format"),
        ("Error: no gauge 'north'", "GAUGE=$(reefctl find north) && echo $GAUGE", "reefctl find north"),
        ("A subdirectory or file tides already exists.", "mkdir tides && pwsh -File tides/run.ps1", "mkdir tides"),
        ("Error: the pump is dry", "rm -rf build && python pump.py", "python pump.py"),
        ("fatal: Needed a single revision", "git rev-parse --short HEAD ebb", "git rev-parse --short HEAD ebb"),
        ("fatal: Needed a single revision", "git rev-parse --short origin/ebb", "git rev-parse --short origin/ebb"),
        ("npm error could not determine executable to run", "npx --yes tidelint reef.yml", "npx tidelint reef.yml"),
        ("error: unknown option `cached'", "git status --cached && git diff --cached", "git status"),
        (_TYPED_INTO_IT, "python <<EOF\nimport tides,\nEOF", "python"),
    ],
)
def test_the_command_before_a_line_is_the_one_that_spoke(output: str, command: str, speaker: str) -> None:
    assert told(output, command).startswith(f"`{speaker}`: ")


def test_of_a_chain_the_first_that_runs_hooks_is_told_for_a_hook() -> None:
    output = "$ eslint .\ntides.ts: Error: 'ebb' is never used\nhusky - pre-commit script failed (code 1)"
    assert _speaker(row(output, "git add . && git commit -m x && git push")) == "git commit"


def test_the_step_that_a_runner_of_hooks_marks_is_the_one_that_failed() -> None:
    output = f"┃  types ❯\n> reefctl generate\n{_LINTED}\nsummary: (done in 2 seconds)\n🥊 types (1.20 seconds)\n"
    assert row(output, "git push").error.startswith("types failed: src/tides.ts(3,5): error TS2322")


@pytest.mark.parametrize(
    ("output", "command", "line"),
    [
        (
            "zsh: no matches found: tides/*.csv",
            "reefctl list | grep tides/*.csv",
            "`grep tides/*.csv`: zsh: no matches found: tides/*.csv",
        ),
        ("bash: -c: line 1: syntax error: unexpected end of file", "reefctl 'a", "`reefctl`: bash: -c: line 1: syntax"),
        ("zsh: == not found", "sed -n 1p a.md; echo ===; sed -n 1p b.md", "`zsh`: == not found"),
    ],
)
def test_what_a_shell_says_is_told_with_the_command_that_it_is_about(output: str, command: str, line: str) -> None:
    assert told(output, command).startswith(line)


@pytest.mark.parametrize(
    ("output", "command", "part"),
    [
        (
            (
                "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error\n"
                'npm error peer tides@"^17" from gauge@2.1.0\n'
            ),
            "npm install",
            "could not resolve peer 'tides' from 'gauge'",
        ),
        (
            (
                "ERROR: Cannot install reef because these package versions have conflicting dependencies.\n"
                'Traceback (most recent call last):\n  File "lock.py", line 2, in <module>\n    main()\n'
                "pip._internal.exceptions.DistributionNotFound: ResolutionImpossible: for help visit https://reef.example/x"
            ),
            "python lock.py",
            ": Cannot install reef (lock.py <module>)",
        ),
        (
            "Error: Can't find the root while a path is resolved.\nPath to resolve: reef/tides.json\ncwd: /srv\n",
            "reefctl check",
            "resolved: Path to resolve: reef/tides.json",
        ),
        (
            "● Test suite failed to run\n\n  Configuration error:\n\n  Could not find @/tides mapped as:\n  /srv/$1\n",
            "npm test",
            "Configuration error: Could not find @/tides mapped as: /srv/$1",
        ),
        (
            "In pump.sh line 4:\nrm $DIR\n   ^--^ SC2086 (info): Double quote to prevent globbing.\n",
            "shellcheck *.sh",
            "(pump.sh)",
        ),
        (
            (
                "# ./tides/...\npattern ./tides/...: lstat ./tides/: no such file or directory\n"
                "FAIL\t./tides/... [setup failed]\nFAIL\n"
            ),
            "go test ./...",
            "lstat ./tides/: no such file or directory",
        ),
        (
            (
                f"{'tides' * 8}.csproj : error NU1008: Projects that use central package version management should not "
                "define the version on the PackageReference items but on the PackageVersion items: Reef.Gauges.North."
            ),
            "dotnet restore",
            "…: Reef.Gauges.North",
        ),
    ],
)
def test_a_name_that_stands_beside_the_headline_is_told(output: str, command: str, part: str) -> None:
    assert part in told(output, command)


@pytest.mark.parametrize(
    ("output", "command"),
    [
        (
            (
                "ImportError while loading conftest '/srv/reef/tests/conftest.py'.\ntests/conftest.py:3: in <module>\n"
                "    import tides\nsrc/reef/tides.py:10: in <module>\n    LIMIT = high['ebb']\nE   KeyError: 'ebb'\n"
            ),
            "pytest",
        ),
        (
            (
                "tests/pump.test.ts:\n\n# Unhandled error between tests\n-----\nerror: LIMIT is not set\n"
                "    at /srv/reef/src/reef/tides.py:10:9\n-----\n\n 0 pass\n 1 fail\n"
            ),
            "bun test",
        ),
    ],
)
def test_the_file_that_raises_is_told_and_not_the_one_that_imports_it(output: str, command: str) -> None:
    assert told(output, command).endswith("(reef/tides.py)")


def test_what_was_wanted_is_told_however_long_the_value_is() -> None:
    of_go = f'--- FAIL: TestTides (0.01s)\n    tides_test.go:9: Read() = "{"low " * 40}", want "{"low " * 20}high"\n'
    assert "want: " in told(of_go, "go test ./...")
    of_dotnet = (
        "Tides.cs(4): error test failed:\n      Reads_All (3ms): StringAssert.Contains failed. String 'north:\n"
        + "        gauge: 1\n" * 9
        + "      ' does not contain string 'gauge: 2'. .\n      Stack Trace:\n         at Reef.Tides.Reads_All()\n"
    )
    assert "String '…' does not contain string 'gauge: 2'" in told(of_dotnet, "dotnet test")
    equal = (
        f"Tides.cs(4): error test failed:\n      Reads: Assert.AreEqual failed. Expected:<>. Actual:<{'low ' * 50}>. x"
    )
    assert "Expected: <>, Actual: <low" in told(equal, "dotnet test")


def test_a_type_that_only_looks_like_an_order_does_not_end_the_line() -> None:
    said = "Property 'low' is missing in type '{ claude: string; reef: 1 }' but required in type 'T'."
    line = told(f"t.ts(1,1): error TS2741: {said}", "tsc")
    assert line.endswith("is missing in type '{…}' but required in type 'T'.")
    assert not reads_like_an_order(line)


def test_two_lines_that_touch_are_not_told_as_one() -> None:
    assert told("tides.py:3:1: F401 'os' unusedShell cwd was reset to /srv/reef", "flake8").endswith("F401 'os' unused")


def test_a_deep_path_keeps_the_folder_that_says_it_is_nobodys_own_work() -> None:
    output = "error: Cannot find module 'ebb' from '/srv/reef/tmp/clones/north-7/src/apps/web/tests/tides.test.ts'"
    assert "'…/tmp/clones/…/tests/tides.test.ts'" in told(output, "bun test")


def test_a_rule_with_a_slash_is_no_path() -> None:
    output = (
        f"lib/tides.rb:2:1: C: Style/StringLiterals: Prefer single quotes {'where nothing needs them ' * 6}Error: bad"
    )
    assert "Style/StringLiterals" in told(output, "rubocop")


@pytest.mark.parametrize(
    ("output", "command"),
    [
        ("No tests found, exiting with code 0", "npx jest"),
        ("This command requires approval", "npm test"),
        ("PreToolUse:Bash hook error: [guard.sh]: Error: pushing is blocked", "git push"),
        ("curl: (22) The requested URL returned error: 404", "curl -f https://a.example/x https://b.example/y"),
        ("npm error location /srv/reef/tides\nnpm error command failed", "npm run check"),
    ],
)
def test_what_is_no_error_or_could_be_anybodys_is_withheld(output: str, command: str) -> None:
    assert told(output, command) == ""


def test_a_line_stays_short_with_its_command_before_it() -> None:
    assert len(row(f"zsh: no matches found: {'tide' * 60}", "ls").error) <= MAX_ERROR_CHARACTERS


@pytest.mark.parametrize(
    ("command", "line", "program"),
    [
        ("cat -A reef.md | sed -n '1,5p'", "rtk: error: unexpected argument '-A' found", "cat"),
        ("sed -n '1,5p' reef.md | cat -A", "cat: illegal option -- A", "cat"),
        ("sed -z 5p reef.md | cat", "error: unexpected argument '-z' found", "sed"),
    ],
)
def test_of_a_pipe_the_one_is_told_that_has_the_option_or_speaks(command: str, line: str, program: str) -> None:
    assert told_command(command, line, family="usage").startswith(program)
