"""Looking at the bytes of a store takes nothing from those who have it open."""

from __future__ import annotations

from pathlib import Path

from hardwon import Hardwon
from hardwon.store import sqlite
from tests.forked import COMMANDS

ANOTHER = "from hardwon import Hardwon\nwith Hardwon() as memory: memory.store.make_token('afar', ['read'])"


def test_the_bytes_are_those_of_the_file(home: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"abcdefg")
    assert list(sqlite.file_pieces(plain, 3)) == [b"abc", b"def", b"g"]
    with Hardwon() as memory:
        memory.harvest([])
        for path in home.glob("hardwon.db*"):
            assert b"".join(sqlite.file_pieces(path, 1000)) == path.read_bytes()


def test_another_process_does_not_take_a_store_to_be_unused_whose_bytes_were_looked_at(home: Path) -> None:
    """It would delete the journal that this process goes on to write to, and each would miss what the other wrote."""
    with Hardwon() as writer, Hardwon() as reader:
        writer.store.make_token("here", ["read"])
        for known in range(2, 5):
            assert len(reader.store.tokens()) == known - 1
            for path in sorted(home.glob("hardwon.db*")):
                list(sqlite.file_pieces(path, 4096))
            assert COMMANDS.run(program=ANOTHER).returncode == 0
            assert len(reader.store.tokens()) == known
        writer.store.make_token("here again", ["read"])
    with Hardwon() as memory:
        assert [token.name for token in memory.store.tokens()].count("afar") == 3
        assert len(memory.store.tokens()) == 5
