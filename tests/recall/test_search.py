"""One search over everything: by words and meaning, filtered, and every result says why it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Hardwon, HardwonError, SearchResults
from hardwon.recall.embedder import embed
from hardwon.recall.minilm import MiniLM, installed
from hardwon.recall.search import SearchFilter, SearchSettings, search
from hardwon.store import fulltext, sessions
from hardwon.store.database import Database, insert
from tests.conftest import EXAMPLES
from tests.recall.conftest import DAY, NOW, Axes, Learn

BY_WORDS = SearchSettings(now=NOW)
ANYTHING = SearchFilter()
BY_BOTH = SearchSettings(embedder=Axes(), now=NOW)


def found(
    db: Database, text: str, wanted: SearchFilter = ANYTHING, how: SearchSettings = BY_WORDS, limit: int = 10
) -> list[str]:
    return [hit.id for hit in search(db, text, wanted, how, limit).hits]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Call `resolve_station_alias` in tides/lookup.py first.", "resolve_station_alias"),
        ("Call `resolve_station_alias` in tides/lookup.py first.", "tides/lookup.py"),
        ("Call `resolve_station_alias` in tides/lookup.py first.", "lookup.py alias"),
        ("Never push with --force, use --force-with-lease.", "--force-with-lease"),
        ("TS2307 means that the path alias is missing.", "error TS2307: Cannot find module '@ui/theme'"),
        ("C++ sources need clang 18.", "c++"),
        ("数据库迁移之前必须先备份。", "备份数据库"),
        ("不要在事务里持有锁。", "锁"),
        ("本番環境へのデプロイは木曜日だけ行う。", "デプロイ"),
        ("Перед выпуском обновить файл версий.", "файл ВЕРСИЙ"),
        ("Vor dem Merge die Übersetzungen prüfen.", "ubersetzungen"),
        ("ข้อมูลสำรองอยู่ในโฟลเดอร์", "สำรอง"),
    ],
)
def test_names_flags_paths_codes_and_other_scripts_are_found(
    db: Database, learn: Learn, text: str, question: str
) -> None:
    learn("Keep functions short and files small.")
    id = learn(text)
    assert found(db, question)[:1] == [id]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=60))
@pytest.mark.parametrize("how", [BY_WORDS, BY_BOTH], ids=["words", "both"])
def test_any_string_is_a_safe_question(memory: Hardwon, how: SearchSettings, text: str) -> None:
    db = memory.writing()
    for question in (text, f'"{text}"', f"{text} OR * NEAR(", f"' {text} \\ %"):
        assert isinstance(search(db, question, SearchFilter(), how).hits, list)


def test_query_syntax_is_only_words(db: Database, learn: Learn) -> None:
    id = learn("Prefer NOT to use OR in filters.")
    for question in (
        'filters AND "',
        "NOT filters",
        "filters*",
        "terms:filters",
        "filters NEAR/2 x",
        '"filters',
        "^filters",
    ):
        assert found(db, question) == [id]


def test_a_quoted_phrase_counts_more_word_for_word(db: Database, learn: Learn) -> None:
    exact, loose = learn("Drain the connection pool."), learn("Pool of a drain, the connection.")
    hits = {
        quoted: search(db, quoted, SearchFilter(), BY_WORDS).hits for quoted in ("connection pool", '"connection pool"')
    }
    margin = {quoted: some[0].score - some[1].score for quoted, some in hits.items()}
    assert [hit.id for hit in hits['"connection pool"']] == [exact, loose]
    assert margin['"connection pool"'] > margin["connection pool"]


def test_meaning_finds_what_shares_no_word_and_says_so(db: Database, learn: Learn) -> None:
    car, boat = learn("The automobile is in the garage."), learn("A ship lies there.")
    assert found(db, "which car") == []
    embed(db, Axes())
    results = search(db, "which car", SearchFilter(), BY_BOTH)
    assert [hit.id for hit in results.hits] == [car]
    parts = results.hits[0].parts
    assert parts["lexical"] == 0
    assert parts["vector"] > 0.9
    assert found(db, "boat", how=BY_BOTH) == [boat]


def test_a_text_of_a_letter_or_two_is_no_result_by_its_meaning(db: Database, learn: Learn) -> None:
    learn("A car.")
    embed(db, Axes())
    assert found(db, "automobile", how=BY_BOTH) == []
    assert len(found(db, "car", how=BY_BOTH)) == 1


def test_a_score_is_made_of_its_parts(db: Database, learn: Learn) -> None:
    learn("The automobile needs a new engine.", last_confirmed=NOW - 90 * DAY, trust="claimed")
    embed(db, Axes())
    (hit,) = search(db, "car engine", SearchFilter(), BY_BOTH).hits
    assert sorted(hit.parts) == ["lexical", "recency", "trust", "vector", "weight"]
    assert (hit.parts["recency"], hit.parts["trust"]) == (0.5, 0.7)
    weight = hit.parts["weight"]
    relevance = (1 - weight) * hit.parts["lexical"] + weight * hit.parts["vector"]
    assert hit.score == pytest.approx(relevance * (1 - 0.2 * 0.3 - 0.05 * 0.5), abs=0.001)


def test_words_count_more_when_they_single_something_out(db: Database, learn: Learn) -> None:
    for at in range(12):
        learn(f"The automobile number {at} needs an engine.")
    learn("The carburettor of a ship.")
    embed(db, Axes())
    rare, common = (search(db, text, SearchFilter(), BY_BOTH).hits[0].parts for text in ("carburettor", "engine"))
    assert rare["weight"] < common["weight"]
    for weight in (0.0, 1.0):
        parts = search(db, "engine", SearchFilter(), BY_BOTH._replace(weight=weight)).hits[0].parts
        assert parts.get("weight", 0.0) == weight


@pytest.mark.parametrize(
    ("word", "has_it", "has_not"),
    [
        ("commander", "The package commander parses what is typed", "A command is typed into the terminal"),
        ("useEffectOnce", "The hook useEffectOnce runs at the start", "What may be used once has an effect"),
        ("Reef", "The reefs are drawn in blue", "A reefing sail is drawn in red"),
    ],
)
def test_of_one_word_what_has_it_is_found_and_not_what_has_its_stem(
    db: Database, learn: Learn, word: str, has_it: str, has_not: str
) -> None:
    learn(has_not)
    assert [hit.text for hit in search(db, word, SearchFilter(), SearchSettings()).hits] == [has_not]
    learn(has_it)
    assert [hit.text for hit in search(db, word, SearchFilter(), SearchSettings()).hits] == [has_it]


def test_of_equals_the_trusted_the_valid_and_the_recent_come_first(db: Database, learn: Learn) -> None:
    old = learn("The gate opens at six.", id="L1", last_confirmed=NOW - 400 * DAY)
    waits = learn("The gate opens at six!", id="L2", status="candidate", trust="untrusted")
    claim = learn("The gate opens at six?", id="L3", trust="untrusted")
    best = learn("The gate opens at six;", id="L4")
    assert found(db, "gate opens") == [best, old, claim, waits]


@pytest.mark.parametrize("how", [BY_WORDS, BY_BOTH], ids=["words", "both"])
def test_what_was_rejected_or_taken_back_is_found_only_by_who_asks_for_it(memory: Hardwon, how: SearchSettings) -> None:
    rejected, added, valid = (
        memory.lessons.add(text, kind="fact", scope="global")
        for text in ("The gate opens at six.", "The gate opens at dusk.", "The gate opens for nobody.")
    )
    memory.review.reject(rejected)
    memory.review.undo(memory.review.history(added)[0].number)
    db = memory.writing()
    embed(db, Axes())
    assert found(db, "gate opens", how=how) == [valid]
    assert found(db, "gate opens", SearchFilter(types=("lesson",)), how) == [valid]
    assert found(db, "gate opens", SearchFilter(status="invalid"), how) == [rejected]
    assert found(db, "gate opens", SearchFilter(status="archived"), how) == [added]


def test_what_shares_one_word_is_left_out_where_something_has_them_all(memory: Hardwon, learn: Learn) -> None:
    """And only there: where nothing is good, of one type, and for a program, all that was found is told."""
    for tool in ("gauge", "chart", "table", "buoy", "pier"):
        learn(f"The {tool} reads a reef file that is written by the {tool} service every hour of the day.")
    weak = learn("Every reef has a file of its own that the keepers of the lights write into by hand.")
    good = learn("Never `reef link` a session.")
    assert [hit.id for hit in memory.search("reef link", sessions=True).hits] == [good]
    assert len(memory.search("reef link", type="lesson", sessions=True).hits) == 7
    assert len(memory.search("reef link").hits) == 7
    other = memory.search("keepers of an entirely other thing than any that is known", sessions=True)
    assert weak in [hit.id for hit in other.hits]


def test_what_stands_beside_a_match_is_found_with_it(db: Database, talk: Callable[[Sequence[str]], list[str]]) -> None:
    ids = talk(["Good morning.", "How long is a login link valid?", "Fifteen minutes, once.", "Thanks!", "Lunch?"])
    assert found(db, "lifetime of a login link") == [ids[1], ids[2], ids[0]]


@pytest.fixture
def everything(memory: Hardwon) -> Hardwon:
    memory.harvest(sorted(EXAMPLES.rglob("*.jsonl")))
    return memory


def types(results: SearchResults) -> set[str]:
    return {hit.type for hit in results.hits}


def test_harvested_lessons_failures_and_sessions_are_found_together(everything: Hardwon) -> None:
    assert types(everything.search("tests database migrate readings", limit=50)) >= {
        "lesson",
        "failure",
        "session",
    }


def test_what_an_error_says_counts_more_than_the_command_that_met_it(everything: Hardwon) -> None:
    """`pip install asyncpg` failed as well, for another reason."""
    for way in (BY_WORDS, BY_WORDS._replace(embedder=MiniLM()) if installed() else BY_WORDS):
        if way.embedder:
            embed(everything.writing(), way.embedder)
        for question in ("asyncpg", "no module asyncpg"):
            first = search(everything.reading(), question, SearchFilter(), way).hits[0]
            assert "No module named 'asyncpg'" in first.text


@pytest.mark.parametrize("type", ["lesson", "failure", "session"])
def test_a_type_can_be_asked_for(everything: Hardwon, type: str) -> None:
    assert types(everything.search("tests database migrate readings", type=type)) == {type}


def test_an_unknown_type_is_refused_with_those_that_are_known(everything: Hardwon) -> None:
    with pytest.raises(HardwonError, match="unknown type 'lessons'; known: lesson, failure"):
        everything.search("x", type="lessons")


def test_a_project_filter_keeps_its_own_and_what_holds_everywhere(db: Database, learn: Learn, reef: str) -> None:
    own = learn("Corals need calm water.", id="L1", project=reef, scope="project")
    everywhere = learn("Water boils.", id="L2")
    with db.transaction():
        db.execute("INSERT INTO project (id, key, name) VALUES ('Pother', 'other', 'other')")
    learn("Water is wet.", id="L3", project="Pother", scope="project")
    assert sorted(found(db, "water", SearchFilter(project=reef))) == [own, everywhere]


def test_kind_status_and_time_filter(db: Database, learn: Learn) -> None:
    learn("Water A", id="L1", kind="pitfall", status="candidate", last_confirmed=NOW - 10 * DAY)
    learn("Water B", id="L2", last_confirmed=NOW - 5 * DAY)
    learn("Water C", id="L3")
    assert found(db, "water", SearchFilter(kind="pitfall")) == ["L1"]
    assert found(db, "water", SearchFilter(status="candidate")) == ["L1"]
    assert found(db, "water", SearchFilter(since=NOW - DAY)) == ["L3"]
    assert found(db, "water", SearchFilter(since=NOW - 6 * DAY, until=NOW)) == ["L2"]


def test_agents_filter_by_who_met_or_told_it(everything: Hardwon) -> None:
    for agent in ("codex", "claude-code"):
        results = everything.search("tests database migrate readings pytest", agent=agent, limit=50)
        rows = everything.reading().query("SELECT id FROM session WHERE agent = ?", (agent,))
        assert {hit.id for hit in results.hits if hit.type == "session"} <= {row[0] for row in rows}
        assert results.hits


def test_files_filter_by_what_was_touched_described_or_named(db: Database, learn: Learn) -> None:
    named = learn("Water of src/tides/lookup.py is cached.", id="L1")
    learn("Water of src/other.py is not.", id="L2")
    with db.transaction():
        db.execute("UPDATE lesson SET anchor_path = 'src/tides/lookup.py' WHERE id = 'L2'")
    assert sorted(found(db, "water", SearchFilter(file="src/tides/lookup.py"))) == [named, "L2"]
    assert sorted(found(db, "water", SearchFilter(file="lookup.py"))) == [named, "L2"]
    assert found(db, "water", SearchFilter(file="up.py")) == []


def test_a_narrow_filter_finds_what_common_words_would_hide(db: Database, learn: Learn) -> None:
    for at in range(300):
        learn(f"Water water water number {at}.", id=f"L{at:03}")
    wanted = learn("The tank of the reef takes a lot of rather old water.", id="Lx", kind="pitfall")
    assert found(db, "water", SearchFilter(kind="pitfall"), limit=3) == [wanted]


def test_a_wide_filter_looks_as_deep_as_it_must(db: Database, learn: Learn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardwon.recall.search._MAX_ITEMS_ALL_LOOKED_AT", 2)
    for at in range(200):
        learn(f"Water water {at}.", id=f"L{at:03}")
    wanted = [
        learn(f"A rather long sentence about some old water {at}.", id=f"Lx{at}", kind="pitfall") for at in range(4)
    ]
    assert sorted(found(db, "water", SearchFilter(kind="pitfall"), limit=4)) == wanted


def test_another_model_is_a_notice_and_a_search_by_words(db: Database, learn: Learn) -> None:
    id = learn("The ship is late.")
    embed(db, Axes())
    other = Axes()
    other.name = "other"
    results = search(db, "ship", SearchFilter(), SearchSettings(embedder=other, now=NOW))
    assert [hit.id for hit in results.hits] == [id]
    assert "of axes, not of other" in results.notice
    assert "hardwon reindex" in results.notice


def test_no_vectors_yet_is_a_notice(db: Database, learn: Learn) -> None:
    learn("The ship is late.")
    assert "hardwon reindex" in search(db, "ship", SearchFilter(), BY_BOTH).notice
    assert search(db, "ship", SearchFilter(), BY_WORDS).notice == ""


def test_a_session_read_again_is_found_by_its_new_task_only(db: Database) -> None:
    fields = dict.fromkeys(sessions.SessionRow._fields, "")
    numbers = (
        "started_at ended_at messages user_messages tool_calls errors unknown_records redactions harvester_version "
        "tokens_in tokens_out"
    )
    fields |= {**dict.fromkeys(numbers.split(), 1), "id": "S1", "project": None, "outcome": "unknown", "owner": "own"}
    for task in ("paint the boat", "scrape the hull"):
        with db.transaction():
            sessions.remove(db, "S1")
            sessions.add(db, sessions.SessionRow(**{**fields, "task": task}), [])
    assert (found(db, "paint boat"), found(db, "scrape hull")) == ([], ["S1"])
    with db.transaction():
        sessions.remove(db, "S1")
    assert found(db, "scrape hull") == []


def test_attempts_and_documents_are_found_with_their_files(db: Database) -> None:
    with db.transaction():
        document = {
            "id": "D1",
            "path": "docs/tides.md",
            "project": None,
            "hash": "h",
            "title": "Tides",
            "type": "markdown",
        }
        document |= {"tags": "[]", "ingested_at": NOW, "updated_at": NOW}
        db.execute(insert("document", list(document)), list(document.values()))
        chunk = {
            "id": "C1",
            "document": "D1",
            "position": 0,
            "heading_path": "Tides > Moon",
            "content": "The moon pulls.",
        }
        chunk |= {"hash": "h", "metadata": "{}", "created_at": NOW}
        db.execute(insert("chunk", list(chunk)), list(chunk.values()))
    assert fulltext.mend(db) == 1
    results = search(db, "moon", SearchFilter(file="docs/tides.md"), BY_WORDS)
    assert [(hit.id, hit.type, hit.kind, hit.text) for hit in results.hits] == [
        ("C1", "chunk", "markdown", "Tides > Moon: The moon pulls.")
    ]


def test_of_a_name_that_nothing_has_no_part_alone_is_found(learn: Learn, db: Database) -> None:
    learn("No progress was made, so set the gauge to zero.", id="L1")
    assert found(db, "SetProgressGauge") == ["L1"]
    assert found(db, "MSYS_NO_GAUGE") == []
