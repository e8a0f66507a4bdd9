"""Which command of a line passed and which failed: by its exit code, or by what was printed where that is another's."""

from __future__ import annotations

import pytest

from hardwon.failures.ended import ends
from hardwon.model.session import Outcome

GREEN = " 41 pass\n 0 fail\n 96 expect() calls\nRan 41 tests across 4 files."
RED = " 40 pass\n 1 fail\n 96 expect() calls\nRan 41 tests across 4 files."
FINDING = "src/tide.go:12:4: possible misuse of low.Pointer"


def colours(line: str, printed: str, outcome: Outcome = "ok", *, by_words: bool = False) -> list[str]:
    return [colour for _, colour in ends(line, printed, outcome, by_words=by_words)]


@pytest.mark.parametrize(
    ("line", "printed", "ended"),
    [
        ("bun run test && bun run lint", f'{GREEN}\nerror: script "lint" exited with code 1', ["green", "red"]),
        ("bun run test && bun run lint", RED, ["red", ""]),
        ("go test ./reef && node -e 'x'", "ok  \treef/tide\t0.09s\nSyntaxError: x", ["green", "red"]),
        ("npm ci && npm run lint && npm test", "1 failed, 3 passed", ["green", "green", "red"]),
        ("npm run build && npm test", "npm ERR! Missing script: test", ["", ""]),
        ("git add a && git commit -m b", "the path is ignored", ["", ""]),
        ("make tide && make reef", "make: *** [x] Error 2", ["", ""]),
        ("pytest && echo fine", "3 passed, 1 error", ["red", ""]),
        ("chmod +x t.sh && make test", "make: *** [test] Error 1", ["green", "red"]),
        ("chmod +x t.sh && make test", "chmod: t.sh: No such file or directory", ["red", ""]),
        ("pytest", "3 passed in 0.1s\nthe coverage is too low", ["red"]),
        ("cd reef && bun run test", "bash: cd: reef: No such file or directory", [""]),
        ("pytest -q", "ERROR tests/a.py\n====== 2 errors in 0.31s ======", ["red"]),
    ],
)
def test_of_a_chain_that_failed_the_link_that_did_is_the_one_that_does_not_say_it_passed(
    line: str, printed: str, ended: list[str]
) -> None:
    assert colours(line, printed, "error") == ended


@pytest.mark.parametrize(
    ("line", "printed", "ended"),
    [
        ("go vet ./... 2>&1 | tail -80", FINDING, ["red"]),
        ("go vet ./... 2>&1 | tail -80", "", ["green"]),
        ("go vet ./... | grep -v Pointer", "", [""]),
        ("go vet ./...; echo done", f"{FINDING}\ndone", ["red", "green"]),
        ("go vet ./... 2>/dev/null | tail", "", [""]),
        ("npx markdownlint-cli2 a.md 2>&1 | tail -5", "a.md:3:81 MD013/line-length Line length", ["red"]),
        ("npx markdownlint-cli2 a.md 2>&1 | tail -5", "Summary: 0 error(s)", ["green"]),
        ("npx eslint src | tail", "/reef/a.js\n  3:1  warning  Unexpected console statement", ["green"]),
        ("npx eslint src | tail", "/reef/a.js\n  3:1  error  Unexpected console statement", ["red"]),
        ("ruff check --exit-zero . | tail", "a.py:1:1: F401 unused", ["green"]),
        ("bun run lint 2>&1 | tail -3", "Checked 12 files in 90ms. No fixes applied.", ["green"]),
        ("bun run lint | grep -c a", "", [""]),
        ("bun run build | head -2", "one\ntwo", [""]),
        ("cd reef && pytest; git status", "clean", ["", "green"]),
        ("pytest | tail -1", "3 passed in 0.2s", ["green"]),
        ("bun test | tail -3", GREEN.partition("\n")[2], ["green"]),
        ("bun test | tail -3", RED.partition("\n")[2], ["red"]),
        ("bun test | head -3", "Task 2 failed: low\ntwo\nthree", [""]),
        ("bun run test | tail -1", "All tests passed!", ["green"]),
        ("npm install | tail -1", "added 3 packages", ["green"]),
    ],
)
def test_a_check_whose_exit_code_is_hidden_passed_only_if_it_would_have_been_seen_to_fail(
    line: str, printed: str, ended: list[str]
) -> None:
    assert colours(line, printed) == ended


def test_what_nobody_knows_is_not_passed_and_a_report_is_known() -> None:
    assert colours("dotnet build", "Restore complete (0.5s)", "unknown") == [""]
    assert colours("bun test", GREEN, "unknown") == ["green"]
