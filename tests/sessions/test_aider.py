"""Aider's one file of many sessions: two spaces tell who spoke, Aider's own words what was done."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions import aider
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.reader import Source

START = "\n# aider chat started at 2026-10-01 10:00:00\n\n"
BANNER = "> Aider v0.51.2-dev  \n> Git repo: .git with 300 files  \n> Repo-map: using 1024 tokens  \n"
TOKENS = "> Tokens: 26,200 sent, 680 received. Cost: $0.09 request, $0.12 session.  \n"
CHANGE = "src/tide.py\n```python\n<<<<<<< SEARCH\nhigh = 1\n=======\nhigh = 2\n>>>>>>> REPLACE\n```\n"


def sessions(tmp_path: Path, text: str) -> list[Session]:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(text)
    assert aider.recognises(Source(path))
    return aider.read(Source(path))


def chat(tmp_path: Path, text: str) -> Session:
    (session,) = sessions(tmp_path, START + BANNER + text)
    return session


def said(session: Session) -> list[tuple[str, str, str]]:
    return [(message.role, message.origin, message.text) for message in session.messages]


def test_every_start_is_a_session_of_the_folder_the_file_lies_in(tmp_path: Path) -> None:
    lost = "> Applied edit to a.py  \n"
    found = sessions(tmp_path, lost + START + BANNER + START + "\n#### hi  \n" + START.replace(":00\n", ":09\n"))
    ids = ["2026-10-01T10:00:00", "2026-10-01T10:00:00-2", "2026-10-01T10:00:09"]
    assert [session.external_id for session in found] == ids
    assert {session.cwd for session in found} == {str(tmp_path)}
    assert [len(session.messages) for session in found] == [0, 1, 0]
    assert found[0].version == "0.51.2-dev"
    assert found[0].started_at == 1_790_848_800_000_000


def test_neighbouring_lines_of_the_user_are_one_message(tmp_path: Path) -> None:
    session = chat(tmp_path, "\n#### use the spinner  \n####   \n#### not the old one  \n\nDone.\n\n" + TOKENS)
    assert said(session) == [("user", "user", "use the spinner\n\nnot the old one"), ("assistant", "agent", "Done.")]


def test_headings_and_quotations_of_the_model_stay_its_text(tmp_path: Path) -> None:
    text = "# Plan\n\n#### `Coder` Class\n\n> as you said\n\nand\n> quoted  \n\n# aider chat started at noon\n\nEnd."
    session = chat(tmp_path, f"\n#### explain  \n\n{text}\n\n{TOKENS}")
    assert said(session)[1:] == [("assistant", "agent", text)]


def test_an_applied_edit_and_its_commit_are_calls_of_the_model(tmp_path: Path) -> None:
    news = "> Applied edit to src/tide.py  \n> Commit 216f039 fix: the tide  \n> You can use /undo to undo.  \n"
    session = chat(tmp_path, f"\n#### fix it  \n\nSure.\n\n{CHANGE}\n{TOKENS}{news}")
    edit, commit = session.messages[1].calls
    assert (edit.action, edit.target, edit.detail) == ("edit", "src/tide.py", "high = 2")
    assert (commit.name, commit.target) == ("commit", "216f039")
    assert [(result.outcome, result.evidence) for result in session.results()] == [("ok", "text")] * 2
    assert session.results()[1].text == "Commit 216f039 fix: the tide"


UNMATCHED = (
    "> The LLM did not conform to the edit format.  \n> https://aider.chat/docs/edit-errors.html  \n"
    "> # 1 SEARCH/REPLACE block failed to match!  \n>   \n"
    "> ## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in src/tide.py  \n"
    "> <<<<<<< SEARCH  \n> high = 1  \n"
)
FAILED_EDITS = [
    UNMATCHED,
    "> # 2 SEARCH/REPLACE blocks failed to match!  \n> This SEARCH block failed to match lines in src/tide.py  \n",
]


@pytest.mark.parametrize("news", FAILED_EDITS)
def test_an_edit_that_did_not_match_is_an_error_of_its_file(tmp_path: Path, news: str) -> None:
    session = chat(tmp_path, f"\n#### fix it  \n\n{CHANGE}\n{TOKENS}{news}\nI apologize.\n\n{CHANGE}\n{TOKENS}")
    (result,) = session.results()
    (call,) = session.messages[1].calls
    assert (call.action, call.target, result.outcome, result.evidence) == ("edit", "src/tide.py", "error", "text")
    assert result.text.startswith(news[2:30])
    assert session.messages[3].text.startswith("I apologize.")


def test_giving_up_and_a_refused_file_are_errors_too(tmp_path: Path) -> None:
    session = chat(
        tmp_path,
        f"\n#### go  \n\n{CHANGE}\n{TOKENS}> Only 3 reflections allowed, stopping.  \n"
        f"\n#### again  \n\n{CHANGE}\n{TOKENS}> Create new file? [Y/n] n  \n> Skipping edits to src/tide.py  \n",
    )
    assert [(result.outcome, result.evidence) for result in session.results()] == [
        ("error", "text"),
        ("error", "rejected"),
    ]


def test_lint_errors_are_the_failed_run_of_the_linter(tmp_path: Path) -> None:
    lint = (
        "> # Fix any errors below, if possible.  \n>  \n> ## Running: ./lint.sh src/tide.py  \n>  \n"
        "> src/tide.py:1:1: F401 'os' imported but unused  \n> Attempt to fix lint errors? y  \n"
    )
    session = chat(tmp_path, f"\n#### go  \n\n{CHANGE}\n{TOKENS}> Applied edit to src/tide.py  \n{lint}\nFixed.\n")
    _, call = session.messages[1].calls
    _, result = session.results()
    assert (call.action, call.command, result.outcome) == ("run", "./lint.sh src/tide.py", "error")
    assert result.text == "src/tide.py:1:1: F401 'os' imported but unused"


SHELL = [
    ("> make  \n> Run shell command? [Y/n] y  \n> Running make  \n", "unknown", "none", None),
    (
        "> make  \n> Run shell command? [Y/n] y  \n> Running make  \n> Command 'make' exited with status 2  \n",
        "error",
        "exit-code",
        2,
    ),
    ("> make  \n> Run shell command? [Y/n] n  \n", "error", "rejected", None),
]


@pytest.mark.parametrize(("news", "outcome", "evidence", "code"), SHELL)
def test_a_suggested_command_is_run_or_refused(
    tmp_path: Path, news: str, outcome: str, evidence: str, code: int | None
) -> None:
    session = chat(tmp_path, f"\n#### build it  \n\nRun make.\n\n{TOKENS}{news}")
    (call,) = session.messages[1].calls
    (result,) = session.results()
    assert (call.action, call.command) == ("run", "make")
    assert (result.outcome, result.evidence, result.exit_code) == (outcome, evidence, code)


OUTPUT = (
    "collected 7 items\n\n    def test_low(self):\n    \n>       assert low\nE       AssertionError\n\n1 failed in 3s"
)


def test_output_of_many_lines_ends_at_its_two_spaces(tmp_path: Path) -> None:
    asked = "> Add the output to the chat?\n(y/n/instructions) fix cmd_add  \n"
    again = "".join(f"> {line.strip()}  \n" for line in OUTPUT.splitlines())
    session = chat(tmp_path, f"\n#### /run pytest -k low  \n> {OUTPUT}  \n{asked}{again}\nThe test fails.\n\n{TOKENS}")
    call, result = session.messages[0].calls[0], session.results()[0]
    assert (call.action, call.command, result.text) == ("run", "pytest -k low", OUTPUT)
    assert (result.outcome, result.evidence) == ("unknown", "none")
    assert said(session)[2:] == [("user", "user", "fix cmd_add"), ("assistant", "agent", "The test fails.")]


@pytest.mark.parametrize("command", ["!ls", "/run ls", "/git log"])
def test_the_users_commands_are_calls(tmp_path: Path, command: str) -> None:
    session = chat(tmp_path, f"\n#### {command}  \n> a\nb  \n> Add the output to the chat? (y/n/instructions): n  \n")
    assert [call.command for call in session.messages[0].calls] == [{"/git log": "git log"}.get(command, "ls")]
    assert session.results()[0].text == "a\nb"
    assert session.user_messages == 1


def test_tests_failed_if_their_output_is_shown_again(tmp_path: Path) -> None:
    again = "".join(f"> {line.strip()}  \n" for line in OUTPUT.splitlines())
    failed = chat(tmp_path, f"\n#### /test pytest  \n> {OUTPUT}  \n{again}\nI see.\n")
    passed = chat(tmp_path, "\n#### /test pytest  \n> collected 7 items\n\n7 passed in 3s  \n")
    assert [(result.outcome, result.text) for result in failed.results()] == [("error", OUTPUT)]
    assert [result.outcome for result in passed.results()] == ["ok"]


def test_a_question_put_by_a_command_is_said_once(tmp_path: Path) -> None:
    session = chat(tmp_path, "\n#### /ask what is this?  \n\n#### what is this?  \n\nA test.\n\n" + TOKENS)
    assert [text for _, origin, text in said(session) if origin == "user"] == ["what is this?"]


def test_commands_and_reflected_errors_are_not_the_users_words(tmp_path: Path) -> None:
    asked = ("/add a.py", "<blank>", "/ex", "# Fix any errors below, if possible.", "# Question: hi", "/undo", "thanks")
    session = chat(tmp_path, "".join(f"\n#### {line}  \n" for line in asked))
    assert [text for _, origin, text in said(session) if origin == "user"] == ["/undo", "thanks"]


def test_a_stopped_answer_is_an_interruption_and_leaving_is_not(tmp_path: Path) -> None:
    stop = ">  \n>  \n> ^C again to exit  \n"
    stopped = chat(tmp_path, f"\n#### go on  \n\nFirst I wi\n\n{stop}\n#### no  \n\nOk.\n\n{TOKENS}{stop}")
    assert [text for _, _, text in said(stopped)] == ["go on", "First I wi", INTERRUPTED, "no", "Ok."]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# aider chat started at noon\n\n",
        "See `# aider chat started at 2026-10-01 10:00:00`\n",
        "  # aider chat started at 2026-10-01 10:00:00\n\n",
        '{"text": "\n\n# aider chat started at 2026-10-01 10:00:00\n\n"}',
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n" + START,
        "\x00\xff",
    ],
)
def test_what_only_mentions_a_start_is_not_a_history(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.md"
    path.write_text(text, encoding="latin-1")
    assert not aider.recognises(Source(path))


PIECES = [
    *("\n", "  \n", "\r\n", "> ", ">", "#### ", "text", "```\n", "/run x", "/test y", "/ask ", "!", "y", "\ufffd"),
    *("<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "> Add the output to the chat?", "> Skipping edits to "),
    *(START, BANNER, TOKENS, CHANGE, OUTPUT, *FAILED_EDITS, *(news for news, *_ in SHELL)),
    "> # Fix any errors below, if possible.  \n",
]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=30))
def test_nothing_that_a_file_holds_can_raise(tmp_path: Path, pieces: list[str]) -> None:
    path = tmp_path / "hostile.md"
    path.write_bytes(START.encode() + "".join(pieces).encode("utf-8", "replace"))
    aider.recognises(Source(path))
    for session in aider.read(Source(path)):
        ids = [call.id for message in session.messages for call in message.calls]
        assert len(ids) == len(set(ids))
        assert {result.call_id for result in session.results()} <= set(ids)


def test_the_real_history_is_read_whole(shared: Path) -> None:
    path = shared / "transcripts/aider/Aider-AI__aider/tests/fixtures/chat-history.md"
    assert aider.recognises(Source(path))
    found = aider.read(Source(path))
    assert len({session.external_id for session in found}) == len(found) == 1133
    assert sum(len(session.messages) for session in found) == 3353
    assert sum(session.user_messages for session in found) == 1021
    outcomes: Counter[tuple[str, str, str]] = Counter()
    for session in found:
        names = {call.id: call.name for message in session.messages for call in message.calls}
        outcomes.update((names[result.call_id], result.outcome, result.evidence) for result in session.results())
    assert outcomes == {
        ("edit", "ok", "text"): 413,
        ("edit", "error", "text"): 60,
        ("edit", "error", "rejected"): 4,
        ("commit", "ok", "text"): 667,
        ("lint", "error", "text"): 54,
        ("test", "error", "text"): 11,
        ("test", "ok", "no-flag"): 1,
        ("run", "unknown", "none"): 26,
        ("git", "unknown", "none"): 1,
        ("shell", "unknown", "none"): 13,
        ("shell", "error", "exit-code"): 3,
        ("shell", "error", "rejected"): 9,
    }
