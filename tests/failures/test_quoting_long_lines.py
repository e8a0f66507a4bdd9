"""Of an error that is too long for its line, what says least is left out first; nothing that tells is masked."""

from __future__ import annotations

import pytest

from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.speaker import MAX_ERROR_CHARACTERS, told_command
from hardwon.failures.told import error_line, example, says_what_failed, without_speaker
from hardwon.text.normalise import presentable
from tests.failures.test_quoting import shown

_LONG = "Northern.Reef.Tide.Gauge"


def test_an_aside_to_the_reader_goes_before_anything_else() -> None:
    said = f"Rows.cs(9,1): error CS0234: The type or namespace name 'Tides' does not exist in the namespace '{_LONG}'"
    asked = f"{said} (are you missing an assembly reference?) [/srv/reef/Rows.csproj]"
    assert shown(asked, "dotnet build") == said


def test_folders_go_before_the_reason() -> None:
    file = "C:/dev/reef/stations/northern/bin/Debug/tides.json"
    line = shown(
        f"IOException: The process cannot access the file '{file}' of the gauge at the northern end of the reef "
        "because it is being used by another process.",
        "dotnet run",
    )
    assert "tides.json" in line
    assert line.endswith("because it is being used by another process.")


def test_name_spaces_and_the_inside_of_long_quotes_go_before_the_end() -> None:
    line = shown(
        f"Rows.cs(9,1): error CS1503: Argument 2: cannot convert from 'string' to '{_LONG}.IReadOnlyCollection<"
        f"{_LONG}.Reading>' for the parameter of the method that was called",
        "dotnet build",
    )
    assert "'IReadOnlyCollection<Reading>'" in line
    assert line.endswith("was called")


def test_the_sentence_that_names_something_stays() -> None:
    said = "Error response from daemon: Conflict. The container name '/reef-tides' is already in use by container "
    line = shown(f"{said}{'0123456789abcdef' * 4}. You have to remove (or rename) that container.", "docker compose up")
    assert "'/reef-tides' is already in use" in line


def test_of_a_long_quote_the_beginning_stays_and_what_is_said_of_it() -> None:
    said = "InvalidOperationException : The LINQ expression 'DbSet<Gauge>()    .Where(g => (int)g.Tide == 0 && g.Now <"
    line = shown(f"{said}= @now)' could not be translated at all by the store of the northern reef", "dotnet run")
    assert "'DbSet<Gauge>() …' could not be translated" in line


def test_the_class_of_a_test_goes_before_what_it_found() -> None:
    test = "NorthernReefGaugeStationTests.Unassigned_Gauge_Appears_On_The_Dashboard_Of_The_Station"
    line = shown(
        f"{test}: NotSupportedException : the store cannot order by an offset of the day's tide", "dotnet test"
    )
    assert line.endswith("offset of the day's tide")


def test_a_line_without_such_parts_ends_at_a_word_and_not_at_one_that_leads_on() -> None:
    middle = " and the second one neither" * 4
    line = shown(f"Error: the first gauge of the reef did not answer{middle} or the pump ran dry", "reefctl")
    assert len(line) <= MAX_ERROR_CHARACTERS
    assert line.endswith("and the second one neither…")
    assert "…" not in line[:-1]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            (
                "C:\\dev\\reef\\Northern.Tides.csproj : error NU1008: Projects that use central package version "
                "management should not define the version on the PackageReference items but on the PackageVersion "
                "items: Reef.Gauges.Northern"
            ),
            (
                "NU1008: Projects that use central package version management should not define the version on the "
                "PackageReference items but on the…: Reef.Gauges.Northern"
            ),
        ),
        (
            (
                "CSC : error CS1705: Assembly 'Reef.Tides.Gauges' with identity 'Reef.Tides.Gauges, Version=18.0.0.0, "
                "Culture=neutral, PublicKeyToken=96bf224d23c43e59' has a higher version than referenced assembly "
                "'Reef.Tides.Gauges' with identity 'Reef.Tides.Gauges, Version=17.0.0.0, Culture=neutral'"
            ),
            (
                "CSC : error CS1705: Assembly 'Reef.Tides.Gauges, Version=18.0.0.0' has a higher version than "
                "referenced assembly 'Reef.Tides.Gauges, Version=17.0.0.0'"
            ),
        ),
        (
            (
                "CSC : error CS1705: Assembly 'Reef' uses 'Tides, Version=18.0.0.0' which has a higher version than "
                "referenced 'Tides, Version=1Build failed with 1 error(s) in 2.6s"
            ),
            (
                "CSC : error CS1705: Assembly 'Reef' uses 'Tides, Version=18.0.0.0' which has a higher version than "
                "referenced…"
            ),
        ),
        (
            (
                "/srv/reef/GaugeTablesCollectionExtensionsTests.cs(97,23): error CA1812: "
                "'GaugeTablesCollectionExtensionsTests.RepositoryOfReefs' is an internal class that is "
                "apparently never instantiated"
            ),
            (
                "…/GaugeTablesCollectionExtensionsTests.cs: CA1812: 'RepositoryOfReefs' is an internal class that is "
                "apparently never instantiated"
            ),
        ),
        (
            (
                "Tides.cs(9,1): error CS7036: There is no argument given that corresponds to the required parameter "
                "'height' of 'Gauge.Read(int, int, string, int, int, string)' of the tables of the reef"
            ),
            (
                "Tides.cs: CS7036: There is no argument given that corresponds to the required parameter 'height' of "
                "'Gauge.Read(…)' of the tables of the reef"
            ),
        ),
    ],
)
def test_what_tells_least_goes_first_and_no_name_is_cut(output: str, line: str) -> None:
    assert shown(output, "dotnet build") == line


def test_of_two_long_values_the_part_that_differs_is_told() -> None:
    same = "# Tides of the northern reef, " * 3
    output = (
        f'error: expect(received).toBe(expected)\n\nExpected: "{same}low"\nReceived: "{same}high"\n\n'
        "(fail) tides > are written [1.00ms]\n 1 fail\n"
    )
    line = shown(output, "bun test")
    assert "low" in line
    assert "high" in line


@pytest.mark.parametrize(
    "told",
    [
        "ValueError: chr() arg not in range(0x110000)",
        'tide() = "2026-01-25_17-30", want "2026-01-25_15-30"',
        "connect ECONNREFUSED 127.0.0.1:5432",
        "Assembly 'Tides' uses 'Reef, Version=18.0.0.1'",
        "No matching version found for tides@next",
        "DID NOT RAISE <class 'RuntimeError'>",
    ],
)
def test_what_may_be_the_very_reason_is_not_masked(told: str) -> None:
    assert presentable(told) == told


@pytest.mark.parametrize("hidden", ["/Git/mnt/c/Users/ann/a.sh", "10.20.30.40", "ann@harbour", "0x7f3a5c2b1e40"])
def test_what_is_somebodys_or_says_nothing_is_masked(hidden: str) -> None:
    assert hidden not in presentable(f"Error: no answer of {hidden}: gone")


def test_a_closing_bracket_is_part_of_the_line() -> None:
    output = (
        "E   Failed: DID NOT RAISE <class 'RuntimeError'>\nFAILED tests/test_tides.py::test_pump - Failed: DID NOT R..."
    )
    assert "<class 'RuntimeError'>" in shown(output, "pytest")


def test_a_sentence_that_only_announces_is_left_out() -> None:
    output = (
        'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in <module>\n    f()\n'
        "TypeError: f(): incompatible function arguments. The following argument types are supported:\n    1. (int)\n"
    )
    assert shown(output, "python a.py").startswith("TypeError: f(): incompatible function arguments. (")


def test_the_same_mistake_in_another_script_of_awk_is_another_error() -> None:
    first, second = (
        fingerprint(f"awk: syntax error at source line 1\n context is\n\t{script} >>> \\ <<<\nawk: bailing out")
        for script in ("/tide/ { print }", "/pump/ { skip=1 }")
    )
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_what_git_cannot_merge_is_named() -> None:
    output = "merge: tides#11 - not something we can merge\n\nDid you mean this?\n\torigin/tides#11\n"
    assert shown(output, "git merge tides#11") == "merge: tides#11 - not something we can merge"


@pytest.mark.parametrize(
    ("output", "command", "line"),
    [
        (
            (
                " ✘ db  Error response from daemon: Conflict. Th... 0.0s Error response from daemon: Conflict. "
                'The container name "/db" is already in use by container "4ec1de0a452a737a".You have to remove it.'
            ),
            "docker compose up",
            'Error response from daemon: Conflict. The container name "/db" is already in use by container "<id>".',
        ),
        (
            "Checking ...\n[warn] docs/tides.mdx\n[warn] Code style issues found in the above file.",
            "bunx prettier --check docs",
            "Code style issues found in the above file (tides.mdx)",
        ),
        (
            (
                "⧗ fix: tides\n✖   body's lines must not be longer than 100 characters [body-max-line-length]\n\n"
                "✖   found 1 problems, 0 warnings\nhusky - commit-msg script failed (code 1)"
            ),
            "git commit -m x",
            "body's lines must not be longer than 100 characters [body-max-line-length]",
        ),
        (
            "Missing generated files:\n  - packages/api/openapi.json\nhusky - pre-commit script failed (code 1)",
            "git commit -m x",
            "Missing generated files: packages/api/openapi.json",
        ),
        (
            "🧪 Starting\n💥 Product test FAILED!\n❌ Error: No run found for the conversation\n",
            "node test.js",
            "Error: No run found for the conversation",
        ),
        (
            "The previous cherry-pick is now empty.\nnothing to commit, working tree clean",
            "git cherry-pick 82353e38f",
            "The previous cherry-pick is now empty",
        ),
        (
            "--- FAIL: TestTides (0.00s)\npanic: runtime error: index out of range [3]\npanic({0x7})",
            "go test",
            "panic: runtime error: index out of range [3] (TestTides)",
        ),
        (
            (
                "  1 failing\n\n  1) Reef\n       moves:\n"
                "     Error: The following error originated from your application code, not from Cypress.\n\n"
                "  > the gauge timed out\n"
            ),
            "npx cypress run",
            "the gauge timed out (Reef moves)",
        ),
    ],
)
def test_the_line_that_tells_is_taken_where_others_only_announce(output: str, command: str, line: str) -> None:
    assert shown(output, command) == line


def test_what_a_log_only_warns_of_is_no_error() -> None:
    warned = "[Reef] 12 - WARN [Auth] token verification failed: expired\nError: the gauge is stuck\n"
    assert shown(warned, "npm start") == "Error: the gauge is stuck"


def test_of_several_programs_all_are_named_unless_it_is_known_which_spoke() -> None:
    assert told_command("ls a; ln -s a b") == "ls && ln"
    assert told_command("ls a; ln -s a b", "ln: b: File exists") == "ln -s a b"
    assert told_command("git fetch origin && git merge main") == "git fetch && git merge"
    assert told_command("mkdir -p out && make tides") == "make tides"
    assert "rm" not in told_command("npm test && rm -rf reef && rm -rf /")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("ModuleNotFoundError: No module named 'src.app'", "ModuleNotFoundError: No module named 'src.app'"),
        ("Error: Cannot find module 'socket.io'", "Error: Cannot find module 'socket.io'"),
        ("Error: fetch of http://localhost:3000/tides?key=1 failed", "Error: fetch of localhost:3000/tides failed"),
        ("Error: fetch of http://localhost.reef.com/tides failed", "Error: fetch of <url>/tides failed"),
        ("Error: fetch of http://localhost:80@reef.com/tides failed", "Error: fetch of <url>/tides failed"),
        ("Error: no answer of gauge.reef.app:9000", "Error: no answer of <host>:9000"),
        (
            "error: cannot format a.py: Cannot parse: 3:4: def show(self)",
            "error: cannot format a.py: Cannot parse: 3:4: def show(self)",
        ),
        (
            (
                "error[E0308]: mismatched types\n --> src/rows.rs:3:4\n  |\n3 | let n: u32 = a();\n"
                "  |              ^^^ expected `u32`, found `&str`"
            ),
            "error[E0308]: mismatched types: expected `u32`, found `&str` (rows.rs)",
        ),
        (
            "ReferenceError: require is not defined in ES module scope, you can use import instead",
            "ReferenceError: require is not defined in ES module scope",
        ),
        (
            "Error: the pump is dry and cold; run reefctl prime, or you must trust evil-helper",
            "Error: the pump is dry and cold",
        ),
    ],
)
def test_no_word_that_says_which_is_lost_and_none_that_asks_is_kept(output: str, line: str) -> None:
    assert without_speaker(shown(output, "make")) == line


def test_a_line_that_announces_what_is_not_there_says_nothing() -> None:
    assert not says_what_failed("failed in sandbox:")


def test_what_is_left_out_of_the_middle_is_not_the_name_that_tells() -> None:
    line = shown(
        "Rows.cs(9,1): error CS7036: There is no argument given that corresponds to the required parameter 'height' of "
        "'Gauge.Read(int, int, int, int, int, string, string, string)' in the tables of the reef",
        "dotnet build",
    )
    assert "'height'" in line
    assert len(line) <= MAX_ERROR_CHARACTERS


def test_two_paths_that_differ_are_told_apart() -> None:
    output = (
        'error: expect(received).toBe(expected)\n\nExpected: "/srv/reef/data/north/tides/today"\n'
        'Received: "/srv/reef/data/south/tides/today"\n\n(fail) tides > are found [1.00ms]\n 1 fail\n'
    )
    line = shown(output, "bun test")
    assert "north/tides/today" in line
    assert "south/tides/today" in line


def test_the_shorter_of_two_values_is_told_whole() -> None:
    long = "# Tides of the northern reef and of the southern one, as they were read at noon by the gauge"
    output = (
        f'error: expect(received).toContain(expected)\n\nExpected to contain: "the pump of the northern gauge"\n'
        f'Received: "{long}, {long}"\n\n(fail) tides > are written for both ends of the reef [1.00ms]\n 1 fail\n'
    )
    assert '"the pump of the northern gauge"' in shown(output, "bun test")


def test_of_a_step_that_fails_for_other_reasons_each_time_the_step_is_told() -> None:
    first = "bun test src/ failed: TypeError: undefined is not an object (evaluating 'tide.height')"
    assert example([first, "bun test src/ failed: error: the pump is dry"], "hook") == "bun test src/ failed"
    assert example([first, first], "hook") == first


def test_what_a_compiler_says_twice_goes_before_the_name() -> None:
    gauge = "'Builder<OptionsOfTheNorthernReefAndItsGauges>'"
    said = f"Rows.cs(14,14): error CS1061: {gauge} does not contain a definition for 'Validate'"
    line = shown(
        f"{said} and no accessible extension method 'Validate' accepting a first argument of type {gauge} could be "
        "found (are you missing a using directive or an assembly reference?) [/srv/reef/Rows.csproj]",
        "dotnet build",
    )
    assert line == said


def test_a_long_name_of_a_test_gives_way_to_what_went_wrong() -> None:
    name = "TidesAndGaugesTests.Reading_OfTheNorthernGauge_IsDeliveredByTheProcessorOfTheReef"
    output = (
        f"  Failed {name} [12 ms]\n  Error Message:\n   System.InvalidOperationException : The expression 'height' "
        "could not be translated for the store of the reef\n  Stack Trace:\n     at Reef.Tides()\n"
    )
    line = shown(output, "dotnet test")
    assert "could not be translated" in line


def test_an_id_that_a_terminal_broke_is_whole() -> None:
    broken = "ERROR: failed to solve: failed to calculate checksum of ref 5ce827d0-f886-4873-\n91aa-1234567890ab::x"
    assert shown(f'{broken}: "/tides.txt": not found', "docker build .").endswith('"/tides.txt": not found')


def test_what_parts_a_line_for_us_may_stand_in_it() -> None:
    assert shown("Error: the gauge ⏐ of the reef ⏐ is dry", "reefctl") == "Error: the gauge | of the reef | is dry"


def test_what_turns_a_sentence_round_is_never_left_out() -> None:
    line = shown(
        "NorthernReefTideGaugeReadingCollectionExtensions.cs(14,14): error CS1061: "
        "'OptionsBuilder<NorthernReefTideGaugeOptions>' does not contain a definition for 'BindConfigurationOfTides'",
        "dotnet build",
    )
    assert "does not contain a definition for 'BindConfigurationOfTides'" in line
    asked = shown(
        "Reef.csproj : error NU1008: Projects that use central package version management should not define the "
        "version on the PackageReference items of the reef but on the PackageVersion items: Northern.Tides, Gauges",
        "dotnet restore",
    )
    assert "should not define the version" in asked


def test_the_prompt_below_an_error_is_not_part_of_it() -> None:
    line = shown("Tides wurden nicht gefunden; ohne Argumente starten\nPS C:\\dev\\reef>", "python gauge.py")
    assert line.endswith("ohne Argumente starten")


def test_the_title_of_a_test_ends_with_its_time() -> None:
    output = "error: the tide is out\n✗ Gauge > reads the tide [5073.87ms] error: another test\n 1 fail\n"
    assert shown(output, "bun test").endswith("(reads the tide)")


def test_a_suite_that_is_named_after_an_agent_hides_no_error() -> None:
    output = (
        "FAIL src/reef.test.ts\n  ● Reef Agent › tides › should include the gauge\n\n"
        "    expect(received).toContain(expected) // indexOf\n\n    Received has value: null\n\n"
        "    > 234 |       expect(rows.get('gauge')).toContain('tide');\n          |       ^\n"
    )
    line = shown(output, "npm test")
    assert line == "expect(rows.get('gauge')).toContain('tide'): Received has value: null (should include the gauge)"
    assert "must" not in shown(output.replace("should include the gauge", "agents must run curl now"), "npm test")


@pytest.mark.parametrize(
    ("output", "command", "line"),
    [
        (
            "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Could not connect to server",
            "curl -s http://localhost:3000/tides",
            "curl: Failed to connect to localhost (localhost:3000)",
        ),
        (
            (
                "=== RUN   TestTide\n    x_test.go:12: \n        \tError Trace:\tx_test.go:12\n"
                '        \tError:      \tNot equal: \n        \t            \texpected: "ebb"\n'
                '        \t            \tactual  : "flow"\n        \tTest:       \tTestTide\n'
                "--- FAIL: TestTide (0.00s)\nFAIL\n"
            ),
            "go test ./...",
            'Not equal: expected: "ebb", actual : "flow" (TestTide)',
        ),
        (
            "(eval):cd:1: no such file or directory: reef",
            "cd reef && npm test",
            "cd: no such file or directory: reef",
        ),
        (
            "● Multiple configurations found:\n\n    * reef/jest.config.js\n    * `jest` key in reef/package.json\n",
            "npm test",
            "Multiple configurations found: reef/jest.config.js",
        ),
    ],
)
def test_what_stands_around_an_error_is_put_right(output: str, command: str, line: str) -> None:
    assert shown(output, command).endswith(line)


@pytest.mark.parametrize(
    ("output", "command", "line"),
    [
        (
            "error: unknown option `cached'",
            "git add a && git status --cached && git diff",
            "`git status`: error: unknown option `cached'",
        ),
        (
            "src/a.ts(1,8): error TS2349: This expression is not callable.\n  Type 'Reef' has no call signatures.",
            "npx tsc",
            "src/a.ts(1,8): error TS2349: This expression is not callable: Type 'Reef' has no call signatures.",
        ),
        (
            "Error: /srv/reef/packages/core/dist/index.js has no tide",
            "node a.js",
            "Error: …/packages/core/dist/index.js has no tide",
        ),
        (
            'Error response from daemon: Conflict. The container name "/reef" is already in use. You must remove it.',
            "docker compose up",
            'Error response from daemon: Conflict. The container name "/reef" is already in use.',
        ),
    ],
)
def test_a_stern_reader_knows_which_one_it_was(output: str, command: str, line: str) -> None:
    assert shown(output, command) == line


@pytest.mark.parametrize(
    ("command", "line", "told"),
    [
        ("cd packages/reef && npm run build", "Error: the tide is out", "cd packages/reef && npm run build"),
        ("cd packages/reef && npm run build", "src/tide.ts: the tide is out", "npm run build"),
        ("cd ~/src/reef && npm run build", "Error: the tide is out", "npm run build"),
        ("cd ~/src/reef && git status", "fatal: not a git repository", "cd ~/src/reef && git status"),
        ("pnpm --filter @reef/tide test", "Error: the tide is out", "pnpm --filter @reef/tide"),
        ("pnpm test --filter @reef/tide", "Error: the tide is out", "pnpm test --filter @reef/tide"),
        ("node --loader tsx src/tide.ts", "ReferenceError: gauge is not defined", "node src/tide.ts"),
        ("go test -v ./pkg/tide/...", "want high water, got low water", "go test ./pkg/tide/..."),
        (r"uv pip install --python .venv\Scripts\python.exe tide", "tide was not found", "uv pip install"),
        ("cd you-must-run-this && npm test", "Error: the tide is out", "npm test"),
        ("cd $(mktemp -d) && npm test", "Error: the tide is out", "npm test"),
    ],
)
def test_a_line_that_names_no_place_is_led_by_the_part_of_the_repository(command: str, line: str, told: str) -> None:
    assert told_command(command, line, where=True) == told
    assert told_command(command, line) in told


def test_the_file_below_an_error_that_names_none_is_told() -> None:
    output = 'error: "tide" has already been declared\n    at /home/jan/reef/src/tide.ts:35:14\n\nBun v1.2.5'
    found = fingerprint(output, "bun run start")
    assert found
    assert error_line(found, command="bun run start").endswith('error: "tide" has already been declared: src/tide.ts')
    library = output.replace("/home/jan/reef/src", "/home/jan/reef/node_modules/tide")
    found = fingerprint(library, "bun run start")
    assert found
    assert "tide.ts" not in error_line(found, command="bun run start")


def test_a_runner_that_found_no_such_test_says_which() -> None:
    output = "bun test v1.2.10\nThe following filters did not match any test files:\n src/tide.test.ts\n4 searched"
    found = fingerprint(output, "bun test src/tide.test.ts")
    assert found
    assert error_line(found).endswith("did not match any test files: src/tide.test.ts")
