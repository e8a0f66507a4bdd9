"""Whatever happened to a file, every intact record is found and every loss is located."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from hardwon.sessions.lines import Lines

GOOD = {"type": "user", "n": 1}
NEXT = {"type": "assistant", "n": 2}


def read(tmp_path: Path, content: bytes) -> tuple[list[dict[str, object]], list[tuple[int, str]]]:
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    lines = Lines()
    records = list(lines.records(blocks(path)))
    return records, [(damage.offset, damage.reason) for damage in lines.damaged]


def blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            yield block


def line(record: object) -> bytes:
    return json.dumps(record).encode() + b"\n"


def test_a_last_line_cut_off_is_reported_at_its_offset(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, line(GOOD) + line(NEXT)[:9])
    assert records == [GOOD]
    assert damaged == [(len(line(GOOD)), "last line cut off")]


def test_a_bad_line_in_the_middle_does_not_hide_the_good_ones_after_it(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, line(GOOD) + b"}{ nonsense\n" + line(NEXT))
    assert records == [GOOD, NEXT]
    assert damaged == [(len(line(GOOD)), "not a JSON object")]


def test_nul_bytes_in_the_middle_cost_no_record(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, line(GOOD) + b"\x00" * 500 + line(NEXT) + line(GOOD))
    assert records == [GOOD, NEXT, GOOD]
    assert [reason for _, reason in damaged] == ["NUL bytes"]


def test_the_record_glued_behind_a_cut_off_one_is_found(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, line(GOOD)[:12] + line(NEXT) + line(GOOD))
    assert records == [NEXT, GOOD]
    assert [reason for _, reason in damaged] == ["a cut-off record before a whole one"]


def test_a_nested_object_of_a_cut_off_record_is_not_taken_for_a_record(tmp_path: Path) -> None:
    records, _ = read(tmp_path, b'{"type":"user","message":{"content":"x"}\n' + line(NEXT))
    assert records == [NEXT]


@pytest.mark.parametrize(
    "text", [b'{"type":"user","t":"\\ud800 lone"}\n', b'{"type":"user","t":"bad \xff\xfe bytes"}\n']
)
def test_text_that_is_not_unicode_is_mended(tmp_path: Path, text: bytes) -> None:
    records, damaged = read(tmp_path, text)
    assert records[0]["type"] == "user"
    str(records[0]["t"]).encode()  # can be stored
    assert len(damaged) == 1


def test_a_surrogate_pair_stays_the_character_it_is(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, b'{"type":"user","t":"\\ud83d\\udc20 \\\\ud800"}\n')
    assert records[0]["t"] == "\U0001f420 \\ud800"
    assert damaged == []


def test_absurd_nesting_and_numbers_are_one_damaged_line_each(tmp_path: Path) -> None:
    records, damaged = read(tmp_path, b"[" * 100_000 + b"\n" + b"9" * 100_000 + b"\n" + line(GOOD))
    assert records == [GOOD]
    assert len(damaged) == 2


class Typed(Struct):
    type: str = ""
    n: int = 0
    parts: list[Part] | str = ""
    raw: Raw = Raw(b"")


class Part(Struct):
    text: str = ""


def test_typed_records_keep_what_fits_and_drop_what_does_not(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    odd = {"type": "user", "n": "seven", "parts": [{"text": "a"}, {"text": 5}, 7], "raw": {"x": 1}}
    path.write_bytes(line(GOOD) + line(odd) + line([1, 2]) + line({"n": 3, "parts": "plain"}))
    lines = Lines()
    first, second, third = lines.typed(blocks(path), Typed)
    assert (first.type, first.n) == ("user", 1)
    assert (second.type, second.n, bytes(second.raw)) == ("user", 0, b'{"x":1}')
    assert second.parts == [Part("a"), Part()]
    assert (third.n, third.parts) == (3, "plain")
    assert [damage.reason for damage in lines.damaged] == ["not a JSON object"]


def test_a_line_of_any_length_needs_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with path.open("wb") as file:
        file.write(line(GOOD) + b'{"type":"')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' + line(NEXT))
    lines = Lines()
    assert list(lines.records(blocks(path))) == [GOOD, NEXT]
    assert [damage.offset for damage in lines.damaged] == [len(line(GOOD))]


@given(st.binary(max_size=400), st.integers(0, 3))
def test_no_bytes_raise_and_the_records_around_them_survive(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int
) -> None:
    junk = junk.replace(b"\n", b"").replace(b"\r", b"")
    parts = [line(GOOD), line(NEXT), line(GOOD)]
    parts.insert(at, junk + b"\n")
    records, _ = read(tmp_path_factory.mktemp("junk"), b"".join(parts))
    assert [record for record in records if record in (GOOD, NEXT)] == [GOOD, NEXT, GOOD]
