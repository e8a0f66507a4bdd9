from __future__ import annotations

import re
import subprocess
import sys
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.text.words import around, as_typed, overlap, terms, unique_terms
from tests.timing import assert_quick

any_text = st.text(st.characters(exclude_categories=()))


def test_words_are_stemmed_and_stop_words_left_out() -> None:
    assert terms("The connections were connected while running the tests") == [
        "connect",
        "connect",
        "run",
        "test",
    ]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("falling", "fall"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("digitizer", "digit"),
        ("electrical", "electr"),
        ("adoption", "adopt"),
        ("replacement", "replac"),
        ("probate", "probat"),
        ("controlling", "control"),
        ("generalizations", "gener"),
        ("yes", "ye"),
    ],
)
def test_stems_are_those_of_porters_paper(word: str, stem: str) -> None:
    assert terms(word) == [stem]


def test_names_of_two_letters_are_not_plurals() -> None:
    assert terms("ls js fs") == ["ls", "js", "fs"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
        ("src\\app\\main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
        ("./run.sh", ["run.sh", "run", "sh"]),
        ("~/.bashrc", [".bashrc", "bashrc"]),
        ("--no-verify", ["--no-verify", "no", "verifi"]),
        ("-rf", ["-rf", "rf"]),
        ("TS2307", ["ts2307", "ts", "2307"]),
        ("E0308", ["e0308"]),
        ("ModuleNotFoundError", ["modulenotfounderror", "modul", "not", "found", "error"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("camelCaseName", ["camelcasename", "camelcasenam", "camel", "case", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("APIs", ["api"]),
        ("@scope/pkg", ["@scope/pkg", "@scope", "scope", "pkg"]),
        ("python3.11", ["python3.11", "python3", "python", "3", "11"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("1.2.3", ["1.2.3", "1", "2", "3"]),
        ("__init__.py", ["__init__.py", "__init__", "init", "py"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
    ],
)
def test_names_of_code_are_kept_whole_and_split(name: str, expected: list[str]) -> None:
    assert terms(name) == expected
    assert terms(f"use `{name}`, then") == ["us", *expected]


def test_stop_words_inside_a_name_are_kept() -> None:
    assert terms("is_not_in the --no-as-needed") == [
        "is_not_in",
        "is",
        "not",
        "in",
        "--no-as-needed",
        "no",
        "as",
        "need",
    ]


def test_a_line_number_is_no_part_of_the_path() -> None:
    assert "src/app/main.py" in terms("src/app/main.py:42:7")
    assert "tests/test_app.py" in terms("FAILED tests/test_app.py::test_start")


def test_a_sentence_leaves_no_marks_on_its_words() -> None:
    assert terms('"Stop!" (he said) -- wait... really?') == ["stop", "said", "wait", "realli"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("café", "cafe\u0301"),
        ("naïve", "NAIVE"),
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("ＡＢＣ", "abc"),
        ("Ёлка", "елка"),
        ("co\u00adoperate", "cooperate"),
        ("don't", "do not"),
        ("won’t", "will not"),
    ],
)
def test_two_spellings_of_one_word_match(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_a_camel_name_is_found_by_its_plain_spelling() -> None:
    assert set(terms("numpy sqlalchemy github")) <= set(terms("NumPy SQLAlchemy GitHub"))


def test_a_negation_is_never_a_stop_word() -> None:
    assert terms("don't no not never without") == ["not", "no", "not", "never", "without"]


def test_scripts_without_spaces_give_overlapping_pairs() -> None:
    assert terms("数据库") == ["数据", "据库"]
    assert terms("エラー") == ["エラ", "ラー"]
    assert terms("데이터") == ["데이", "이터"]
    assert terms("字") == ["字"]
    assert terms("使用python编译，失败") == ["使用", "python", "编译", "失败"]


def test_a_dakuten_is_no_accent() -> None:
    assert terms("が") != terms("か")


def test_unique_terms_keep_the_order_of_first_occurrence() -> None:
    assert unique_terms("test the tests, run a test run") == ["test", "run"]


def test_overlap_is_the_share_of_common_terms() -> None:
    assert overlap("run the tests", "running a test") == 1.0
    assert overlap("run tests", "run linters") == pytest.approx(1 / 3)
    assert overlap("run", "walk") == 0.0
    assert overlap("", "the") == 0.0


@given(any_text)
def test_a_term_is_safe_to_quote(text: str) -> None:
    for term in terms(text):
        assert term
        assert not re.search(r'[\s"\0]', term)


@given(st.text(max_size=60))
def test_unicode_forms_never_matter(text: str) -> None:
    assert terms(normalize("NFD", text)) == terms(normalize("NFC", text))


@given(any_text, any_text)
def test_terms_of_two_lines_are_those_of_each(a: str, b: str) -> None:
    assert terms(f"{a}\n{b}") == terms(a) + terms(b)


@given(any_text, any_text)
def test_overlap_is_symmetric_and_between_nothing_and_all(a: str, b: str) -> None:
    assert 0.0 <= overlap(a, b) == overlap(b, a) <= 1.0
    assert overlap(a, a) == (1.0 if terms(a) else 0.0)


HARD_TO_READ = ["a", "_", "-", "aB", "a1", "a/", "a\\", ".a", "n'", "@a ", "Zm9v+/", "字"]
UNORDERED_MARKS = ["\u0300\u0316", "\u05b0\u064b\u0e38"]


@pytest.mark.parametrize("piece", HARD_TO_READ + UNORDERED_MARKS)
def test_a_megabyte_takes_about_a_second(piece: str) -> None:
    text = piece * (1_000_000 // len(piece.encode()))
    assert_quick(lambda: terms(text), 1)


def test_a_run_without_spaces_is_never_one_huge_term() -> None:
    assert max(map(len, terms("a" * 100_000 + " " + "a/" * 100_000))) < 2_200


def test_importing_it_brings_in_nothing_but_a_little_of_the_standard_library() -> None:
    program = (
        "import sys; import re; before = set(sys.modules); import hardwon.text.words\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    allowed = {"hardwon", "collections", "functools", "itertools", "_blake2", "__future__"}
    assert set(run.stdout.split()) <= allowed


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("od -c", "cat x | od -c | head", True),
        ("od -c", "od -A x -c y", True),
        ("od -c", "git -C ../chitin status", False),
        ("od -c", "od -C x", False),
        ("od -c", "od x; git -c", False),
        ("OD -c", "od -c", True),
        ("git commit --amend", "git commit -m x --amend", True),
        ("git commit --amend", "git push --amend", False),
        ("--no-verify", "git commit --no-verify", True),
        ("--no-verify", "git commit --no-verify-ssl", False),
        ("command", "Commands are told", True),
        ("command", "the commander", False),
    ],
)
def test_a_program_with_its_options_is_found_as_it_was_typed(query: str, text: str, found: bool) -> None:
    typed = as_typed(query)
    assert typed
    assert (typed.search(text) is not None) == found


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("测试", "帮我编写测试案例", True),
        ("测试案例", "帮我编写测试案例吗", True),
        ("测试", "试测", False),
        ("テスト", "単体テストを書く", True),
        ("테스트", "테스트를 실행", True),
        ("ทดสอบ", "เขียนการทดสอบใหม่", True),
        ("splitter", "为splitter组件编写测试", True),
        ("splitter", "为splitters组件", True),
        ("split", "为splitter组件", False),
        ("od -c", "请运行od -c看看", True),
        ("--no-verify", "不要用--no-verify提交", True),
        ("caf", "au café", False),
        ("кот", "скот", False),
        ("кот", "(кот)", True),
    ],
)
def test_a_word_is_found_right_beside_others_where_scripts_have_no_spaces(query: str, text: str, found: bool) -> None:
    typed = as_typed(query)
    assert typed
    assert (typed.search(text) is not None) == found


@pytest.mark.parametrize("query", ["如何修复测试错误", "プロジェクトの設定を変更する方法", "为tide组件编写测试"])
def test_a_sentence_without_spaces_is_not_looked_for_as_it_was_typed(query: str) -> None:
    assert as_typed(query) is None


def test_a_sentence_is_not_looked_for_as_it_was_typed() -> None:
    for query in ("how do I run the tests", "", "when is od used with -c"):
        assert as_typed(query) is None


@given(st.text(alphabet="ab -/\n.", max_size=200), st.text(alphabet="ab -/.", max_size=12), st.integers(12, 60))
def test_what_is_around_the_words_is_a_part_of_the_line(line: str, query: str, room: int) -> None:
    shown = around(line, query, room)
    assert shown == line or line.endswith(shown.removeprefix("… "))
