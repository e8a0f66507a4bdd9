"""How a call ended is told from what it printed where that is plain, and left open where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.ledger import _of_command, is_cut_off, printed, read, settled
from hardwon.failures.tools import danger
from hardwon.model.session import Evidence, Message, Outcome, Session, ToolCall, ToolResult
from tests.sessions.test_specstory_layouts import HEAD, asked, card, ran, turn
from tests.timing import assert_quick


def ended(
    command: str,
    output: str,
    *,
    outcome: Outcome = "unknown",
    evidence: Evidence = "none",
    call: ToolCall | None = None,
) -> tuple[str, str]:
    call = call or ToolCall(id="a", name="run_terminal_cmd", action="run", command=command)
    result = ToolResult(call_id="a", outcome=outcome, evidence=evidence, text=output)
    messages = (
        Message(role="assistant", origin="agent", calls=(call,)),
        Message(role="tool", origin="tool", results=(result,)),
    )
    session = settled(Session(external_id="s", agent="cursor", format="specstory", messages=messages))
    (found,) = session.results()
    assert found.text == output
    return found.outcome, found.evidence


FAILED = [
    ("pip install tide && make", "Successfully installed tide-1.0.0\nerror: no rule"),
    (
        "git push origin low",
        " ! [remote rejected] low -> low (declined)\nerror: failed to push some refs to 'x'\nhint: 1\nhint: 2",
    ),
    ("uv pip install tide", "  × No solution found\n  ╰─▶ we can conclude that your requirements are unsatisfiable."),
    ("ruff check --output-format=github .", "::error title=Ruff (F401),file=a.py,line=5::a.py:5:44: F401 `x` imported"),
    ("Get-Tide -All", "Get-Low: The term 'Get-Low' is not recognized as a name of a cmdlet, function or script file."),
    ("dotnet new webapi -n Tide", "The template was created.\nRestore failed.\nPost action failed."),
    ("dotnet build", "Restore complete (0.5s)\n  Reef failed with 2 error(s)\n\nBuild failed with 2 error(s) in 2.1s"),
    ("bun test", "✓ low [1ms]\n✗ high [1ms]\n\n 1 pass\n 1 fail\n 3 expect() calls\nRan 2 tests across 1 files."),
    ("npm test", "> jest\n\nTests:       1 failed, 3 passed, 4 total\nTime: 1 s"),
    ("npx playwright test", "Error: locator\n\n  1 failed\n    [chromium] › a.spec.ts\n  3 passed (12.0s)\n  1 failed"),
    ("git push", "fatal: could not read Username for 'https://git.example': No such device or address"),
    ("tide start", "ann@reef sea % tide start\nerror: unknown command 'start'\nann@reef sea %"),
    ("cd a && make", "C:\\reef>cd a && make\nThe system cannot find the path specified.\n\nC:\\reef>"),
    ("python tide.py", 'Traceback (most recent call last):\n  File "tide.py", line 1, in <module>\nKeyError: 3'),
    ("cat a.txt", "cat: a.txt: No such file or directory"),
    ("cd reef && git status", "cd: no such file or directory: reef"),
    ("tree docs", "zsh: command not found: tree"),
    ("git commit -m x", "On branch main\nnothing to commit, working tree clean"),
    ("tsc --noEmit", 'a.ts(1,2): error TS2307: Cannot find module "b"\nerror: "tsc" exited with code 2'),
    ("npx jest tide", "● Validation Error:\n\n  Watch plugin low cannot be found.\n\n  Configuration Documentation:"),
    ("curl -s localhost/tide", '{"success":false,"error":"fetch failed"}%'),
    ("sleep 1 && curl localhost/tide", '{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"Not Acceptable"}}'),
    (
        "curl -v localhost:1",
        "*   Trying [::1]:1...\n* Failed to connect\ncurl: (7) Failed to connect to localhost port 1",
    ),
    ("python test_tides.py", "Low ✅ PASSED\nHigh ❌ FAILED\n=====\n⚠️  Some tide tests failed!"),
    ("node test-tide.js", "🧪 Starting\n💥 Tide test FAILED!\n❌ Error: no reef\n{\n}"),
    ("curl -X POST localhost/tide -d '{}'", '{\n  "error": "No tide",\n  "message": "invalid input"\n}'),
    ("git add a && git commit -m x", 'On branch main\nno changes added to commit (use "git add")\nann@reef sea % '),
    ("mkdir a && make", "A subdirectory or file a already exists."),
    ("python tide.py", "Python wurde nicht gefunden; ohne Argumente"),
    ("python -c 'import tide'", "Command 'python' not found, did you mean:\n  command 'python3' from deb python3"),
    (
        "git pull",
        "CONFLICT (add/add): Merge conflict in a\nAutomatic merge failed; fix conflicts and then commit.\nFrom x",
    ),
    (
        "bun test low.ts",
        "bun test v1.2.10\nThe following filters did not match any test files:\n  low.ts\nLearn more: x",
    ),
    ("dotnet run", "Couldn't find a project to run. Ensure a project exists in C:\\reef."),
    (
        "dotnet build",
        "  Reef succeeded (0.1s)\nC:\\reef\\a.cs(5,1): error CS8602: Dereference\n  Test   CoreCompile (1.9s)",
    ),
    ("cd /c/reef && dotnet build", "Set-Location: Cannot find path 'C:\\c\\reef' because it does not exist."),
    ("python -c 'import a; a()' | cat", ">>> import a; a()\n    ^\nSyntaxError: invalid syntax\n>>>"),
    (
        "python tide.py",
        "Traceback (most recent call last):\nTypeError: no tide: array([\n" + "  [1, 1, 1],\n" * 40 + "  [1]])",
    ),
    ("timeout 9 make; make low", "zsh: command not found: timeout\nzsh: command not found: make"),
]
WENT_WELL = [
    (
        "uv pip install tide",
        "warning: Failed to hardlink files; falling back to full copy.\nInstalled 1 package in 11ms\n + tide==1",
    ),
    ("pip install tide", "but you have reef 2 which is incompatible.\nSuccessfully installed tide-1.0.0"),
    ("dotnet build", "  Tide.sln      Restore (0.0s) Build succeeded with 1 warning(s) in 0.2s"),
    ("env | grep -i tide", "TIDE=high\nzsh:1: command not found: dump_zsh_state"),
    ("dotnet build", "  Reef succeeded (0.2s)\n\nBuild succeeded in 1.5s"),
    ("bun test", "✓ throws on an invalid tide [1ms]\n\n 1 pass\n 0 fail\nRan 1 tests across 1 files."),
    ("pytest -q", "....\n4 passed in 0.12s"),
    ("mkdir -p a", "ann@reef sea % mkdir -p a\nann@reef sea % "),
    ("git add .", "ann@reef task#11 % \n"),
    ("ls -l", "total 0\n-rw-r--r-- 1 ann staff 0 error.log"),
    ("git log -n 1", "commit 0c880e7\n    Fix the failing tests, which failed with an error"),
    ("cat notes.md", "# Errors\n\nGit says 'fatal: not a repository' when it fails."),
    ("git commit -m x", "[main 33b2a64] x\n 1 file changed, 2 insertions(+)"),
    ("git commit -m x", "[main 33b2a64] Fix errors\n 1 file changed, 2 insertions(+)\n create mode 100644 error.md"),
    ("npx jest", "  at a failing place\nTests:       4 skipped, 183 passed, 187 total\nTime: 1 s"),
    ("curl -s localhost/tide", '{"success":true,"data":{"text":"no such error"},"error":""}%'),
    ("python test_tides.py", "⚠️  no key, skipping: not provided\nLow: ✅\n🎉 All services are working correctly!"),
    ("git add a && git status", 'On branch main\nno changes added to commit (use "git add" and/or "git commit -a")'),
    ("tide --help", "Usage: tide [options]\n  --strict  fail on any error"),
    (
        "scripts\\cover.cmd",
        "Test summary: total: 21, failed: 0, succeeded: 21\nBuild succeeded in 5.6s\nWritten to a.xml",
    ),
    ("npm install tide", "added 2 packages, and audited 417 packages in 4s"),
    ("echo 'error: x' >> a", "ann@reef sea % echo 'error: x' >> a\nann@reef sea %"),
    ("python tide.py", "\x1b[32mhigh at 10:00\x1b[0m\n'q' is not recognized as an internal or external command,\n"),
]
OPEN = [
    ("curl -s -I localhost/tide", "HTTP/2 404\ncontent-type: text/plain"),
    ("curl -s localhost/tide", '{"success":true,"tests":6,"failedTests":1}'),
    ("git commit -m x && git push", "[main 33b2a64] Fix errors\n 1 file changed\nerror of another kind, somewhere"),
    ("make && echo All tests passed", "All errors were ignored, not all tests passed"),
    ("dotnet test", "  Reef.Test succeeded (0.1s)\n  Reef.Test                 Testing (0.7s)"),  # cut off
    ("dotnet build", "\ue0b0 12:00:01 reef"),
    ("curl -s localhost:3000/tide", ""),
    ("curl -sI localhost", "HTTP/2 401\nserver: reef"),
    ("vercel env add TIDE", "Vercel CLI 48\n? What's the value of TIDE?"),
    ("timeout 5 tide || true", "zsh: command not found: timeout"),
    ("tide start", "Error: port in use, trying the next\n🚀 running on port 3001"),
    ("make a; make b", "make a\nerror: no a\nb is built"),
    ("git add . && git commit -m x", "[main 33b2a64] x\n 1 file changed\nOn branch main\nnothing to commit"),
    ("python tide.py", "Error: no table\n" + "low\n" * 40),
    ("bash -c 'tail -5 notes'", "fatal: what git says"),
    ("cat a b", "cat: a: No such file or directory\nb"),
    ("dotnet ef migrations add A", "Build succeeded.\nYour project doesn't reference the design package."),
    (
        "dotnet test",
        "Build succeeded in 1.5s\n  Reef.Test succeeded (0.1s)\n  Reef.Test                 Testing (0.7s)",
    ),
    ("python tide.py", "Downloading the tide\nストリームを開けませんでした。"),
    ("curl -s localhost", "cmdlet Invoke-WebRequest at command pipeline position 1\nSupply values for:\nUri:"),
    ("bash build.sh", "Build succeeded in 1.5s\nsome tides are missing"),
]


@pytest.mark.parametrize(("command", "output"), FAILED)
def test_a_plain_failure_is_one(command: str, output: str) -> None:
    assert ended(command, output)[0] == "error"


@pytest.mark.parametrize(("command", "output"), WENT_WELL)
def test_a_success_is_what_reports_one_or_says_nothing_of_trouble(command: str, output: str) -> None:
    assert ended(command, output)[0] == "ok"


def test_a_screen_without_the_prompt_that_follows_was_kept_too_early() -> None:
    assert is_cut_off("make tides", "ann@reef sea % make tides\nlow")
    assert is_cut_off("dotnet build", "  Reef    CoreCompile (0.3s)")
    assert not is_cut_off("make tides", "ann@reef sea % make tides\nlow\nann@reef sea % ")
    assert not is_cut_off("make tides", "low")


@pytest.mark.parametrize(("command", "output"), OPEN)
def test_what_is_not_plain_stays_unknown(command: str, output: str) -> None:
    assert ended(command, output) == ("unknown", "none")


@pytest.mark.parametrize(
    ("name", "action", "answer", "verdict"),
    [
        ("grep_search", "read", "No results found", ("ok", "clean-output")),
        ("read_file", "read", "def fail(): raise Error", ("ok", "clean-output")),
        ("read_file", "read", "Error: Access denied - path outside of the project", ("error", "text")),
        ("execute_sql", "other", '{"error":{"message":"no such table"}}', ("error", "text")),
        ("add_memory", "other", '{\n  "success": true\n}', ("ok", "text")),
        ("add_memory", "other", '{\n  "success": false\n}', ("error", "text")),
        ("create_plan", "other", '{\n  "rejected": {}\n}', ("error", "rejected")),
        ("read_lints", "other", "Lint paths:\n\n- `a.py`\n\nLint errors for `a.py`", ("ok", "text")),
        ("search", "other", '[{"text":"Search error: HTTP 400","type":"text"}]', ("error", "text")),
        ("search", "other", '[{"text":"How an error is handled, if it fails","type":"text"}]', ("unknown", "none")),
        ("call", "other", "it could not be done", ("unknown", "none")),
    ],
)
def test_editors_tools_answer_in_forms_of_their_own(
    name: str, action: str, answer: str, verdict: tuple[str, str]
) -> None:
    call = ToolCall(id="a", name=name, action=action)  # type: ignore[arg-type]
    assert ended("", answer, call=call) == verdict


def test_a_shells_mark_for_the_editor_is_an_exit_code() -> None:
    assert ended("tide", "\x1b]633;Ca\x07high\n\x1b]633;D;0\x07") == ("ok", "exit-code")
    assert ended("tide", "]633;Ca\nhigh\n]633;D;3") == ("error", "exit-code")


def test_what_the_transcript_says_itself_is_left_as_it_is() -> None:
    assert ended("make", "all good", outcome="error", evidence="exit-code") == ("error", "exit-code")
    assert ended("make", "error: no", outcome="ok", evidence="flag") == ("ok", "flag")


def test_a_file_is_read_with_its_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    parts = [
        ran("git push", "fatal: no remote"),
        ran("ls", "a"),
        card('Grep for "a" • 0 matches', "_No matches found_"),
    ]
    path.write_text(HEAD + asked() + turn(*parts, "Done."))
    (session,) = read(path).sessions
    assert [result.outcome for result in session.results()] == ["error", "ok", "ok"]


@pytest.mark.parametrize(
    "piece",
    ["= 1 failed ", "error ", "a: ", "1 passed ", "\x1b]", "ann@reef ", "x\n", "make\n", " 1 fail\n", "[a "],
)
def test_judging_takes_as_long_as_the_output_is(piece: str) -> None:
    assert_quick(lambda: ended("make\n" * 300, piece * (1_000_000 // len(piece))), 1)


def test_few_real_results_stay_unknown(shared: Path) -> None:
    outcomes = [
        result.outcome
        for path in sorted((shared / "projects/specstory").rglob("*.md"))[::4]
        if path.name != "2025-05-21_improve-mcp-error-handling.md"
        for session in read(path).sessions
        for result in session.results()
        if result.text.strip()
    ]
    assert outcomes.count("unknown") <= 0.12 * len(outcomes)
    assert outcomes.count("error") >= 0.08 * len(outcomes)


def test_what_pytest_says_of_a_long_line_of_code_is_no_part_of_it() -> None:
    code = ">" + " " * 11 + "self.assertEqual(gauge.height_of_the_northern_reef, 3)"
    said = "E" + " " * 11 + "AttributeError: no attribute 'height'"
    assert said in printed("pytest", "\n".join([code, said, code, said]))


def test_lines_that_a_screen_broke_at_its_edge_are_whole_again() -> None:
    wide = "    C:\\reef\\Tide.cs(10,1): error CS1501: No overload for method 'Parse' takes 2 arguments, said it"
    screen = "\n".join(["Restore complete", wide[:70], wide[70:], wide[:70], wide[70:], "=" * 70, "Build failed"])
    assert printed("dotnet build", screen) == ["Restore complete", wide, wide, "=" * 70, "Build failed"]


@pytest.mark.parametrize(
    ("command", "output", "outcome"),
    [
        ("pytest 2>&1 | tail -3", "E   assert 1 == 2\n=========== 1 failed, 3 passed in 0.21s ===========", "error"),
        ("cargo build 2>&1 | head -5", "error[E0425]: cannot find value `x` in this scope", "error"),
        ("pytest 2>&1 | tail -3", "=========== 4 passed in 0.21s ===========", "ok"),
        ("tide notes list | head -80", "✗ FAIL  a note about a test\n1 failed", "ok"),
        ("npm test -- list | tail -3", "1 failed, 3 passed in 0.21s", "error"),
        ("pytest > out.txt; tail out.txt", "=========== 1 failed in 0.21s ===========", "ok"),
        ("grep -rn error: src | head", "src/a.py:3: error: nothing", "ok"),
        ("pytest | grep -c failed", "1 failed", "ok"),
        ("sed -n 1,9p a.md | cat -Q | head -30", "cat: illegal option -- Q\nusage: cat [-bn] [file ...]", "error"),
        ("cat -Q a.md | sed -n 1,5p", "cat: illegal option -- Q\nusage: cat [-bn] [file ...]", "error"),
        ("tail -5 ~/low.log | grep -A 2 tide", "tail: ~/low.log: No such file or directory", "error"),
        (
            "find . -tide | sort",
            "error: unexpected argument '-t'\n\nUsage: sea find <PATH>\n\nFor more information, try '--help'.",
            "error",
        ),
        ("git log low | head", "fatal: ambiguous argument 'low': unknown revision", "error"),
        ("make low || pytest | tail -1", "=========== 1 failed in 0.21s ===========", "error"),
        ("grep low a.md | sort || true", "grep: a.md: No such file or directory", "ok"),
        ("cat -Q a.md | sed -n 1,5p", "cat: illegal option -- Q\n# Tides", "ok"),
        ("grep -h error: low.log | sort", "error: the tide is unknown", "ok"),
        ("cat low.log | head -2", "error: the tide is unknown\nerror: no such reef", "ok"),
        ("sort a.txt | uniq", "grep: low: No such file or directory", "ok"),
        ("tide --help | head", "usage: tide [-b] file", "ok"),
        ("go vet ./... 2>&1 | tail -80", "# reef/tide\nsrc/tide.go:12:4: possible misuse of low.Pointer", "error"),
        ("npx markdownlint-cli2 a.md 2>&1 | tail", "a.md:3:81 MD013/line-length Line length", "error"),
        ("go vet ./... 2>&1 | tail -80", "", "ok"),
        ("go vet ./... 2>&1 | grep -v Pointer", "", "unknown"),
        ("go vet ./... 2>&1 | grep -v Pointer | head", "src/tide.go:12:4: unreachable code", "unknown"),
    ],
)
def test_a_failure_whose_exit_code_a_pipe_hides_is_told_by_what_it_printed(
    command: str, output: str, outcome: str
) -> None:
    assert ended(command, output, outcome="ok", evidence="no-flag")[0] == outcome


def test_a_line_with_a_bracket_behind_a_path_of_windows_is_no_prompt() -> None:
    said = "    C:\\srv\\reef\\Tides.cs(31,38): error CS0029: Cannot convert type 'int' to 'Gauge<Tide>'"
    screen = f"PS C:\\srv\\reef> dotnet build\n{said}\nC:\\srv\\reef>"
    assert printed("dotnet build", screen) == [said]


def test_a_command_that_goes_on_in_the_background_has_not_passed() -> None:
    said = "Command running in background with ID: b71. Output is being written to: /tmp/b71.output"
    assert ended("bun test", said, outcome="ok", evidence="no-flag") == ("unknown", "none")


def test_a_prompt_that_a_screen_shows_twice_is_no_edge_of_it() -> None:
    asked = "C:\\reef\\Tides>cd /c/reef/Tides && dotnet build --verbosity normal --nologo"
    said = "The system cannot find the path specified."
    screen = "\n".join([asked, "Microsoft Windows [Version 10.0]", "", asked, said, "", "C:\\reef\\Tides>"])
    line = asked.partition(">")[2]
    assert printed(line, screen) == [said]
    assert ended(line, screen) == ("error", "text")


def test_a_build_that_compiled_and_then_failed_has_failed() -> None:
    output = (
        "> next build\n ✓ Compiled successfully\n   Linting and checking validity of types  ...Failed to compile.\n\n"
        "./reef/Tide.tsx:239:13\nType error: Type 'string' is not assignable to type 'number'.\n"
    )
    assert _of_command("npm run build", output)[0] == "error"
    found = fingerprint(output, "npm run build")
    assert found is not None
    assert "Type 'string' is not assignable" in found.message


def test_a_word_of_a_query_destroys_nothing() -> None:
    assert not danger("gh api graphql -f query='{ tide { body(truncate: 80) } }'")
    assert danger("truncate -s 0 tides.db")
    assert danger('psql -c "TRUNCATE TABLE tides"')
