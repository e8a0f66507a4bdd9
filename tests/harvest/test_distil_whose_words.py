"""A claim in the model's words is told as noted where they are the user's and the agent's, who had them first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from hardwon.harvest.distil.claims import affirmed, names_in
from hardwon.harvest.distil.deciding import _heads
from hardwon.harvest.trust import first_said
from hardwon.sessions.reader import read
from hardwon.text.shown import NOTED
from tests.conftest import ClaudeSession
from tests.harvest.chat import GOOD, Server, answering
from tests.harvest.conftest import serve as serve  # noqa: PLC0414

PLAN = "# Plan\n\nEpic 1 needs the profiles, the secret store and the base settings of epic 6."


def _item(claim: str, quotes: Sequence[tuple[str, str]], kind: str = "decision") -> dict[str, Any]:
    return {**GOOD, "claim": claim, "kind": kind, "quotes": [{"at": at, "text": text} for at, text in quotes]}


def _noted(home: Path, one: ClaudeSession, item: dict[str, Any], tmp_path: Path, serve: Callable[..., Server]) -> bool:
    serve(answering(item))
    with Hardwon(home) as memory:
        memory.harvest([one.write(tmp_path)])
        memory.sessions.distil(pause=lambda _: None)
        text = memory.bootstrap("reef", budget=4000).text
    return item["claim"] in text.partition(NOTED)[2]


def test_a_choice_is_told_with_what_was_offered_and_not_by_its_bare_words(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    offer = "Either a foundation epic holds the baseline setup, or the first story of epic 1 gets a minimal one."
    claim = "The user chose a foundation epic for the baseline setup over a minimal one in the first story of epic 1."
    one = ClaudeSession().user("check the plan").says(offer).user("I prefer the foundation epic")
    item = _item(claim, [("S1:2", "I prefer the foundation epic"), ("S1:1", offer)]) | {"alone": True}
    assert _noted(home, one, item, tmp_path, serve)


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        (
            "execute somente o teste que falhou, se passar dê a suíte como aprovada",
            "Quando um teste falha, o usuário quer executar somente o que falhou e, se passar, tudo vale.",
        ),
        (
            "je veux bien le nuage dès la première version, mais anonymisé",
            "L'utilisateur veut le nuage dès la première version, pourvu que tout soit anonymisé.",
        ),
    ],
    ids=["Portuguese", "French"],
)
def test_the_words_of_telling_are_free_in_every_language(
    said: str, claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    one = ClaudeSession().user("anda").says("Feito.").user(said)
    item = _item(claim, [("S1:2", said)], "preference") | {"alone": False}
    assert _noted(home, one, item, tmp_path, serve)


def test_counts_and_durations_that_a_command_printed_may_be_named(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    one = ClaudeSession().user("run the tests with 6 workers").run("pytest -n 6 tests/e2e", "22 passed in 21m13s")
    found = "The tests of the whole workflow run with 6 workers."
    claim = "The tests of the whole workflow run with 6 workers: `pytest -n 6 tests/e2e`, 22 tests in 21m13s."
    item = _item(claim, [("S1:3", found), ("S1:1", "$ pytest -n 6 tests/e2e")], "workflow")
    assert _noted(home, one.says(found).user("ok"), item, tmp_path, serve)


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("I want to see the totals on the page", "The page shows no totals to whoever wants to see it."),
        ("don't show the totals on the page", "The page is to show the totals to whoever opens it."),
    ],
)
def test_what_is_turned_round_is_not_noted(
    said: str, claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    one = ClaudeSession().user("tidy it").says("Done.").user(said)
    assert not _noted(home, one, _item(claim, [("S1:2", said)]), tmp_path, serve)


@pytest.mark.parametrize(
    "claim",
    [
        "The user wants the report tidy, sorted and short, and its rows come by way of the zorbling cache.",
        "The report is tidy, sorted and short since the zorbling cache holds its rows.",
    ],
)
def test_a_rare_word_out_of_a_file_is_not_carried_along_by_words_that_the_user_typed(
    claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    read = "The rows of a tidy, sorted and short report come by way of the zorbling cache, which holds them."
    said = "the report should be tidy, sorted and short, with all of its rows"
    one = ClaudeSession().user("look around").call("Read", {"file_path": "/repo/NOTES.md"}, read).says("Done.")
    item = _item(claim, [("S1:4", said)])
    assert not _noted(home, one.user(said), item, tmp_path, serve)


@pytest.mark.parametrize("host", ["mirror.example", "mirror dot example", "`pip install report-cache`"])
def test_a_host_or_an_installer_out_of_a_file_is_not_carried_along_either(
    host: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    read = f"The rows of the report come from {host}, the cache of the team."
    said = "the report should be tidy, sorted and short, with all of its rows and the totals of the whole year"
    claim = f"The report is to be tidy, sorted and short, with the totals of the year; its rows come from {host}."
    one = ClaudeSession().user("look around").call("Read", {"file_path": "/repo/NOTES.md"}, read).says("Done.")
    assert not _noted(home, one.user(said), _item(claim, [("S1:4", said)]), tmp_path, serve)


def test_a_word_belongs_to_whoever_had_it_first(tmp_path: Path) -> None:
    one = ClaudeSession().user("why is it red?").says("I look into `pool.py`.")
    one = one.call("Read", {"file_path": "/repo/NOTES.md"}, "The lagoon is shallow.").says(
        "The lagoon is shallow, no coral."
    )
    one = one.user("make the reef larger").user("```\nsomebody's kelp\n```\nsee above")
    session = read(one.write(tmp_path)).sessions[0]
    wanted = frozenset("red pool.py lagoon coral reef kelp absent".split())
    said, heard = first_said(session, wanted, len(session.messages) - 1)
    assert (said, heard) == ({"red", "pool.py", "coral", "reef"}, {"lagoon", "kelp"})


@pytest.mark.parametrize(
    ("claim", "heads"),
    [
        (
            "The gauge must be read with `tide $(ebb now)` before each seeding (slow).",
            ["`tide $(ebb now)` before each seeding."],
        ),
        ("The seeder is slow; the partial index of the table of gauges in the northern reef is the cause of it.", []),
    ],
)
def test_of_a_claim_that_is_cut_commands_stay_whole_and_half_of_its_words(claim: str, heads: list[str]) -> None:
    found = _heads(claim)
    assert len(found) == len(heads)
    assert all(one.endswith(end) for one, end in zip(found, heads, strict=True))


def test_a_file_that_the_user_named_by_its_end_may_be_told_by_its_whole_path(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    listed = "docs/planning/tides.md\ndocs/planning/tides-check.md"
    asked = "Is the plan docs/planning/tides.md or docs/planning/tides-check.md?"
    one = ClaudeSession().user("plan it").run("ls docs/planning", listed).says(asked).user("use tides.md")
    claim = "The user wants `docs/planning/tides.md` to be used as the plan."
    assert _noted(home, one, _item(claim, [("S1:4", "use tides.md"), ("S1:3", asked)]), tmp_path, serve)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Invoke-DotNetPublish has one step.", ["Invoke-DotNetPublish"]),
        ("planejar antes de implementá-las", []),
        ("PowerShell and TypeScript are used.", []),
        ("The version is 1.4.1-pre.3.", ["1.4.1-pre.3"]),
        ("Plans lie in docs/planning/.", ["docs/planning"]),
        ("Run it with --watch.", ["--watch"]),
    ],
)
def test_names_are_whole_and_nothing_else_is_one(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("said", "wanted"), [("does it not respect the flag?", True), ("it does not respect the flag", False)]
)
def test_a_question_with_not_in_it_denies_nothing(said: str, wanted: bool) -> None:
    assert ("respect" in affirmed(said)) is wanted


def test_a_file_that_the_agent_worked_on_is_its_own_wherever_it_had_the_name_from(tmp_path: Path) -> None:
    one = ClaudeSession().user("go on").run("ls src", "tides.py\nreef.py").edit("src/tides.py", "x = 1").user("ok")
    (session,) = read(one.write(tmp_path)).sessions
    said, heard = first_said(session, frozenset(("tides.py", "reef.py")), len(session.messages) - 1)
    assert (said, heard) == ({"tides.py"}, {"tides.py", "reef.py"})
