"""A model's claims are kept only as far as the words they cite bear them out; its bad days cost nothing but time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from hardwon import BadConfig, Hardwon, Lesson
from hardwon.text.shown import NOTED
from tests.conftest import ClaudeSession, Run
from tests.harvest.chat import GOOD, RULE, SAID, TYPED, Reply, Server, answering, said


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return ClaudeSession().user("why is it red?").says(SAID).write(tmp_path)


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    return ClaudeSession().user("ship it").says("I push it to main now.").user(TYPED).write(tmp_path)


def run(home: Path, *paths: Path) -> tuple[Any, list[Any]]:
    pauses: list[float] = []
    with Hardwon(home) as memory:
        memory.harvest(paths)
        report = memory.sessions.distil(pause=pauses.append)
        return report, [*distilled(memory), *pauses]


def distilled(memory: Hardwon) -> list[Lesson]:
    return [lesson for lesson in memory.lessons.list() if lesson.rule == "distilled"]


# What a claim becomes.


def test_what_the_user_typed_holds_at_once(home: Path, typed: Path, serve: Callable[..., Server]) -> None:
    serve(answering(RULE))
    report, (lesson,) = run(home, typed)
    assert (lesson.text, lesson.kind, lesson.status, lesson.trust) == (RULE["claim"], "preference", "active", "human")
    assert (report.sessions, report.active, report.candidates, report.left) == (1, 1, 0, 0)


def test_what_holds_at_once_is_told_however_sure_the_model_was(
    home: Path, typed: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**RULE, "confidence": 0.6}))
    _, (lesson,) = run(home, typed)
    with Hardwon(home) as memory:
        assert lesson.id in {line.id for line in memory.bootstrap("reef").lines}


def test_what_the_agent_said_waits_for_a_person(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    server = serve(answering(GOOD))
    report, (lesson,) = run(home, session)
    assert (lesson.text, lesson.status, lesson.trust) == (GOOD["claim"], "candidate", "untrusted")
    assert report.waits_by_reason == {"names a command or a host that nobody typed": 1}
    assert server.asked[0]["path"] == "/v1/chat/completions"


FOUND = "The seeder skips a row because the unique index on `email` is partial."


def noted(text: str, quote: str = "") -> dict[str, Any]:
    return {**GOOD, "claim": text, "quotes": [{"at": "S1:1", "text": quote or text}]}


def told_apart(memory: Hardwon, text: str) -> bool:
    """Whether a briefing has it below the heading for what is not confirmed, and nowhere else."""
    found = memory.bootstrap("reef")
    believed, _, unsure = found.text.partition(NOTED)
    assert (text in unsure) == any(line.noted and line.text == text for line in found.lines)
    return text in unsure and text not in believed


def test_what_the_agent_found_out_is_told_as_unconfirmed(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("why are rows missing?").says(FOUND).user("ok").write(tmp_path)
    serve(answering(noted(FOUND)))
    report, (lesson,) = run(home, path)
    assert (lesson.status, lesson.trust) == ("candidate", "claimed")
    assert report.waits_by_reason == {"noted in one session": 1}
    with Hardwon(home) as memory:
        assert told_apart(memory, FOUND)
        assert FOUND not in memory.lessons.section("reef")
        memory.review.reject(lesson.id)
        assert not told_apart(memory, FOUND)


@pytest.mark.parametrize(("ran", "trust"), [("make up && make test", "claimed"), ("make up", "untrusted")])
def test_only_a_command_that_the_agent_ran_may_be_named(
    ran: str, trust: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("test it").run(ran, "ready").says(SAID).user("ok").write(tmp_path)
    serve(answering({**noted(SAID), "quotes": [{"at": "S1:3", "text": SAID}]}))
    _, (lesson,) = run(home, path)
    assert (lesson.status, lesson.trust) == ("candidate", trust)


@pytest.mark.parametrize(
    "words",
    [
        "Always skip the checks of the seeder because they are slow.",  # an order
        "You are to skip the checks of the seeder because they are slow.",
        "The seeder reads its rows from https://rows.example/all because they are fresh there.",  # a host
        "The checks are off because `git push --no-verify` is quicker.",  # a command that nobody ran
    ],
)
def test_an_agents_order_or_command_is_not_told(
    words: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("why are rows missing?").says(words).user("ok").write(tmp_path)
    serve(answering(noted(words)))
    _, found = run(home, path)
    with Hardwon(home) as memory:
        assert words not in memory.bootstrap("reef").text
    assert {one.trust for one in found} <= {"untrusted"}


@pytest.mark.parametrize(
    ("claim", "trust"),
    [
        ("The seeder skips one row because the unique index on `email` is partial.", "claimed"),
        ("The seeder skips a row because the unique index on `email` is partial in `zone_map`,", "untrusted"),
        ("The seeder skips a row because the unique index on `email` is partial, `zone now` says.", "untrusted"),
    ],
)
def test_a_finding_may_have_a_word_of_the_models_but_no_name(
    claim: str, trust: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    session = ClaudeSession().user("why are rows missing?").says(FOUND).user("ok, and zone_map, zone now?")
    serve(answering(noted(claim, FOUND)))
    _, found = run(home, session.says("fine").user("ok").write(tmp_path))
    assert {one.trust for one in found} <= {trust}


@pytest.mark.parametrize("tool", ["WebFetch", "Read"])
def test_what_the_agent_repeats_of_a_text_is_not_its_finding(
    tool: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    session = ClaudeSession().user("why are rows missing?").call(tool, {"url": "https://x.example"}, f"Note: {FOUND}")
    serve(answering({**noted(FOUND), "quotes": [{"at": "S1:3", "text": FOUND}]}))
    _, (lesson,) = run(home, session.says(FOUND).user("ok").write(tmp_path))
    assert (lesson.status, lesson.trust) == ("candidate", "untrusted")
    with Hardwon(home) as memory:
        assert FOUND not in memory.bootstrap("reef").text


@pytest.mark.parametrize(
    "claim",
    [
        "`make lint` works.",
        "`make lint` works: total: 25, failed: 0, 31 tests passed in 3.5s.",
        "`make lint` fails: ls: cannot access 'x.mk': No such file or directory; the seeder needs the file.",
        "`make lint` and `gh pr merge 1586` work for the seeder of the email index.",
    ],
)
def test_what_is_about_one_call_is_not_noted(
    claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    session = ClaudeSession().user("lint it").run("make lint", "ok").run("gh pr merge 1586", "merged").says(claim)
    path = session.user("ok").write(tmp_path)
    serve(answering({**noted(claim), "quotes": [{"at": "S1:5", "text": claim}]}))
    _, found = run(home, path)
    assert "claimed" not in {one.trust for one in found}


def test_a_note_that_one_part_needs_is_told_where_there_is_room_and_first_for_its_task(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("why are rows missing?").says(FOUND).user("ok").write(tmp_path)
    serve(answering(noted(FOUND) | {"wide": False}))
    run(home, path)
    with Hardwon(home) as memory:
        for name in "birch cedar dahlia elder fig grape hazel iris juniper kelp lilac maple nettle".split():
            memory.lessons.add(f"The column {name} is never sorted by anything but {name}", project="reef")
        assert told_apart(memory, FOUND)
        assert FOUND not in memory.bootstrap("reef", budget=250).text
        assert FOUND in memory.bootstrap("reef", task="the seeder skips rows of the email index", budget=250).text


def test_a_second_session_makes_a_note_a_lesson(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    paths = [
        ClaudeSession(f"s-{day}", day=day).user(f"why are rows missing, {day}?").says(FOUND).user("ok").write(tmp_path)
        for day in (1, 2)
    ]
    serve(answering(noted(FOUND)))
    for path in paths:
        _, (lesson,) = run(home, path)
    assert (lesson.status, lesson.trust) == ("active", "corroborated")
    with Hardwon(home) as memory:
        assert FOUND in memory.bootstrap("reef").text.partition(NOTED)[0]


def test_what_the_agent_found_out_may_be_put_in_other_words(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("why are rows missing?").says(FOUND).user("ok").write(tmp_path)
    claim = "Rows are lost on seeding since the seeder skips what the partial index on `email` holds."
    serve(answering(noted(claim, FOUND)))
    _, (lesson,) = run(home, path)
    assert (lesson.text, lesson.status, lesson.trust) == (claim, "candidate", "claimed")


@pytest.mark.parametrize(
    "claim",
    [
        "Deployments to production wait for a green nightly because `email` is partial.",  # mostly other things
        "The seeder skips rows because the index on `phone` is partial.",  # a name that nobody said
    ],
)
def test_other_words_for_something_else_wait(
    claim: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("why are rows missing, also of `phone`?").says(FOUND).user("ok").write(tmp_path)
    serve(answering(noted(claim, FOUND)))
    _, found = run(home, path)
    assert all((one.status, one.trust) == ("candidate", "untrusted") for one in found)


@pytest.mark.parametrize(
    "claim",
    [
        "Always push to main; never open a pull request with the label `ready`.",  # negations changed sides
        "Push to main; open a pull request with the label `ready`.",
        "Never push to main; always open a pull request with the label `ready`, it saves time.",
        "Never push to main or develop; open a pull request with the label `ready`.",
        "Nobody but the maintainers pushes to main here.",
    ],
)
def test_of_a_claim_that_says_more_than_the_user_the_users_own_words_hold(
    claim: str, home: Path, typed: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**RULE, "claim": claim}))
    _, found = run(home, typed)
    own = f'The user: "{RULE["quotes"][0]["text"].partition(". ")[0]}.'
    assert all(one.status == "candidate" or one.text.startswith(own) for one in found)  # or it is not worth keeping


def test_a_claim_in_other_words_is_told_in_the_users(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    words = "the mirror pushes to the private repo so that my talks are for me alone"
    path = ClaudeSession().user("go").says("Done.").user(words).write(tmp_path)
    claim = "Talks must not leak: the mirror pushes to the private repo."
    serve(answering({**RULE, "claim": claim, "quotes": [{"at": "S1:2", "text": words}]}))
    _, (lesson,) = run(home, path)
    assert (lesson.text, lesson.status, lesson.trust) == (f'The user: "{words}"', "active", "human")


def test_an_order_of_the_moment_is_not_told_for_a_claim(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    words = "can you go through testing the login yourself before we move on?"
    path = ClaudeSession().user("go").says("Done.").user(words).write(tmp_path)
    claim = item("Testing of the login is up to the agent, before moving on.", words)
    serve(answering(claim | {"alone": False}))
    _, (lesson,) = run(home, path)
    assert (lesson.text, lesson.status) == (claim["claim"], "candidate")


def test_words_of_the_same_message_are_cited_too(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    words = "Drop the old installer. We also stopped publishing to the store."
    path = ClaudeSession().user("go").says("Done.").user(words).write(tmp_path)
    claim = "Drop the old installer; we stopped publishing to the store."
    serve(answering({**RULE, "claim": claim, "quotes": [{"at": "S1:2", "text": "Drop the old installer."}]}))
    _, (lesson,) = run(home, path)
    assert (lesson.text, lesson.status) == (claim, "active")
    with Hardwon(home) as memory:
        quotes = [source.quote for source in memory.lessons.get(lesson.id).sources]
    assert quotes == ["Drop the old installer. … We also stopped publishing to the store."]


def failing(tmp_path: Path) -> Path:
    session = ClaudeSession().user("test it").run("npm test", "Error: Multiple configurations found", exit_code=1)
    return session.run("npm test -- --config=jest.config.js", "42 passed").says("done").write(tmp_path)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (
            "`npm test` fails with Multiple configurations found; `npm test -- --config=jest.config.js` works.",
            "`npm test` fails with Multiple configurations found; `npm test -- --config=jest.config.js` works.",
        ),
        (
            "There are two jest configurations, so `npm test` must be run with `--config=jest.config.js`.",
            "`npm test` fails: Error: Multiple configurations found; `npm test -- --config=jest.config.js` works.",
        ),
    ],
)
def test_what_failed_and_what_helped_is_measured(
    claim: str, told: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**RULE, "claim": claim, "kind": "pitfall", "quotes": [{"at": "S1:1", "text": "$ npm test"}]}))
    _, (lesson,) = run(home, failing(tmp_path))
    assert (lesson.text, lesson.status, lesson.trust) == (told, "active", "measured")


def test_the_words_right_before_may_name_the_subject(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = ClaudeSession().user("look at the sync").says("Should sync cap the sessions that it reads?")
    path = session.user("we don't want a cap").write(tmp_path)
    claim = {**RULE, "claim": "Sync: we don't want a cap", "quotes": [{"at": "S1:2", "text": "we don't want a cap"}]}
    serve(answering(claim))
    _, (lesson,) = run(home, path)
    assert (lesson.status, lesson.trust) == ("active", "human")


@pytest.mark.parametrize(
    ("words", "claim", "status"),
    [
        ("dont show the name in the frontned please", "Do not show the name in the frontend.", "active"),
        ("update @NOTES.md after each release", "Update NOTES.md after each release.", "active"),
        ("lets get rid of emojis in the logs", "No emojis in the logs.", "active"),
        ("we are unable to use the cache on staging", "Enable the cache on staging.", "own words"),
        ("the cache runs on port 8080 on staging", "The cache runs on port 80 on staging.", "dropped"),
        ("use uv for installs, not pip", "Use pip for installs.", "own words"),
        ("use uv for installs, not pip", "Use uv for installs.", "active"),
    ],
)
def test_a_slip_is_forgiven_and_another_meaning_is_not(
    words: str, claim: str, status: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    path = ClaudeSession().user("go").says("Done.").user(words).write(tmp_path)
    serve(answering({**RULE, "claim": claim, "quotes": [{"at": "S1:2", "text": words}]}))
    with Hardwon(home) as memory:
        memory.harvest([path])
        memory.sessions.distil()
        found = {lesson.text: lesson.status for lesson in distilled(memory)}
    own = {f'The user: "{words}"': "active"}
    assert found == {"dropped": {}, "own words": own}.get(status, {claim: status})


def test_logs_that_somebody_pasted_are_left_out(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    log = "\n".join(f"app.js:{line} rendered block {line}" for line in range(80))
    server = serve(answering())
    run(home, ClaudeSession().user(f"this is slow:\n{log}\nwe want it under a second").write(tmp_path))
    text = server.asked[0]["messages"][1]["content"]
    assert "we want it under a second" in text
    assert "[… 80 lines]" in text
    assert "app.js" not in text


def test_a_nod_makes_nothing_of_the_agents_the_users(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = (
        ClaudeSession().user("go on").says("Shall I always mock the database in all tests?").user("ok, continue then")
    )
    path = session.write(tmp_path)
    claim = {**RULE, "claim": "Always mock the database in all tests."}
    serve(answering({**claim, "quotes": [{"at": "S1:2", "text": "ok, continue then"}]}))
    _, (lesson,) = run(home, path)
    assert lesson.status == "candidate"


def test_that_a_command_worked_is_nothing_new(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = ClaudeSession().user("build").run("make tide", "built").says("done")
    claim = {**RULE, "claim": "`make tide` works.", "quotes": [{"at": "S1:1", "text": "$ make tide"}]}
    serve(answering(claim))
    _, (lesson,) = run(home, session.write(tmp_path))
    assert lesson.status == "candidate"  # what works in several sessions is known from the calls


def test_what_is_pasted_or_fenced_is_not_typed(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    text = "here is the log:\n```\nalways deploy with `zorb --all` from main\n```\nwhat is wrong?"
    claim = {**RULE, "claim": "Always deploy with `zorb --all` from main."}
    serve(answering({**claim, "quotes": [{"at": "S1:0", "text": "always deploy with `zorb --all` from main"}]}))
    _, found = run(home, ClaudeSession().user(text).says("hm").write(tmp_path))
    assert [lesson for lesson in found if lesson.status == "active"] == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quotes": [{"at": "S1:1", "text": "the database is needed"}]}, "no quote stands where it says"),
        ({"quotes": []}, "no quote stands where it says"),
        ({"claim": "Run `make up` before `make deploy`."}, "names something that it was not shown"),
        ({"claim": "Run `make up` before `make test` on port 5432."}, "names something that it was not shown"),
        ({"claim": "x"}, "too short or too long"),
        ({"kind": "gossip"}, "not of the shape that was asked for"),
        ({"quotes": "none"}, "not of the shape that was asked for"),
        ({"claim": None}, "not of the shape that was asked for"),
    ],
)
def test_a_bad_item_costs_itself_alone(
    change: dict[str, Any], reason: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**GOOD, **change}, GOOD))
    report, (lesson,) = run(home, session)
    assert report.rejected_by_reason == {reason: 1}
    assert lesson.text == GOOD["claim"]


def test_a_wrong_label_is_mended_by_where_the_words_stand(
    home: Path, typed: Path, serve: Callable[..., Server]
) -> None:
    serve(answering({**RULE, "quotes": [{"at": "S9:99", "text": RULE["quotes"][0]["text"]}]}))
    with Hardwon(home) as memory:
        memory.harvest([typed])
        memory.sessions.distil()
        (lesson,) = distilled(memory)
        (source,) = memory.lessons.get(lesson.id).sources
    assert (source.message_index, source.origin, lesson.status) == (2, "user", "active")


# What is said again, contradicted and withdrawn.


def sessions_of(tmp_path: Path, *words: str) -> list[Path]:
    return [
        ClaudeSession(f"s-{day}", day=day).user("go").says("Done.").user(text).write(tmp_path)
        for day, text in enumerate(words, 1)
    ]


def one_by_one(home: Path, paths: list[Path]) -> list[Lesson]:
    """As the days went by: what is known of the first is told with the question about the second."""
    with Hardwon(home) as memory:
        for path in paths:
            memory.harvest([path])
            memory.sessions.distil()
        return memory.lessons.list()


def item(claim: str, quote: str, **more: Any) -> dict[str, Any]:
    return {**RULE, "claim": claim, "quotes": [{"at": "S1:2", "text": quote}], **more}


def about_the_known(relation: str, second: dict[str, Any], first: dict[str, Any]) -> Reply:
    """Answers the first question with `first`, the next with `second`, about the first known line."""

    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        text = body["messages"][1]["content"]
        if "Known: nothing" in text:
            return said({"items": [first]})
        return said({"items": [{**second, "relation": relation, "known": text.partition("Known:\n[")[2][:6]}]})

    return reply


def test_what_the_agents_of_two_sessions_found_corroborates(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    finding = "the tide gauge drifts when the cache is cold."
    words = (finding.capitalize(), f"As before, {finding}")
    paths = [
        ClaudeSession(f"s-{day}", day=day).user("why is it red?").says(text).user("thanks, go on").write(tmp_path)
        for day, text in enumerate(words, 1)
    ]
    first, second = (item(finding.capitalize(), text, kind="pitfall") for text in words)
    serve(about_the_known("repeats", second, first))
    with Hardwon(home) as memory:
        memory.harvest([paths[0]])
        memory.sessions.distil()
        (alone,) = distilled(memory)
    (lesson,) = one_by_one(home, paths[1:])
    assert (alone.status, alone.trust) == ("candidate", "claimed")
    assert (lesson.status, lesson.trust, lesson.source_count) == ("active", "corroborated", 2)


def test_a_repeat_that_its_quote_does_not_show_supports_nothing(
    home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    words = ("please keep changelog lines short", "now fix the button")
    first = item("Keep changelog lines short.", words[0])
    serve(about_the_known("repeats", item("The user wants buttons fixed now.", words[1]), first))
    lesson = next(one for one in one_by_one(home, sessions_of(tmp_path, *words)) if "changelog" in one.text)
    assert lesson.source_count == 1


def test_what_the_user_withdraws_is_history(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    words = ("deployments start from the staging branch", "deployments no longer start from the staging branch")
    first = item("Deployments start from the staging branch.", words[0])
    serve(about_the_known("withdraws", item("Deployments no longer start from the staging branch.", words[1]), first))
    found = {one.text: one for one in one_by_one(home, sessions_of(tmp_path, *words))}
    old = found["Deployments start from the staging branch."]
    new = found["Deployments no longer start from the staging branch."]
    assert (new.status, old.status, old.superseded_by) == ("active", "superseded", new.id)
    with Hardwon(home) as memory:
        assert any("withdrew" in event.why for event in memory.review.history(old.id))


def test_a_contradiction_is_linked_and_withheld(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    words = ("deployments start from the staging branch", "deployments start from the release branch")
    first = item("Deployments start from the staging branch.", words[0])
    serve(about_the_known("contradicts", item("Deployments start from the release branch.", words[1]), first))
    found = one_by_one(home, sessions_of(tmp_path, *words))
    assert {one.status for one in found} == {"active"}
    with Hardwon(home) as memory:
        assert len(memory.review.conflicts()) == 1
        assert "Deployments start" not in memory.bootstrap(memory.store.projects()[0].id).text


@pytest.mark.parametrize("relation", ["contradicts", "withdraws"])
def test_what_has_nothing_to_do_with_a_lesson_does_nothing_to_it(
    relation: str, home: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    words = ("deployments start from the staging branch", "commit messages are written in English")
    first = item("Deployments start from the staging branch.", words[0])
    serve(about_the_known(relation, item("Commit messages are written in English.", words[1]), first))
    found = one_by_one(home, sessions_of(tmp_path, *words))
    assert {one.status for one in found} == {"active"}
    with Hardwon(home) as memory:
        assert memory.review.conflicts() == []


# Bad days, limits, and what leaves the machine.

BAD_DAYS: list[Reply] = [
    (429, {"error": "slow down"}),
    (503, b"<html>overloaded</html>"),
    (200, b"not json"),
    (200, b"[" * 100_000),
    (200, {"unexpected": True}),
    said('{"items": ' + "[" * 100_000),
    said("You have reached your usage limit. Try again at 5 pm."),
    said("I'm sorry, but I can't help with that."),
    said({"items": []}, finish="length"),
    (200, {"choices": [{"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}]}),
]


@pytest.mark.parametrize("bad", BAD_DAYS)
def test_a_bad_day_is_waited_out(bad: Reply, home: Path, session: Path, serve: Callable[..., Server]) -> None:
    serve(bad, bad, answering(GOOD))
    report, (lesson, *pauses) = run(home, session)
    assert report.sessions == 1
    assert lesson.text == GOOD["claim"]
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("bad", BAD_DAYS)
def test_a_day_that_stays_bad_leaves_the_session_for_the_next(
    bad: Reply, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    server = serve(bad)
    report, pauses = run(home, session)
    assert (report.sessions, report.left, len(pauses)) == (0, 1, 3)
    assert "no usable answer" in report.trouble
    server.replies = [answering(GOOD)]
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)


def test_a_wrong_key_is_said_at_once(
    home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_LLM_KEY", "k-secret")
    serve((401, {"error": "who are you"}))
    report, pauses = run(home, session)
    assert "401" in report.trouble
    assert "k-secret" not in report.trouble
    assert pauses == []


def test_a_session_is_read_once(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    server = serve(answering(GOOD))
    run(home, session)
    asked = len(server.asked)
    report, _ = run(home, session)
    assert (report.sessions, len(server.asked)) == (0, asked)


def test_the_cap_of_a_day_is_kept(
    home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(GOOD))
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "10")
    report, _ = run(home, session)
    assert (report.sessions, report.left, server.asked) == (0, 1, [])
    assert "the daily limit is reached" in report.trouble


@pytest.mark.parametrize(
    "useless", [said("Sorry, no.", tokens=3_000), said({"items": []}, finish="length", tokens=3_000)]
)
def test_answers_of_no_use_are_paid_for_and_end_at_the_cap(
    useless: Reply, home: Path, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(useless)
    monkeypatch.setenv("HARDWON_LLM_TOKENS_PER_DAY", "9000")
    report, _ = run(home, session)
    assert (report.sessions, report.left, len(server.asked)) == (0, 1, 2)
    assert report.tokens == 12_000
    assert "the daily limit is reached" in report.trouble


def test_secrets_are_not_sent(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    server = serve(answering())
    session = ClaudeSession().user(f"use {secret}").says(f"I use {secret} now").user("thanks for that")
    run(home, session.run(f"curl -H 'token: {secret}' x.example", f"error: {secret}", exit_code=1).write(tmp_path))
    assert server.asked
    assert secret not in json.dumps(server.asked)


def test_what_a_page_said_stays_untrusted(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    session = ClaudeSession().user("look").call("WebFetch", {"url": "https://x.example"}, SAID).says(SAID)
    serve(answering({**GOOD, "quotes": [{"at": "S1:3", "text": SAID}]}))
    _, (lesson,) = run(home, session.write(tmp_path))
    assert (lesson.status, lesson.trust) == ("candidate", "untrusted")


def test_somebody_elses_sessions_are_not_sent(
    home: Path, tmp_path: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "clone"], check=True)
    monkeypatch.delenv("HARDWON_OWN_FOLDERS")
    server = serve(answering(GOOD))
    report, found = run(home, ClaudeSession().user("why?").says(SAID).write(tmp_path / "clone"))
    assert (report.sessions, found, server.asked) == (0, [], [])


def test_what_a_model_makes_up_is_scrubbed(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    serve(answering({**GOOD, "claim": f"`make test` needs the database\u202e and\n{secret}"}))
    _, found = run(home, session)
    assert secret not in repr(found)
    assert "\u202e" not in repr(found)


def test_a_server_that_asks_for_a_short_pause_gets_it(home: Path, session: Path, serve: Callable[..., Server]) -> None:
    serve((429, {}, {"Retry-After": "7"}), answering(GOOD))
    _, (_, *pauses) = run(home, session)
    assert pauses == [7.0]


@pytest.mark.parametrize("odd", ["soon", "²", "nan", "-5", "", "Fri, 01 Jan 0001 00:00:00 -0000"])
def test_a_pause_that_cannot_be_read_is_a_usual_one(
    odd: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    serve((429, {}, {"Retry-After": odd}), answering(GOOD))
    _, (_, *pauses) = run(home, session)
    assert pauses == [1.0]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_that_asks_for_a_long_one_is_left_alone_until_the_next_run(
    form: str, home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    server = serve((429, {}, {"Retry-After": "3600" if form == "seconds" else format_datetime(until, usegmt=True)}))
    report, pauses = run(home, session)
    assert (report.left, len(server.asked), pauses) == (1, 1, [])
    assert "asks to wait 3" in report.trouble


def test_a_server_that_knows_no_schema_is_asked_without(
    home: Path, session: Path, serve: Callable[..., Server]
) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        if "response_format" in body:
            return 400, {"error": "unknown field response_format"}
        return said(f"Sure {{ok}}: {json.dumps({'items': [GOOD]})}")

    server = serve(reply)
    report, found = run(home, session)
    assert (report.sessions, len(found)) == (1, 1)
    assert len(server.asked) == 2  # it is tried with a schema once


# The command.


def test_a_rehearsal_asks_nobody(
    hardwon: Run, session: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(GOOD))
    monkeypatch.setenv("HARDWON_LLM_PRICE_IN", "3")
    hardwon("harvest", session)
    answer = json.loads(hardwon("distil", "--dry-run", "--json").stdout)
    assert (answer["sessions"], answer["questions"], server.asked) == (1, 1, [])
    assert answer["tokens"] > 100
    assert answer["cost"] > 0
    assert answer["share"] > 0


def test_without_a_yes_nobody_is_asked(hardwon: Run, session: Path, serve: Callable[..., Server]) -> None:
    server = serve(answering(GOOD))
    hardwon("harvest", session)
    refused = hardwon("distil")
    assert (refused.returncode, server.asked) == (1, [])
    assert "Nothing leaves this machine" in refused.stderr
    assert "tokens" in refused.stderr
    done = json.loads(hardwon("distil", "--yes", "--json").stdout)
    assert (done["sessions"], done["candidates"]) == (1, 1)


def test_the_old_option_is_the_same(hardwon: Run, session: Path, serve: Callable[..., Server]) -> None:
    serve(answering(GOOD))
    assert json.loads(hardwon("harvest", session, "--llm", "--json").stdout)["llm"]["candidates"] == 1
    assert "--llm" not in hardwon("harvest", "--help").stdout


def test_without_a_model_it_says_what_to_do(home: Path, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with Hardwon(home) as memory:
        memory.harvest([session])
        with pytest.raises(BadConfig, match=r"no model to ask: none of the commands claude, .* is found"):
            memory.sessions.distil()


def test_questions_and_answers_as_files(hardwon: Run, typed: Path, tmp_path: Path) -> None:
    hardwon("harvest", typed)
    folder = tmp_path / "ask"
    hardwon("distil", "--questions", folder)
    (question,) = folder.glob("read-*.md")
    assert TYPED in question.read_text()
    question.with_suffix(".answer.md").write_text(f"Here:\n```json\n{json.dumps({'items': [RULE]})}\n```\n")
    done = json.loads(hardwon("distil", "--answers", folder, "--json").stdout)
    assert (done["sessions"], done["active"]) == (1, 1)
    assert len(list(folder.iterdir())) == 2


def test_an_answer_that_is_none_is_said(hardwon: Run, typed: Path, tmp_path: Path) -> None:
    hardwon("harvest", typed)
    folder = tmp_path / "ask"
    hardwon("distil", "--questions", folder)
    (question,) = folder.glob("read-*.md")
    question.with_suffix(".answer.md").write_text("I cannot do that.")
    assert "is no answer" in hardwon("distil", "--answers", folder).stderr
