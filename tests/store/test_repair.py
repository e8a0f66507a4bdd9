"""`hardwon doctor --fix`: what can be kept is kept, what cannot is put aside, and the damaged file stays."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import apsw
import pytest

from hardwon import Check, Hardwon, HardwonError, StoreCorrupt
from hardwon.store import check, lifecycle, repair
from hardwon.store.lessons import Cited
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, Run
from tests.store.old_stores import FIXTURES, put
from tests.store.test_lifecycle import make, row

FLIPS = int(os.environ.get("BIT_FLIPS", "30"))
PAGE = 4096


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store of the examples, with a person's lesson."""
    home = tmp_path_factory.mktemp("healthy")
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.json*")))
        with memory.writing().transaction():
            told = Cited("", "notes of Monday", 0, "notes", 5, "never on Fridays", "reviewer")
            lifecycle.create(memory.writing(), row("Never deploy on Fridays.", "active"), [told], actor="ada")
        path = Path(memory.store.backup().file)
    return path.read_bytes()


@pytest.fixture
def live(home: Path, healthy: bytes) -> Path:
    home.mkdir()
    (home / "hardwon.db").write_bytes(healthy)
    home.chmod(0o700)
    (home / "hardwon.db").chmod(0o600)
    return home / "hardwon.db"


def checks(path: Path) -> list[Check]:
    try:
        db = SqliteDatabase(path)
    except HardwonError as error:
        return [Check("open", False, str(error))]
    try:
        return check.store(db)
    finally:
        db.close()


def bad(path: Path) -> list[str]:
    return [one.name for one in checks(path) if not one.ok]


def tamper(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def quarantined(done: repair.Repaired) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(done.quarantine).read_text().splitlines()] if done.quarantine else []


def test_a_damaged_lesson_is_put_aside_word_for_word_and_its_transcript_is_read_again(home: Path, live: Path) -> None:
    db = SqliteDatabase(live)
    ((id, text),) = db.query("SELECT id, text FROM lesson WHERE kept = 0 ORDER BY id LIMIT 1")
    db.close()
    tamper(live, f"UPDATE lesson SET text = 'forged' WHERE id = '{id}'")
    assert bad(live) == ["tables", "search", "rows"]
    done = repair.repair(live)
    assert bad(live) == []
    assert [line["row"]["text"] for line in quarantined(done) if line["table"] == "lesson"] == ["forged"]
    assert bad(Path(done.damaged)) == ["tables", "search", "rows"]
    with Hardwon(home) as memory:
        assert id not in {lesson.id for lesson in memory.lessons.list()}
        memory.harvest(sorted(EXAMPLES.rglob("*.json*")))
        assert memory.lessons.get(id).lesson.text == text
        assert all(one.ok for one in memory.store.check())


def test_a_damaged_session_is_read_again(home: Path, live: Path) -> None:
    before = SqliteDatabase(live)
    sessions = before.query("SELECT id, content_hash FROM session ORDER BY id")
    before.close()
    tamper(live, f"UPDATE call SET subject = 'forged' WHERE session = '{sessions[0][0]}'")
    done = repair.repair(live)
    assert bad(live) == []
    assert {line["table"] for line in quarantined(done)} >= {"session", "call"}
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.json*")))
        assert memory.reading().query("SELECT id, content_hash FROM session ORDER BY id") == sessions
        assert all(one.ok for one in memory.store.check())


@pytest.mark.parametrize(
    ("sql", "table", "name"),
    [
        ("UPDATE event SET actor = 'mallory' WHERE number = 2", "event", "audit"),
        ("DELETE FROM event WHERE number = 2", "event", "audit"),
        ("UPDATE event SET number = 1099511627776 WHERE number = 2", "event", "audit"),
        ("UPDATE event SET chain = '' WHERE number = 1", "event", "audit"),
        (
            "UPDATE occurrence SET source = 'S0123456789abcdef' WHERE source = (SELECT min(source) FROM occurrence)",
            "occurrence",
            "orphans",
        ),
        ("DELETE FROM failure WHERE id IN (SELECT failure FROM fix)", "occurrence", "references"),
        ("UPDATE failure SET occurrences = 77", "", "counts"),
        ("DELETE FROM search_item", "", "search"),
        ("DELETE FROM search_index", "", "index"),
        ("UPDATE project SET id = 'P-' || substr(id, 3)", "", "references"),
        ("UPDATE standing SET text = 'forged'", "", "tables"),
        ("DELETE FROM meta", "", "tables"),
    ],
)
def test_each_kind_of_damage_is_found_and_mended(live: Path, sql: str, table: str, name: str) -> None:
    lessons = len(SqliteDatabase(live).query("SELECT id FROM lesson"))
    tamper(live, sql)
    assert name in bad(live)
    done = repair.repair(live)
    assert bad(live) == []
    assert {line["table"] for line in quarantined(done)} >= ({table} if table else set())
    db = SqliteDatabase(live)
    assert len(db.query("SELECT id FROM lesson")) == lessons
    assert db.query("SELECT text FROM lesson WHERE trust = 'human' AND rule = ''") == [("Never deploy on Fridays.",)]
    db.close()


def test_a_row_that_is_no_text_any_more_is_put_aside(live: Path) -> None:
    tamper(live, "UPDATE lesson SET text = CAST(x'ff41' AS TEXT) WHERE rule = ''")
    assert bad(live) != []
    done = repair.repair(live)
    assert bad(live) == []
    (line,) = [line for line in quarantined(done) if line["table"] == "lesson"]
    assert line["row"]["text"] == "\ufffdA"


def test_pages_full_of_rubbish_cost_the_rows_on_them_and_no_others(live: Path) -> None:
    db = SqliteDatabase(live, write=True)
    with db.transaction():
        for number in range(300):
            db.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (f"note{number}", "x" * 300))
    for number in range(30):
        make(db, f"Lesson {number} stays.")
    db.close()
    raw = bytearray(live.read_bytes())
    page = raw.index(b"note150") // PAGE
    raw[page * PAGE : (page + 1) * PAGE] = random.Random(1).randbytes(PAGE)
    live.write_bytes(raw)
    assert "integrity" in bad(live)
    done = repair.repair(live)
    assert bad(live) == []
    assert any("with gaps" in step for step in done.done)
    db = SqliteDatabase(live)
    assert 250 < db.query("SELECT count(*) FROM meta WHERE key LIKE 'note%'")[0][0] < 300
    assert db.query("SELECT count(*) FROM lesson WHERE text LIKE '%stays.'") == [(30,)]
    db.close()


def test_an_old_store_is_repaired_and_brought_up_to_date(home: Path) -> None:
    live = put(FIXTURES[0], home)
    count = apsw.Connection(str(live)).execute("SELECT count(*) FROM lesson").get
    tamper(live, "DELETE FROM search_item")
    repair.repair(live)
    assert bad(live) == []
    assert SqliteDatabase(live).query("SELECT count(*) FROM lesson") == [(count,)]


def test_where_nothing_can_be_read_the_file_stays_as_it_was(live: Path) -> None:
    live.write_bytes(b"ruined" * 2000)
    with pytest.raises(StoreCorrupt, match="hardwon restore"):
        repair.repair(live)
    assert live.read_bytes() == b"ruined" * 2000
    assert sorted(path.name for path in live.parent.iterdir()) == ["hardwon.db"]


def test_the_command_says_what_it_did_and_where_everything_is(hardwon: Run, home: Path, live: Path) -> None:
    assert "Nothing to repair." in hardwon("doctor", "--fix").stdout
    tamper(live, "UPDATE lesson SET text = 'forged' WHERE rule = ''")
    done = hardwon("doctor", "--fix")
    assert (done.returncode, done.stderr) == (0, "")
    assert "took out 1 lessons that were not what was written" in done.stdout
    assert "hardwon.damaged-" in done.stdout
    assert "hardwon.quarantine-" in done.stdout
    tamper(live, "UPDATE failure SET occurrences = 77")
    found = json.loads(hardwon("doctor", "--fix", "--json").stdout)
    assert (found["healthy"], found["repaired"]["rows"]) == (True, 0)


def dump(path: Path) -> dict[str, Any]:
    """Every row that can be read; in the index, letters differ only by more than their case."""
    found: dict[str, Any] = {}
    connection = apsw.Connection(str(path))
    try:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search_index*'"
        )
        for (name,) in names.fetchall():
            found[str(name)] = connection.execute(f"SELECT * FROM {name}").fetchall()
        terms = connection.execute("SELECT rowid, terms FROM search_index").fetchall()
        found["terms"] = [(row, str(words).casefold()) for row, words in terms]
    except (apsw.Error, UnicodeDecodeError) as error:
        found["unreadable"] = repr(error)
    finally:
        connection.close()
    return found


def test_flipped_bits_that_matter_are_noticed_and_mended(home: Path, healthy: bytes) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    live.write_bytes(healthy)
    whole = dump(live)
    chance = random.Random(7)
    matter = noticed = 0
    for _ in range(FLIPS):
        for path in home.iterdir():
            path.unlink()
        bit = chance.randrange(len(healthy) * 8)
        raw = bytearray(healthy)
        raw[bit // 8] ^= 1 << (bit % 8)
        live.write_bytes(raw)
        matters, wrong = dump(live) != whole, bool(bad(live))
        matter += matters
        noticed += matters and wrong
        if wrong:
            repair.repair(live)
            assert bad(live) == []
    print(f"{FLIPS} flips, {matter} mattered, {noticed} of those were noticed")  # noqa: T201
    assert noticed == matter
