from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.text.shown import estimate

PROSE = {
    "paragraph": (
        "Run the migrations before the tests: the fixtures need the new column, and without it "
        "every test in the billing package fails with an error that looks unrelated. When in "
        "doubt, recreate the database; it takes ten seconds."
    ),
    "lesson": (
        "Always use uv instead of pip in this project, because the lock file is the only place "
        "where versions are pinned."
    ),
}
OTHER = {
    "code": (
        "def connect(path: str, *, timeout: float = 5.0) -> sqlite3.Connection:\n"
        "    connection = sqlite3.connect(path, timeout=timeout)\n"
        '    connection.execute("PRAGMA journal_mode = WAL")\n'
        "    return connection\n"
    ),
    "log": (
        "2026-01-15T10:23:45.123Z ERROR [worker-3] request 7f3a failed after 3 retries: "
        "connection refused (127.0.0.1:5432)\n"
        "2026-01-15T10:23:46.001Z INFO  [worker-3] shutting down"
    ),
    "traceback": (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/src/billing/invoice.py", line 214, in render\n'
        "    total = sum(line.amount for line in lines)\n"
        "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"
    ),
    "paths": (
        "src/hardwon/text/tokens.py\n"
        "src/hardwon/store/migrations/0003_exposure.sql\n"
        "/home/user/.config/app/settings.local.json\n"
    ),
    "ids": (
        "550e8400-e29b-41d4-a716-446655440000 "
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
        "toolu_01BAgtiQmWAeAjphmV8RaCtk"
    ),
    "JSON": (
        '{"type": "tool_use", "id": 17, "input": {"command": "npm test -- --watch=false", '
        '"timeout": 120000}, "ok": false}'
    ),
    "table": (
        "-rw-r--r--    1 sean  staff    1202 Jan  7 12:05 51.json\n"
        "-rw-r--r--    1 sean  staff     821 Jan  7 12:05 52.json\n"
    ),
    "base64": (
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHx"
        "gljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=="
    ),
    "Chinese": ("运行测试之前先执行数据库迁移，否则计费模块的所有测试都会失败，而且错误信息看起来毫不相关。"),
    "Japanese": (
        "テストを実行する前にマイグレーションを実行してください。"
        "そうしないと、請求パッケージのテストがすべて失敗します。"
    ),
    "Korean": (
        "테스트를 실행하기 전에 마이그레이션을 먼저 실행하세요. 그렇지 않으면 결제 패키지의 모든 테스트가 실패합니다."
    ),
    "Russian": (
        "Перед запуском тестов выполните миграции: без нового столбца все тесты пакета "
        "биллинга падают с ошибкой, которая кажется посторонней."
    ),
    "emoji": "🚀 Deployed 🎉🎉 ✅ tests 👩‍💻 ⚠️ flaky 🔥🤔",
}

# Counted with the real cl100k and o200k tokenizers, the larger of the two.
EXACT = {
    "paragraph": 44,
    "lesson": 23,
    "code": 48,
    "log": 71,
    "traceback": 57,
    "paths": 32,
    "ids": 81,
    "JSON": 39,
    "table": 55,
    "base64": 67,
    "Chinese": 39,
    "Japanese": 53,
    "Korean": 48,
    "Russian": 58,
    "emoji": 31,
}

any_text = st.text(st.characters(exclude_categories=()))
crowded_text = st.text("aaaaB1 \t.\n\ré中д🚀", max_size=40)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize("kind", PROSE)
def test_prose_is_estimated_a_little_too_high(kind: str) -> None:
    assert 1.15 <= estimate(PROSE[kind]) / EXACT[kind] <= 1.35


@pytest.mark.parametrize("kind", OTHER)
def test_no_kind_of_text_costs_more_than_estimated(kind: str) -> None:
    assert 1.0 <= estimate(OTHER[kind]) / EXACT[kind] <= 1.75


@given(st.lists(any_text | crowded_text))
def test_joined_lines_never_cost_more_than_each_line_and_its_break(lines: list[str]) -> None:
    assert estimate("\n".join(lines)) <= sum(estimate(line) + 1 for line in lines)


@given(any_text | crowded_text, any_text | crowded_text)
def test_a_text_costs_at_least_as_much_as_any_part_of_it(a: str, b: str) -> None:
    assert estimate(a + b) >= max(estimate(a), estimate(b))


@given(any_text | crowded_text, any_text | crowded_text)
def test_gluing_two_texts_together_adds_two_tokens_at_the_most(a: str, b: str) -> None:
    assert estimate(a + b) <= estimate(a) + estimate(b) + 2


@given(any_text.filter(bool) | crowded_text.filter(bool))
def test_every_text_costs_something(text: str) -> None:
    assert estimate(text) >= 1


def test_importing_it_brings_in_nothing_but_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules); import hardwon.text.shown\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before}"
        " - sys.stdlib_module_names)"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["hardwon"]


_PIECES = re.compile(
    r"[a-z](?:(?<![a-z].)[a-z]{0,5}|[a-z]{0,3})|[A-Z][a-z]{1,3}|[A-Z]{1,2}|[0-9]{1,2}|[!-/:-@\[-`{-~]{1,2}|\r?\n"
    r"|[ \t]{1,16}(?=[ \t])|[ \t](?![!-/:-~])|[\x00-\x08\x0b-\x1f\x7f]|[\u0400-\u04ff]{1,2}|[^\x00-\x7f]"
)
_OPAQUE = re.compile(r"[0-9](?<=[A-Za-z].)|[A-Z](?<=[a-z].)(?=[a-z]?[A-Z0-9])")


@given(st.text(st.sampled_from("abzAZ09 \t\n\r.,_-/(Жя\x00\x7f")))
def test_counting_bytes_finds_as_many_tokens_as_the_pattern_that_says_what_one_is(text: str) -> None:
    assert estimate(text) == len(_PIECES.findall(text)) + len(_OPAQUE.findall(text))
