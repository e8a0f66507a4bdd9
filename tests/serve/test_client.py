"""`Hardwon.connect`: the facade's verbs against a real service give what the facade itself gives."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.api.remote import Remote
from hardwon.errors import BadConfig, HardwonError, NotAllowed, NotFound
from hardwon.model.attempt import Attempt
from hardwon.model.interaction import Interaction
from hardwon.model.outcome import Outcome
from hardwon.model.wire import microseconds
from tests.serve.service import Service, environment, fill, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    fill(folder / "hardwon", folder / "hardwon" / "hardwon.db", folder / "sessions")
    with served(environment(folder / "hardwon", Path())) as running:
        yield running


@pytest.fixture
def remote(service: Service) -> Iterator[Remote]:
    with Hardwon.connect(service.address, service.token) as connected:
        yield connected


@pytest.fixture
def local(service: Service, folder: Path) -> Iterator[Hardwon]:
    with Hardwon(folder / "hardwon") as memory:
        yield memory


def test_reads_are_those_of_the_facade(remote: Remote, local: Hardwon) -> None:
    assert remote.bootstrap("reef", task="run the tests") == local.bootstrap("reef", task="run the tests")
    assert {hit.id for hit in remote.search("reefctl", project="reef")} == {
        hit.id for hit in local.search("reefctl", project="reef")
    }
    by_id = {lesson.id: lesson for lesson in local.lessons()}
    assert {lesson.id: lesson for lesson in remote.lessons()} == by_id
    id = next(iter(by_id))
    assert remote.lesson(id) == local.lesson(id)
    output = "ModuleNotFoundError: No module named 'reef_tools'"
    assert remote.recall_failure(output, project="reef") == local.recall_failure(output, project="reef")
    assert remote.projects() == sorted(local.projects(), key=lambda row: (-row[2], row[0]))
    assert remote.totals() == local.totals()
    assert remote.proof.replay(project="reef") == local.proof.replay(project="reef")
    assert {one.id for one in remote.failures()} == {row.id for row, _ in local.failures()}
    assert len(remote.sessions()) == 4
    assert remote.me().name == "first"


def test_the_journal_is_that_of_the_facade(remote: Remote, local: Hardwon) -> None:
    number = remote.journal.log_attempt(
        Attempt("Count the fish", outcome=Outcome.FAILURE, files_modified=["fish.py"], project="reef", run="c-1")
    )
    assert remote.journal.get_by_id(number) == local.journal.get_by_id(number)
    assert remote.journal.update_reflection(number, "Count twice.")
    assert not remote.journal.update_reflection(999_999, "x")
    assert remote.journal.get_by_id(999_999) is None
    assert remote.journal.recent(run="c-1") == local.journal.recent(run="c-1")
    assert remote.journal.find_similar("count the fish") == local.journal.find_similar("count the fish")
    assert [one.id for one in remote.journal.get_attempts_for_file("fish.py")] == [number]
    assert remote.journal.get_recent_failures(limit=1)[0].id is not None
    assert remote.journal.stats() == local.journal.stats()
    assert remote.journal.get_success_rate() == local.journal.get_success_rate()
    assert remote.journal.past_failures(run="c-1").lines == local.journal.past_failures(run="c-1").lines


def test_interactions_are_those_of_the_facade(remote: Remote, local: Hardwon) -> None:
    id = remote.interactions.record(Interaction(prompt="Why salt?", response="Because.", project="reef", session="x"))
    assert remote.interactions.get(id) == local.interactions.get(id)
    assert remote.interactions.get("Inone") is None
    since = microseconds(remote.interactions.get(id).created_at)
    assert remote.interactions.page(session="x", since=since) == local.interactions.page(session="x", since=since)
    assert remote.interactions.reinforce(id) == local.interactions.reinforce(id)
    assert remote.interactions.extract(id) == []


def test_decisions_are_made_and_on_record(remote: Remote) -> None:
    id = remote.proposals.remember("Herons wade.", project="reef")
    remote.proposals.feedback(id, helped=True)
    assert remote.review.promote(id, why="seen").status == "active"
    newer = remote.review.add("Herons wade at dawn.", project="reef")
    assert remote.review.edit(id, text="Herons do wade.", base_confidence=0.8).confidence == 0.8
    assert remote.review.supersede(id, newer).superseded_by == newer
    assert remote.review.restore(id).status == "active"
    assert remote.review.archive(id).status == "archived"
    assert [event.action for event in remote.review.history(id)][:2] == ["create", "helped"]
    assert remote.review.reject(remote.proposals.remember("Herons sing.", project="reef")).status == "invalid"


def test_a_dump_comes_whole(remote: Remote, tmp_path: Path) -> None:
    out = io.BytesIO()
    remote.exchange.dump(out)
    (tmp_path / "dump.jsonl").write_bytes(out.getvalue())
    with Hardwon(tmp_path / "copy") as copy:
        copy.exchange.load(tmp_path / "dump.jsonl")
        assert copy.totals()["sessions"] == 4


def test_errors_are_those_of_the_facade(remote: Remote, service: Service) -> None:
    with pytest.raises(NotFound):
        remote.lesson("Lnone")
    with pytest.raises(NotFound):
        remote.bootstrap("nowhere")
    with pytest.raises(NotAllowed):
        remote.proposals.remember("  ", project="reef")
    with Hardwon.connect(service.address, "hardwon_a_b") as stranger, pytest.raises(NotAllowed, match="token"):
        stranger.projects()


def test_a_service_that_is_not_there_is_said() -> None:
    with (
        Hardwon.connect("http://127.0.0.1:9", "hardwon_a_b") as nobody,
        pytest.raises(HardwonError, match="hardwon serve"),
    ):
        nobody.projects()


def test_a_token_is_never_sent_for_all_to_read() -> None:
    for url in ("http://memory.example.org", "ftp://memory.example.org", "memory"):
        with pytest.raises(BadConfig):
            Hardwon.connect(url, "hardwon_a_b")


def test_a_connection_that_was_closed_is_made_again(remote: Remote) -> None:
    assert remote.projects()
    remote.close()
    assert remote.projects()
