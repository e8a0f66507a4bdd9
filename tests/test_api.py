"""The public API: what it is called, what it takes and gives; the same in process and over HTTP."""

from __future__ import annotations

import inspect
import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tools import make_names
from tools.facade import NOUNS, methods_of, verbs

import hardwon
from hardwon import (
    Attempt,
    BadConfig,
    Client,
    Hardwon,
    HardwonError,
    Interaction,
    NotAllowed,
    NotFound,
    NotOffered,
    Outcome,
    StoreError,
    connect,
)
from hardwon.client import NOT_OFFERED
from hardwon.store import read
from tests.conftest import ClaudeSession
from tests.serve.service import environment, fill, served

MISSING = "ModuleNotFoundError: No module named 'reef_tools'"
Memory = Hardwon | Client
PUBLIC = """
AsyncHardwon Attempt Backup BadConfig Bootstrap Call Captured Check Chunk Client Conflict Considered Damage Distilled
Document DocumentDetails DumpHeader Embedded Estimate Event Experiment Exported Failure FailureCost FailureDetails Fix
Forgot Group Habit Hardwon HardwonError HarvestReport Hit Ingested Interaction InteractionPage InteractionSummary Kind
KnownFailure KnownFix Leak LeftOut Lesson LessonDetails Line Loaded Loss Map Me Merged Message Metric Metrics Migrated
ModificationAttempt ModificationJournal NewToken NoModel NotASession NotAllowed NotFound NotOffered Occurrence Outcome
PastFailure PastFailures Pending Place Project Ran Rate Regrouped Reindexed Reinforced Repaired ReplayReport Restored
Resumption Sample Scope ScrubTimeout SearchResults Session SessionDetails SessionRecord Similar SimilarLesson Source
Stats Status Step StoreCorrupt StoreError StoreOutdated StoreTooNew Taken Token ToolCall ToolResult Transcript
Verified Visitor __version__ connect
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two projects, `reef` and `kelp`."""
    folder = tmp_path_factory.mktemp("api")
    fill(folder / "hardwon", folder / "hardwon" / "hardwon.db", folder / "sessions")
    return folder / "hardwon"


@pytest.fixture(scope="module")
def service(filled: Path) -> Iterator[tuple[str, str]]:
    """The address of a running service, and a token for everything."""
    unhurried = {"HARDWON_SERVE_RATE": "10000", "HARDWON_SERVE_BURST": "10000"}
    same = {"HARDWON_EXPERIMENT": "off", "HARDWON_FUSION_WEIGHT": "0"}
    with served({**environment(filled, Path()), **unhurried, **same}) as running:
        yield running.address, running.token


@pytest.fixture(params=["local", "over HTTP"])
def memory(request: pytest.FixtureRequest, filled: Path) -> Iterator[Memory]:
    if request.param == "local":
        with Hardwon(filled) as local:
            yield local
    else:
        with connect(*request.getfixturevalue("service")) as remote:
            yield remote


@pytest.fixture
def local(filled: Path) -> Iterator[Hardwon]:
    with Hardwon(filled) as opened:
        yield opened


def test_these_names_are_public() -> None:
    assert sorted(hardwon.__all__) == hardwon.__all__
    for name in hardwon.__all__:
        assert getattr(hardwon, name) is not None
    assert hardwon.__all__ == PUBLIC.split()


def test_they_are_those_that_type_checkers_see() -> None:
    assert make_names.TARGET.read_text() == make_names.generated(), "the names have changed: run `make generated`"


def test_importing_the_package_loads_none_of_it() -> None:
    script = "import sys, hardwon; sys.exit(sum(name.startswith('hardwon') for name in sys.modules) - 1)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_facade_has_nine_nouns_and_a_few_verbs() -> None:
    assert {name for name, each in vars(Hardwon).items() if isinstance(each, cached_property)} == set(NOUNS)
    assert [verb.name for verb in verbs()] == [
        "discover", "inspect", "harvest", "sample", "search", "bootstrap", "map", "picture", "blame",
        "how", "resume", "replay", "measure", "experiment",
    ]  # fmt: skip


def facade() -> dict[str, Any]:
    """Every public method by its name behind `memory.`"""
    found = {verb.name: getattr(Hardwon, verb.name) for verb in verbs()}
    with_nouns = Hardwon("/nowhere")
    for noun in NOUNS:
        part = getattr(with_nouns, noun)
        found |= {f"{noun}.{method.name}": getattr(type(part), method.name) for method in methods_of(noun)}
    return found


def test_the_client_has_the_signatures_of_the_facade() -> None:
    client = Client("http://127.0.0.1:9", "hardwon_a_b")
    differ = []
    for name, method in facade().items():
        owner: Any = client
        *nouns, verb = name.split(".")
        for noun in nouns:
            owner = getattr(owner, noun)
        if name in NOT_OFFERED:
            with pytest.raises(NotOffered, match=name):
                getattr(owner, verb)
        elif inspect.signature(getattr(type(owner), verb)) != inspect.signature(method):
            differ.append(name)
    assert differ == []
    assert set(facade()) > NOT_OFFERED


def test_the_client_has_no_methods_of_its_own_but_who_am_i() -> None:
    client = Client("http://127.0.0.1:9", "hardwon_a_b")
    offered = {name for name in vars(Client) if not name.startswith("_")}
    for noun in NOUNS:
        offered |= {f"{noun}.{name}" for name in vars(type(getattr(client, noun))) if not name.startswith("_")}
    assert offered - set(facade()) == {"close", "me"}


def test_every_method_says_what_it_does() -> None:
    assert [name for name, method in facade().items() if not (method.__doc__ or "").strip()] == []


def test_every_result_has_named_fields() -> None:
    bare = [name for name, method in facade().items() if "tuple" in inspect.signature(method).return_annotation]
    assert bare == []


def test_lessons_are_listed_and_shown(memory: Memory, local: Hardwon) -> None:
    found = memory.lessons.list()
    assert found == local.lessons.list()
    assert {lesson.text for lesson in memory.lessons.list(project="reef", status="active")} >= {
        "Always use reefctl in this project."
    }
    details = memory.lessons.get(found[0].id)
    assert details.lesson == found[0]
    assert details.sources[0].at.tzinfo is UTC
    assert memory.lessons.list(kind="identity") == []


def test_a_lesson_is_proposed_decided_on_and_taken_back(memory: Memory) -> None:
    id = memory.lessons.propose("Herons wade.", project="reef", session="s")
    memory.lessons.feedback(id, helped=True)
    assert memory.lessons.get(id).lesson.status == "candidate"
    memory.review.promote(id, why="seen")
    newer = memory.lessons.add("Herons wade at dawn.", project="reef")
    memory.review.edit(id, text="Herons do wade.", confidence=0.8)
    assert memory.lessons.get(id).lesson.confidence == 0.8
    memory.review.supersede(id, newer)
    assert memory.lessons.get(id).lesson.superseded_by == newer
    memory.review.restore(id)
    event = memory.review.archive(id)
    assert memory.lessons.get(id).lesson.status == "archived"
    memory.review.undo(event)
    assert memory.lessons.get(id).lesson.status == "active"
    told = memory.review.history(id)
    assert [event.action for event in told][:3] == ["create", "helped", "promote"]
    assert told[-1].undoes == event
    assert memory.review.history(limit=1)[0].number == told[-1].number
    until = datetime(2030, 1, 1, tzinfo=UTC)
    memory.review.edit(id, valid_until=until, tags=["birds"])
    assert memory.lessons.get(id).lesson.valid_until == until
    bad = memory.lessons.propose(f"Herons sing to {type(memory).__name__}.", project="reef")
    memory.review.reject(bad)
    assert memory.lessons.get(bad).lesson.status == "invalid"


def test_a_lesson_that_cannot_be_is_refused(memory: Memory) -> None:
    with pytest.raises(NotAllowed):
        memory.lessons.propose("  ", project="reef")
    with pytest.raises(NotAllowed, match="needs a project"):
        memory.lessons.add("Of no project.")
    with pytest.raises(NotFound):
        memory.lessons.get("Lnone")
    with pytest.raises(NotFound):
        memory.review.promote("Lnone")


def test_failures_have_their_fixes(memory: Memory, local: Hardwon) -> None:
    found = memory.failures.list()
    assert found == local.failures.list()
    (reef,) = [one for one in memory.failures.list(project="reef") if "reef_tools" in one.error]
    assert [step.what for step in reef.fixes[0].steps] == ["uv sync --extra reef-tools"]
    assert reef.agents == ["claude-code"]
    details = memory.failures.get(reef.id)
    assert details == local.failures.get(reef.id)
    assert len(details.occurrences) == reef.occurrences == 2
    (lonely,) = memory.failures.list(project="reef", only_open=True, only_here=True) or [None]
    assert lonely is None
    assert memory.failures.list(since=reef.last_seen + timedelta(days=300)) == []
    assert memory.failures.costs([reef.id])[reef.id].times[-1] == reef.last_seen
    with pytest.raises(NotFound):
        memory.failures.get("Fnone")


def test_an_error_is_recognised(memory: Memory) -> None:
    found = memory.failures.recall(MISSING, project="reef")
    assert (found.known, found.sessions) == (True, 2)
    assert found.said.startswith("Seen 2 times in 2 sessions")
    assert found.fixes[0].steps == ["run `uv sync --extra reef-tools`"]
    assert not memory.failures.recall("all is well").known


def test_sessions_are_listed_with_their_calls(memory: Memory, local: Hardwon) -> None:
    found = memory.sessions.list(project="kelp")
    assert found == local.sessions.list(project="kelp")
    assert [one.external_id for one in found] == ["kelp-2", "kelp-1"]
    assert found[0].started_at > found[1].started_at
    assert memory.sessions.get(found[0].id).calls[0].subject == "pytest -q"
    assert memory.sessions.list(agent="codex") == []
    with pytest.raises(NotFound):
        memory.sessions.get("none")


def test_the_journal_keeps_and_finds_attempts(memory: Memory, local: Hardwon) -> None:
    number = memory.journal.log(
        Attempt("Count the fish", outcome=Outcome.FAILURE, files=["fish.py"], project="reef", run="c-1")
    )
    others = memory.journal.log_all([Attempt("Feed the fish", project="reef"), Attempt("Count the crabs")])
    assert others == [number + 1, number + 2]
    assert memory.journal.get(number) == local.journal.get(number)
    memory.journal.reflect(number, "Count twice.")
    assert memory.journal.get(number).reflection == "Count twice."
    assert memory.journal.list(run="c-1", limit=1) == local.journal.list(run="c-1", limit=1)
    assert [one.id for one in memory.journal.list(outcomes=[Outcome.FAILURE], limit=1)] == [number]
    assert memory.journal.list(outcomes=[]) == memory.journal.list(limit=0) == []
    assert memory.journal.similar("count the fish", limit=1)[0].attempt.task == "Count the fish"
    assert number in [one.id for one in memory.journal.for_file("fish.py")]
    assert memory.journal.stats() == local.journal.stats()
    assert memory.journal.stats(since=datetime(2100, 1, 1, tzinfo=UTC)).overall.attempts == 0
    assert memory.journal.past_failures(run="c-1").lines == local.journal.past_failures(run="c-1").lines
    with pytest.raises(NotFound):
        memory.journal.get(999_999)
    with pytest.raises(NotFound):
        memory.journal.reflect(999_999, "x")


def test_many_attempts_are_logged_all_or_none(memory: Memory) -> None:
    before = memory.journal.stats().overall.attempts
    with pytest.raises(HardwonError):
        memory.journal.log_all([Attempt("fine"), Attempt("wrong", retry_of=999_999)])
    assert memory.journal.stats().overall.attempts == before


def test_interactions_are_recorded_and_listed(memory: Memory, local: Hardwon) -> None:
    id = memory.interactions.record(Interaction(prompt="Why salt?", response="Because.", project="reef", session="x"))
    kept = memory.interactions.get(id)
    assert kept == local.interactions.get(id)
    assert kept.created_at is not None
    found = memory.interactions.list(session="x", since=kept.created_at)
    assert found == local.interactions.list(session="x", since=kept.created_at)
    assert [one.id for one in found.interactions] == [id]
    assert memory.interactions.reinforce(id) == local.interactions.reinforce(id)
    assert memory.interactions.extract(id) == []
    with pytest.raises(NotFound):
        memory.interactions.get("Inone")


def test_interactions_come_in_pages(memory: Memory) -> None:
    ids = [memory.interactions.record(Interaction(prompt=f"{n}?", project="kelp", session="p")) for n in range(3)]
    seen: list[str] = []
    page = memory.interactions.list(project="kelp", session="p", limit=2)
    while True:
        seen += [one.id for one in page.interactions]
        if not page.cursor:
            break
        page = memory.interactions.list(project="kelp", session="p", limit=2, cursor=page.cursor)
    assert set(ids) <= set(seen)
    assert len(seen) == len(set(seen))


def test_documents_are_added_listed_and_removed(memory: Memory, local: Hardwon) -> None:
    id = memory.documents.add("squid.md", "# Squid\n\nSquid have three hearts.", project="kelp")
    assert memory.documents.list(project="kelp") == local.documents.list(project="kelp")
    details = memory.documents.get(id)
    assert (details.document.title, details.chunks[0].content.strip()) == ("Squid", "Squid have three hearts.")
    memory.documents.remove(id)
    with pytest.raises(NotFound):
        memory.documents.remove(id)
    with pytest.raises(NotFound):
        memory.documents.get(id)


def test_a_session_is_briefed(memory: Memory, local: Hardwon) -> None:
    assert memory.bootstrap("reef", task="run the tests") == local.bootstrap("reef", task="run the tests")
    assert "reefctl" in memory.bootstrap("reef", agent="claude-code", session="s-9", experiment=False).text
    assert memory.bootstrap("reef", budget=0).lines == ()
    with pytest.raises(NotFound):
        memory.bootstrap("nowhere")


def test_what_is_known_is_found(memory: Memory, local: Hardwon) -> None:
    found = memory.search("reefctl", project="reef", type="lesson")
    assert found.hits[0].text == "Always use reefctl in this project."
    assert found.hits[0].at.tzinfo is UTC
    assert [hit.id for hit in found.hits] == [
        hit.id for hit in local.search("reefctl", project="reef", type="lesson").hits
    ]
    assert memory.search("reefctl", until=datetime(2000, 1, 1, tzinfo=UTC)).hits == []
    with pytest.raises(NotFound):
        memory.search("x", project="nowhere")


def test_the_store_is_counted_checked_and_copied(memory: Memory, local: Hardwon, tmp_path: Path) -> None:
    assert memory.store.totals() == local.store.totals()
    assert memory.store.projects() == local.store.projects()
    assert {"reef", "kelp"} <= {project.name for project in memory.store.projects()}
    assert [check.name for check in memory.store.check()] == [check.name for check in local.store.check()]
    out = io.BytesIO()
    header = memory.store.dump(out)
    assert header.rows["session"] == 4
    (tmp_path / "dump.jsonl").write_bytes(out.getvalue())
    with Hardwon(tmp_path / "copy") as copy:
        copy.store.load(tmp_path / "dump.jsonl", trusted=True)
        assert copy.store.totals()["sessions"] == 4


def test_what_is_forgotten_is_gone(memory: Memory) -> None:
    id = memory.lessons.add("Octopuses have nine brains.", scope="global")
    assert memory.store.forget(id, dry_run=True).rows["lesson"] == 1
    assert memory.store.forget(id).left == []
    with pytest.raises(NotFound):
        memory.lessons.get(id)
    with pytest.raises(NotAllowed):
        memory.store.forget(text="ab")
    with pytest.raises(NotAllowed, match="one thing"):
        memory.store.forget()
    assert memory.store.purge(36_500, dry_run=True).rows == {}


def test_it_is_measured_and_replayed(memory: Memory, local: Hardwon) -> None:
    assert memory.replay(project="reef") == local.replay(project="reef")
    found, same = memory.measure(project="kelp"), local.measure(project="kelp")
    assert (found.sessions, found.since, found.calibration) == (same.sessions, same.since, same.calibration)
    assert memory.measure(since=datetime(2100, 1, 1, tzinfo=UTC)).sessions == 0


def test_who_am_i(service: tuple[str, str]) -> None:
    with connect(*service) as remote:
        assert (remote.me().name, remote.me().projects) == ("first", ())


def test_a_service_replays_no_files_of_its_callers(service: tuple[str, str], tmp_path: Path) -> None:
    with connect(*service) as remote, pytest.raises(NotOffered, match="paths"):
        remote.replay(tmp_path)


def test_a_stranger_learns_nothing(service: tuple[str, str]) -> None:
    with connect(service[0], "hardwon_a_b") as stranger, pytest.raises(NotAllowed, match="token"):
        stranger.store.projects()


def test_a_service_that_is_not_there_is_said() -> None:
    with connect("http://127.0.0.1:9", "hardwon_a_b") as nobody, pytest.raises(HardwonError, match="hardwon serve"):
        nobody.store.projects()


def test_a_token_is_never_sent_for_all_to_read() -> None:
    for url in ("http://memory.example.org", "ftp://memory.example.org", "memory"):
        with pytest.raises(BadConfig):
            connect(url, "hardwon_a_b")


def test_a_connection_that_was_closed_is_made_again(service: tuple[str, str]) -> None:
    with connect(*service) as remote:
        assert remote.store.projects()
        remote.close()
        assert remote.store.projects()


def test_a_muted_failure_is_told_to_nobody_until_that_is_undone(tmp_path: Path) -> None:
    home = tmp_path / "hardwon"
    fill(home, home / "hardwon.db", tmp_path / "sessions")
    with Hardwon(home) as memory:
        project = memory.store.projects()[0].id
        told = [line.id for line in memory.bootstrap(project).lines if line.kind == "failure"]
        assert told

        def at_the_error() -> object:
            with closing(read.connect(str(home / "hardwon.db"))) as db:
                return read.known_failure(db, told[0], project)

        assert at_the_error()
        with pytest.raises(NotFound):
            memory.failures.mute([told[0], "F0"])
        (event,) = memory.failures.mute(told[:1], why="it is noise")
        assert memory.failures.mute(told[:1]) == []
        lessons = {one.id: one.failure for one in memory.lessons.list(project=project)}
        assert told[0] not in {lessons.get(line.id, line.id) for line in memory.bootstrap(project).lines}
        assert at_the_error() is None
        memory.review.undo(event)
        assert told[0] in {line.id for line in memory.bootstrap(project).lines}
        with pytest.raises(NotAllowed):
            memory.review.undo(event)
        assert [one.action for one in memory.review.history(told[0])] == ["mute", "undo"]


def test_a_rejected_fix_is_told_by_no_lesson_either_though_another_fix_stays(tmp_path: Path) -> None:
    remedies = ("make deps", "make deps", "uv sync", "uv sync", "uv sync")
    for day, remedy in enumerate(remedies, 1):
        one = ClaudeSession(f"s-{day}", day=day).user("test it")
        one.run("pytest -q", "ModuleNotFoundError: No module named 'tidelib'", exit_code=1)
        one.run(remedy, "done").run("pytest -q", "3 passed").says("ok").write(tmp_path)
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest(sorted(tmp_path.glob("*.jsonl")), mine=True)
        (failure,) = memory.failures.list()
        wrong = next(fix.id for fix in failure.fixes if "uv sync" in fix.text)
        memory.review.reject(wrong)
        told = memory.bootstrap("reef").text
    assert "uv sync" not in told
    assert "make deps" in told


@pytest.mark.parametrize("days", [0, -5, 36_501])
def test_a_number_of_days_that_would_drop_everything_or_nothing_is_refused(memory: Memory, days: int) -> None:
    with pytest.raises(HardwonError):
        memory.store.purge(days)


@pytest.mark.parametrize("days", [-1, 1e9, float("nan")])
def test_a_token_is_good_for_some_time(local: Hardwon, days: float) -> None:
    with pytest.raises(NotAllowed, match="days"):
        local.store.make_token("ci", role="reader", days=days)


def test_one_outcome_may_be_named_as_well_as_several_and_one_that_is_none_is_refused(memory: Memory) -> None:
    run = f"outcomes {type(memory).__name__}"
    for outcome in (Outcome.FAILURE, Outcome.FAILURE, Outcome.SUCCESS):
        memory.journal.log(Attempt("Count the gannets", outcome=outcome, project="reef", run=run))
    journal = memory.journal
    assert [len(journal.list(outcomes=one, run=run)) for one in (Outcome.FAILURE, "failure", ["failure"])] == [2, 2, 2]
    assert len(journal.list(outcomes={"failure", Outcome.SUCCESS}, run=run)) == 3
    assert journal.list(outcomes=[], run=run) == []
    alike = journal.similar("Count the gannets", outcomes="success", project="reef")
    assert {one.attempt.outcome for one in alike} == {Outcome.SUCCESS}
    for wrong in ("lost", ["lost"]):
        with pytest.raises(NotAllowed, match="unknown outcome 'lost'; known: success, failure"):
            journal.list(outcomes=wrong)
        with pytest.raises(NotAllowed, match="unknown outcome 'lost'"):
            journal.similar("gannets", outcomes=wrong)
    with pytest.raises(NotAllowed, match="unknown outcome 'lost'"):
        journal.log(Attempt("Count the gannets", outcome="lost"))  # type: ignore[arg-type]


def test_one_name_is_taken_where_several_may_be_given(memory: Memory) -> None:
    number = memory.journal.log(Attempt("Paint the hide", files="src/hide.py", project="reef"))  # type: ignore[arg-type]
    assert memory.journal.get(number).files == ["src/hide.py"]
    assert number in {one.attempt.id for one in memory.journal.similar("paint", files="src/hide.py")}
    failure = memory.failures.list(project="reef")[0].id
    assert list(memory.failures.costs(failure)) == [failure]
    lesson = memory.lessons.add(f"Paint is green for {type(memory).__name__}.", project="reef")
    memory.review.edit(lesson, tags="paint")
    assert memory.lessons.get(lesson).lesson.tags == ("paint",)


def test_an_attempt_is_opened_by_its_number_and_by_the_id_that_a_search_finds(memory: Memory) -> None:
    word = f"cormorants{type(memory).__name__}"
    number = memory.journal.log(Attempt(f"Ring the {word}", outcome=Outcome.FAILURE, project="reef"))
    id = memory.search(word, type="attempt").hits[0].id
    found = memory.journal.get(number)
    assert (found.id, found.key) == (number, id)
    assert [memory.journal.get(name) for name in (str(number), id)] == [found, found]
    memory.journal.reflect(id, f"{word} bite.")
    again = memory.journal.log(Attempt(f"Ring the {word} again", retry_of=id, project="reef"))
    assert memory.journal.get(again).retry_of == number
    for name in (number, str(number), id):
        memory.lessons.feedback(name, helped=True)
        assert [event.action for event in memory.review.history(name)].count("helped") in (1, 2, 3)
    memory.store.forget(again)
    for name in (again, str(again), "A00", "999999999999999999999"):
        with pytest.raises(NotFound):
            memory.journal.get(name)
    with pytest.raises(HardwonError, match="attempt"):
        memory.journal.log(Attempt("Ring nothing", retry_of="A00", project="reef"))


def told(memory: Memory, project: str) -> str:
    return memory.bootstrap(project, budget=4000).text


def test_what_a_person_makes_global_is_told_everywhere_and_what_they_confine_nowhere_else(memory: Memory) -> None:
    who = type(memory).__name__
    id = memory.lessons.add(f"Dredge on Mondays, says {who}.", project="reef")
    assert f"says {who}" in told(memory, "reef")
    assert f"says {who}" not in told(memory, "kelp")
    event = memory.review.edit(id, scope="global")
    found = memory.lessons.get(id).lesson
    assert (found.scope, found.project) == ("global", "")
    assert f"says {who}" in told(memory, "reef")
    assert f"says {who}" in told(memory, "kelp")
    assert id in [one.id for one in memory.lessons.list(project="kelp")]
    with pytest.raises(NotAllowed, match="needs a project"):
        memory.review.edit(id, scope="project")
    memory.review.edit(id, scope="project", project="kelp")
    assert f"says {who}" not in told(memory, "reef")
    assert f"says {who}" in told(memory, "kelp")
    with pytest.raises(NotFound):
        memory.review.edit(id, project="nowhere")
    later = memory.review.history(id)[-1].number
    assert later > event
    memory.review.undo(later)
    assert memory.lessons.get(id).lesson.scope == "global"
    memory.review.archive(id)


def test_hooks_tell_it_where_it_belongs_now(tmp_path: Path) -> None:
    def standing(memory: Hardwon) -> set[str]:
        rows = memory.reading().query(
            "SELECT DISTINCT p.name FROM standing s JOIN project p ON p.id = s.project WHERE s.item = ?", (id,)
        )
        return {name for (name,) in rows}

    with Hardwon(tmp_path / "home") as memory:
        for project in ("reef", "kelp"):
            memory.store.add_project(project)
        id = memory.lessons.add("Dredge on Mondays.", project="reef")
        assert standing(memory) == {"reef"}
        event = memory.review.edit(id, scope="global")
        assert standing(memory) == {"reef", "kelp"}
        memory.review.edit(id, scope="project", project="kelp")
        assert standing(memory) == {"kelp"}
        memory.review.undo(memory.review.history(id)[-1].number)
        memory.review.undo(event)
        assert standing(memory) == {"reef"}
        memory.review.edit(id, scope="agent", agent="codex")
        memory.store.export(tmp_path / "notes")


def test_a_contradiction_is_noticed_when_a_lesson_is_added_promoted_edited_or_brought_back(tmp_path: Path) -> None:
    with Hardwon(tmp_path / "home") as memory:

        def disputed() -> list[list[str]]:
            return [[one.text for one in conflict.lessons] for conflict in memory.review.conflicts()]

        def add(text: str, **more: Any) -> str:
            return memory.lessons.add(text, **(more or {"project": "reef"}))

        add("Always use tabs for indentation.")
        add("Never use tabs for indentation.")
        assert disputed() == [["Always use tabs for indentation.", "Never use tabs for indentation."]]
        assert "indentation" not in told(memory, "reef")
        memory.review.keep(memory.review.conflicts()[0].lessons[1].id)
        assert "Never use tabs" in told(memory, "reef")

        port = add("The service listens on port 8080.")
        other = add("The service listens on port 9090.")
        add("The service listens on port 9090.", project="kelp")
        assert len(disputed()) == 1
        memory.review.both_stand(port)
        assert disputed() == []
        assert {port, other} <= {one.id for one in memory.bootstrap("reef").lines}

        add("Always squash commits.")
        proposed = memory.lessons.propose("Never squash commits.", project="reef")
        assert disputed() == []
        assert "contradicts" in memory.review.consider(proposed).effect
        memory.review.promote(proposed)
        assert len(disputed()) == 1
        archived = memory.review.archive(proposed)
        assert disputed() == []
        memory.review.undo(archived)
        assert len(disputed()) == 1
        memory.review.keep(proposed)

        edited = add("Deploy on Fridays.")
        add("Never deploy on Mondays.")
        memory.review.edit(edited, text="Deploy on Mondays.")
        assert len(disputed()) == 1
        memory.review.both_stand(edited)

        add("Always sign commits.", scope="global")
        add("Never sign commits.", scope="agent", agent="codex")
        assert disputed() == []
        add("Never sign commits.", scope="global")
        assert len(disputed()) == 1


def test_what_an_import_brings_is_compared_as_well(tmp_path: Path) -> None:
    with Hardwon(tmp_path / "one") as first, Hardwon(tmp_path / "two") as second:
        first.lessons.add("Never moor at the pier.", project="reef")
        second.lessons.add("Always moor at the pier.", project="reef")
        with (tmp_path / "dump").open("wb") as out:
            first.store.dump(out)
        second.store.load(tmp_path / "dump", trusted=True)
        assert len(second.review.conflicts()) == 1
        assert "pier" not in told(second, "reef")


def test_a_value_that_cannot_be_is_refused_in_a_sentence(memory: Memory) -> None:
    id = memory.lessons.add("Buoys are numbered from the north.", project="reef")
    change: Any = memory.review.edit
    add: Any = memory.lessons.add
    for wrong in (2, -0.1, float("nan"), "high"):
        with pytest.raises(HardwonError) as refused:
            change(id, confidence=wrong)
        assert "CHECK" not in str(refused.value)
        with pytest.raises(NotAllowed):
            add("Buoys are painted.", project="reef", confidence=wrong)
    with pytest.raises(NotAllowed):
        change(id, kind="rule")
    with pytest.raises(NotAllowed, match="nothing to change"):
        change(id)
    for wrong in ({"kind": "rule"}, {"status": "foo"}):
        with pytest.raises(NotAllowed):
            memory.lessons.list(**wrong)
        with pytest.raises(NotAllowed):
            memory.search("buoys", **wrong)
    assert memory.lessons.get(id).lesson.confidence == 1.0


def test_a_connection_that_is_busy_in_another_thread_says_what_to_do(tmp_path: Path) -> None:
    with Hardwon(tmp_path / "home") as memory:
        db = memory.writing()
        told: list[BaseException] = []

        def other() -> None:
            try:
                db.query("SELECT 1")
            except StoreError as error:
                told.append(error)

        connection: Any = db
        slow = (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30000000) SELECT count(*) FROM n"
        )
        busy = threading.Thread(target=lambda: connection.query(slow))
        busy.start()
        while busy.is_alive() and not told:
            other()
        busy.join()
    assert told
    assert "busy in another thread" in str(told[0])


def test_a_client_without_a_token_says_so() -> None:
    for token in ("", "  ", "a\nb"):
        with pytest.raises(BadConfig, match="token"):
            connect("http://127.0.0.1:9", token)


def test_a_document_is_found_by_the_name_that_it_was_added_under(memory: Memory) -> None:
    name = f"charts {type(memory).__name__}"
    id = memory.documents.add(name, "The chart of the reef is old.", project="reef")
    assert memory.documents.get(name).document.id == id
    memory.documents.remove(name)
    with pytest.raises(NotFound):
        memory.documents.get(name)


def test_a_file_that_is_taken_in_again_without_a_project_stays_where_it_is(local: Hardwon, tmp_path: Path) -> None:
    (tmp_path / "runbook.md").write_text("Ring the bell twice.")
    local.documents.ingest(tmp_path / "runbook.md", project="reef")
    local.documents.ingest(tmp_path / "runbook.md")
    found = local.documents.get(str(tmp_path / "runbook.md")).document
    assert found.project == local.project("reef")


def test_what_a_person_rejected_is_not_proposed_again(memory: Memory) -> None:
    words = f"Terns nest on the roof of {type(memory).__name__}."
    id = memory.lessons.propose(words, project="reef")
    memory.review.reject(id)
    assert memory.lessons.propose(words, project="reef") == id
    assert memory.lessons.get(id).lesson.status == "invalid"
    assert memory.lessons.list(project="reef", status="rejected") == memory.lessons.list(
        project="reef", status="invalid"
    )


def test_the_type_checker_knows_every_public_name_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(
        "from hardwon import Harwdon\nfrom hardwon import Hardwon, Kind\n\n"
        "def keep(memory: Hardwon, kind: Kind) -> str:\n    return memory.lessons.add('x', kind=kind, project='reef')\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "snippet.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    said = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert [line.partition(": error: ")[0] for line in said] == ["snippet.py:1"]
