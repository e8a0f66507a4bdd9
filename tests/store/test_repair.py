"""`hardwon doctor --fix`: what can be kept is kept, what cannot is put aside, and the damaged file stays."""

from __future__ import annotations

import json
import os
import random
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from hardwon import Check, Hardwon, HardwonError, Repaired, StoreCorrupt
from hardwon.store import check, lifecycle, schema
from hardwon.store.lessons import Cited
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.store.old_stores import FIXTURES, put
from tests.store.test_lifecycle import make, row

FLIPS = int(os.environ.get("BIT_FLIPS", "30"))
PAGE = 4096


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store of the examples, with a person's lesson."""
    home = tmp_path_factory.mktemp("healthy")
    with Hardwon(home) as memory:
        with memory.writing().transaction():
            told = Cited("", "notes of Monday", 0, "notes", 5, "never on Fridays", "reviewer")
            kept = row("Never deploy on Fridays.", "active")._replace(source_count=1)
            lifecycle.create(memory.writing(), kept, [told], actor="ada")
        memory.harvest(sorted(EXAMPLES.rglob("*.json*")))  # which compares what a person added, too
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


def mend(path: Path) -> Repaired:
    """What `doctor --fix` does."""
    with Hardwon(path.parent) as memory:
        return memory.store.repair()


def learned(path: Path) -> dict[str, list[str]]:
    """Everything that the same files must give again."""
    db = SqliteDatabase(path)
    try:
        return {
            table.name: sorted(repr(row) for row in db.query(f"SELECT {', '.join(names)} FROM {table.name}"))
            for table in schema.TABLES.copied
            if table.content and (names := [column.name for column in table.columns if column.content])
        }
    finally:
        db.close()


def quarantined(done: Repaired) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(done.quarantine).read_text().splitlines()] if done.quarantine else []


def test_a_damaged_lesson_is_put_aside_word_for_word_and_its_transcript_is_read_again(home: Path, live: Path) -> None:
    db = SqliteDatabase(live)
    ((id, text),) = db.query("SELECT id, text FROM lesson WHERE kept = 0 ORDER BY id LIMIT 1")
    db.close()
    tamper(live, f"UPDATE lesson SET text = 'forged' WHERE id = '{id}'")
    assert bad(live) == ["tables", "search", "rows"]
    done = mend(live)
    assert bad(live) == []
    assert [line["row"]["text"] for line in quarantined(done) if line["table"] == "lesson"] == ["forged"]
    assert bad(Path(done.damaged)) == ["tables", "search", "rows"]
    assert done.short == []
    with Hardwon(home) as memory:
        assert memory.lessons.get(id).lesson.text == text
        assert all(one.ok for one in memory.store.check())


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (b"STRICT, WITHOUT ROWID", b"STRICT, WITHOUU ROWID"),
        (b"text TEXT NOT NULL", b"tezt TEXT NOT NULL"),
        (b"CHECK (status IN ('active'", b"CHECK (status IN ('activf'"),
        (b"words TEXT NOT NULL DEFAULT ''", b"wordz TEXT NOT NULL DEFAULT ''"),
        (b"CREATE TABLE lesson ", b"CREATE TABLE lessoo "),
    ],
)
def test_a_flipped_bit_in_what_the_file_says_of_a_table_is_noticed_and_put_right(
    live: Path, healthy: bytes, part: bytes, said: bytes
) -> None:
    before = learned(live)
    assert part in healthy
    live.write_bytes(healthy.replace(part, said, 1))
    with Hardwon(live.parent) as memory, suppress(StoreCorrupt):  # told as such, wherever it is met
        memory.lessons.list()
        memory.failures.list()
    assert bad(live)
    assert mend(live).short == []
    assert bad(live) == []
    assert learned(live) == before


def test_a_damaged_session_is_read_again(home: Path, live: Path) -> None:
    before = SqliteDatabase(live)
    sessions = before.query("SELECT id, content_hash FROM session ORDER BY id")
    before.close()
    tamper(live, f"UPDATE call SET subject = 'forged' WHERE session = '{sessions[0][0]}'")
    done = mend(live)
    assert bad(live) == []
    assert {line["table"] for line in quarantined(done)} >= {"session", "call"}
    assert done.short == []
    with Hardwon(home) as memory:
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
    done = mend(live)
    assert bad(live) == []
    assert {line["table"] for line in quarantined(done)} >= ({table} if table else set())
    db = SqliteDatabase(live)
    assert len(db.query("SELECT id FROM lesson")) == lessons
    assert db.query("SELECT text FROM lesson WHERE trust = 'human' AND rule = ''") == [("Never deploy on Fridays.",)]
    db.close()


def test_a_row_that_is_no_text_any_more_is_put_aside(live: Path) -> None:
    tamper(live, "UPDATE lesson SET text = CAST(x'ff41' AS TEXT) WHERE rule = ''")
    assert bad(live) != []
    done = mend(live)
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
    done = mend(live)
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
    mend(live)
    assert bad(live) == []
    assert SqliteDatabase(live).query("SELECT count(*) FROM lesson") == [(count,)]


def test_where_nothing_can_be_read_the_file_stays_as_it_was(live: Path) -> None:
    live.write_bytes(b"ruined" * 2000)
    with pytest.raises(StoreCorrupt, match="hardwon restore"):
        mend(live)
    assert live.read_bytes() == b"ruined" * 2000
    assert sorted(path.name for path in live.parent.iterdir()) == ["hardwon.db"]


def test_the_command_says_what_it_did_and_where_everything_is(hardwon: Run, home: Path, live: Path) -> None:
    assert "Nothing to repair." in hardwon("doctor", "--fix").stdout
    tamper(live, "UPDATE lesson SET text = 'forged' WHERE rule = ''")
    done = hardwon("doctor", "--fix")
    assert (done.returncode, done.stderr) == (1, "")  # nobody else has the person's lesson
    assert "took out 1 lessons that were not what was written" in done.stdout
    assert "Lost, or not proven to be there:\n  1 rows of lesson are lost: L" in done.stdout
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
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search_index*' "
            "AND name NOT GLOB 'search_said*'"
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


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions enough to fill pages of every table."""
    folder = tmp_path_factory.mktemp("transcripts")
    for number in range(90):
        (
            ClaudeSession(f"s{number:02}", cwd=f"/gone/{('reef', 'tide')[number % 2]}", day=number % 28 + 1)
            .user(f"Always use tool{number % 7} in this project. " + "More words of no interest. " * 9)
            .run("pytest -q", f"ModuleNotFoundError: No module named 'mod{number % 5}'", exit_code=1)
            .run(f"uv add mod{number % 5}", "ok")
            .run("pytest -q", "1 passed")
            .edit(f"src/part{number % 11}.py", "new")
            .write(folder)
        )
    return folder


@pytest.fixture(scope="module")
def harvested(transcripts: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with Hardwon(tmp_path_factory.mktemp("harvested")) as memory:
        memory.harvest([transcripts])
        return Path(memory.store.backup().file).read_bytes()


def pages_of(raw: bytes) -> dict[str, list[int]]:
    """Table or index → its pages, but for the first, which leads to the others."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.deserialize("main", raw)
        found: dict[str, list[int]] = {}
        for name, page in connection.execute("SELECT name, pageno FROM dbstat ORDER BY name, pageno"):
            found.setdefault(str(name), []).append(int(page) - 1)
    return {name: pages[1:] for name, pages in found.items() if pages[1:]}


def without_page(raw: bytes, page: int) -> bytes:
    return raw[: page * PAGE] + bytes(PAGE) + raw[(page + 1) * PAGE :]


@pytest.mark.parametrize("table", ["session", "call", "occurrence", "lesson_source", "source", "lesson"])
def test_a_page_that_is_gone_is_read_again_from_the_transcripts(home: Path, harvested: bytes, table: str) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    live.write_bytes(harvested)
    fresh = learned(live)
    live.write_bytes(without_page(harvested, pages_of(harvested)[table][0]))
    assert bad(live) != []
    done = mend(live)
    assert (done.short, bad(live)) == ([], [])
    assert learned(live) == fresh


def test_what_no_transcript_brings_back_is_said(
    hardwon: Run, home: Path, harvested: bytes, transcripts: Path, tmp_path: Path
) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    moved = tmp_path / "elsewhere"
    live.write_bytes(without_page(harvested, pages_of(harvested)["session"][0]))
    transcripts.rename(moved)
    try:
        done = hardwon("doctor", "--fix")
        assert done.returncode == 1
        assert "rows of session are lost: S" in done.stdout
        assert "whose transcripts are gone may be missing" in done.stdout
        assert hardwon("doctor").returncode == 0
    finally:
        moved.rename(transcripts)


HEADER_BITS = int(os.environ.get("HEADER_BITS", "20"))


def test_a_flipped_bit_in_the_first_hundred_bytes_is_mended(home: Path, harvested: bytes) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    live.write_bytes(harvested)
    fresh = learned(live)
    for bit in random.Random(22).sample(range(800), HEADER_BITS):
        for path in home.iterdir():
            if path.is_file():
                path.unlink()
        raw = bytearray(harvested)
        raw[bit // 8] ^= 1 << (bit % 8)
        live.write_bytes(raw)
        wrong = bad(live)
        if wrong:
            done = mend(live)
            assert (bit, done.short) == (bit, [])
        assert (bit, bad(live)) == (bit, [])
        assert (bit, learned(live) == fresh) == (bit, True)


def test_flipped_bits_that_matter_are_noticed_and_mended(home: Path, healthy: bytes) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    live.write_bytes(healthy)
    whole, fresh = dump(live), learned(live)
    chance = random.Random(7)
    matter = noticed = said = 0
    for _ in range(FLIPS):
        for path in home.iterdir():
            if path.is_file():
                path.unlink()
        bit = chance.randrange(len(healthy) * 8)
        raw = bytearray(healthy)
        raw[bit // 8] ^= 1 << (bit % 8)
        live.write_bytes(raw)
        matters, wrong = dump(live) != whole, bool(bad(live))
        matter += matters
        noticed += matters and wrong
        if wrong:
            short = mend(live).short
            assert bad(live) == []
            said += bool(short)
            assert short or learned(live) == fresh, bit
    print(f"{FLIPS} flips, {matter} mattered, {noticed} noticed, {said} said to be short")  # noqa: T201
    assert noticed == matter


def test_what_a_later_version_wrote_is_no_damage_and_is_not_repaired(hardwon: Run, home: Path, live: Path) -> None:
    tamper(live, "ALTER TABLE lesson ADD COLUMN of_tomorrow TEXT; PRAGMA user_version = 99")
    before = live.read_bytes()
    done = hardwon("doctor", "--fix")
    assert (done.returncode, "was written by a newer Hardwon (schema 99" in done.stderr) == (1, True)
    assert live.read_bytes() == before
    assert not list(home.glob("*.damaged-*"))


def test_a_database_of_something_else_is_said_to_be_one_and_is_not_written_to(hardwon: Run, home: Path) -> None:
    home.mkdir(exist_ok=True)
    apsw.Connection(str(home / "hardwon.db")).execute("CREATE TABLE somebody_elses (row)")
    for command in (("lessons",), ("harvest", EXAMPLES), ("backup",)):
        assert "is not a store of Hardwon: move it away" in hardwon(*command).stderr
    assert "nothing of a store can be read" in hardwon("doctor", "--fix").stderr
    names = apsw.Connection(str(home / "hardwon.db")).execute("SELECT name FROM sqlite_master").fetchall()
    assert names == [("somebody_elses",)]


def test_a_log_without_its_store_is_told_by_the_doctor(hardwon: Run, home: Path) -> None:
    home.mkdir(exist_ok=True)
    log = home / "hardwon.db-wal"
    log.write_bytes(b"the last writes")
    done = hardwon("doctor")
    assert (done.returncode, "BAD  store" in done.stdout) == (1, True)
    for told in (done.stdout, hardwon("doctor", "--fix").stderr, hardwon("harvest", EXAMPLES).stderr):
        assert "holds the last writes of a store that was moved or deleted" in told
    assert log.read_bytes() == b"the last writes"


def test_a_flipped_bit_in_the_name_of_the_format_is_not_said_to_be_beyond_repair(
    hardwon: Run, home: Path, live: Path
) -> None:
    raw = bytearray(live.read_bytes())
    raw[5] ^= 4
    live.write_bytes(raw)
    assert "`hardwon doctor --fix` saves what can be read" in hardwon("lessons").stderr
    assert "`hardwon doctor --fix` repairs the store" in hardwon("doctor").stdout
    assert hardwon("doctor", "--fix").returncode == 0
    assert bad(live) == []


def test_a_project_that_only_a_damaged_row_named_does_not_stay(home: Path, harvested: bytes) -> None:
    home.mkdir()
    live = home / "hardwon.db"
    live.write_bytes(harvested)
    with Hardwon(home) as memory:
        memory.lessons.add("Use uv.", scope="global")  # which is told in every project there is
        before = [project.id for project in memory.store.projects()]
    tamper(live, "UPDATE session SET project = 'P' || substr(hex(project), 3, 16) WHERE external_id = 's07'")
    assert bad(live) != []
    assert mend(live).short == []
    with Hardwon(home) as memory:
        assert sorted(project.id for project in memory.store.projects()) == sorted(before)
        told = memory.reading().query("SELECT DISTINCT project FROM standing WHERE project <> ''")
    assert {project for (project,) in told} <= set(before)
