"""What a file is, is told from its content; what only looks similar is refused with the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon import NotASession, NotFound
from hardwon.sessions.discover import below, installed
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import _TESTS, Source, formats, peek, read
from tests.conftest import EXAMPLES, REPOSITORY, ClaudeSession, write_lines
from tests.sessions.every_format import WRITERS

LOOK_ALIKES: list[tuple[dict[str, Any], str]] = [
    ({"session_id": "x", "ts": 1764009986, "text": "/"}, "history of prompts"),
    ({"display": "hi", "project": "/srv", "timestamp": 1}, "history of prompts"),
    ({"ts": "2025-08-10T03:12:26Z", "dir": "to_tui", "kind": "app_event"}, "event log"),
    ({"type": "system", "subtype": "init", "session_id": "x"}, "SDK stream"),
    ({"type": "assistant", "session_id": "x", "message": {"role": "assistant", "content": []}}, "SDK stream"),
    ({"sessionId": "x", "projectHash": "y"}, "of an unknown format"),
    ({"type": "user", "message": {"role": "user", "parts": []}}, "of an unknown format"),
]


@pytest.mark.parametrize(("record", "reason"), LOOK_ALIKES)
def test_a_look_alike_is_refused_with_its_reason(tmp_path: Path, record: dict[str, Any], reason: str) -> None:
    path = write_lines(tmp_path / "rollout-claude-session.jsonl", [record] * 3)
    with pytest.raises(NotASession, match=reason):
        read(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n  "name": "reef",\n  "version": "1.0"\n}', "JSON document of an unknown format"),
        ("{ this is not JSON\nat all", "no JSON records"),
        ("# Notes\n\nNothing to see.", "neither JSON nor the Markdown"),
    ],
)
def test_any_other_file_is_refused_with_the_reason(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "session.json"
    path.write_text(content)
    with pytest.raises(NotASession, match=reason):
        read(path)


def test_a_format_is_recognised_under_any_name(tmp_path: Path) -> None:
    path = ClaudeSession().user("hi").write(tmp_path)
    assert read(path.rename(tmp_path / "notes.txt")).format == "claude-code"


def test_a_missing_file_an_empty_one_and_a_folder_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(NotFound, match=r"gone\.jsonl"):
        read(tmp_path / "gone.jsonl")
    with pytest.raises(NotASession, match="neither JSON"):
        read(empty)
    with pytest.raises(NotASession, match="not a regular file"):
        read(tmp_path)


def test_a_peek_reads_only_the_beginning(tmp_path: Path) -> None:
    session = ClaudeSession(cwd="/srv/work/reef")
    for _ in range(400):
        session.user("x" * 2000)
    path = session.write(tmp_path)
    found = peek(path)
    assert found is not None
    assert found.cwd == "/srv/work/reef"
    assert len(found.messages) < 200


def test_every_real_transcript_is_read_or_refused(shared: Path) -> None:
    formats: Counter[str] = Counter()
    for path in below(shared / "transcripts"):
        with suppress(NotASession):
            formats[read(path).format] += 1
    assert formats["claude-code"] >= 40
    assert formats["codex"] >= 17


def test_sessions_are_found_where_agents_keep_them_and_links_are_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "h"
    inside = ClaudeSession("a").user("hi").write(home / ".claude/projects/p")
    moved = write_lines(tmp_path / "codex/sessions/2026/10/01/rollout-a.jsonl", [{}])
    outside = ClaudeSession("b").user("hi").write(tmp_path / "elsewhere")
    os.symlink(outside, home / ".claude/projects/p/link.jsonl")
    os.symlink(home / ".claude/projects", home / ".claude/projects/p/loop")
    os.mkfifo(home / ".claude/projects/p/fifo.jsonl")
    (home / ".claude/projects/p/notes.txt").write_text("no")
    assert installed({"CODEX_HOME": str(tmp_path / "codex")}, home) == sorted([inside, moved])


@pytest.mark.skipif(sys.platform != "linux", reason="names are text on other systems")
def test_a_file_whose_name_is_no_text_holds_up_nothing(tmp_path: Path) -> None:
    whole = ClaudeSession().user("hello").write(tmp_path)
    with open(os.fsencode(tmp_path) + b"/\xff.jsonl", "wb") as file:
        file.write(whole.read_bytes())
    assert below(tmp_path) == [whole]


def test_the_format_page_tells_of_every_format() -> None:
    page = (REPOSITORY / "docs" / "formats.md").read_text()
    for entry in formats():
        assert f"| {entry.NAME} | {entry.VERSIONS} | {entry.READS} |" in page


def test_every_example_is_read() -> None:
    formats = {read(path).format for path in below(EXAMPLES)}
    assert formats == {"claude-code", "codex", "hermes"}


def test_only_the_module_of_the_files_own_format_is_loaded() -> None:
    file = next(path for path in below(EXAMPLES) if "claude-code" in path.parts)
    script = (
        "import sys; from pathlib import Path; from hardwon.sessions.reader import _TESTS, read; "
        f"read(Path({str(file)!r})); print([name for name in _TESTS if 'hardwon.sessions.' + name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['claude_code']"


@pytest.mark.parametrize("written", WRITERS)
def test_whoever_recognises_a_file_is_asked(tmp_path: Path, written: str) -> None:
    path = WRITERS[written](tmp_path, ["hello"])
    by = [name for name, entry in zip(_TESTS, formats(), strict=True) if entry.recognises(Source(path))]
    assert by
    assert all(_TESTS[name](Source(path)) for name in by)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
ENVELOPE = "type role message payload timestamp sessionId uuid parentUuid content tool_calls data id cwd".split()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(ENVELOPE), hostile, max_size=6), max_size=5))
def test_no_record_whatever_its_shape_raises(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = write_lines(tmp_path_factory.mktemp("hostile") / "s.jsonl", records)
    for entry in formats():
        entry.recognises(Source(path))
        entry.read(Source(path))


def test_unclosed_tags_by_the_thousand_take_no_time() -> None:
    text = "<system-reminder>" * 40_000 + "</system-reminder>" + "<hardwon-memory " * 40_000
    assert user_message(text).origin == "injected"
