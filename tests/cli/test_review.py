"""A person decides with single keys in a real terminal, or with options; everything is on record."""

from __future__ import annotations

import json
import os
import pty
import re
import select
from pathlib import Path

import pytest

from hardwon import Hardwon, SimilarLesson
from hardwon.recall import minilm
from hardwon.serve import browse
from tests.conftest import ClaudeSession, Run
from tests.forked import COMMANDS
from tests.sessions.test_specstory_layouts import HEAD, asked, turn
from tests.terminal import on_a_terminal

CLAIMS = (
    "Keep the parser in Rust rather than in Go.",
    "Store all times in UTC, never in local time.",
    "Use `sqlite` for the cache rather than redis.",
)


@pytest.fixture
def waiting(home: Path, tmp_path: Path) -> list[str]:
    """Three claims of agents, and a directive that one of them is like."""
    sessions = [
        ClaudeSession(f"s{day}", day=day).user("plan").says(f"## Decisions\n- {claim}")
        for day, claim in enumerate(CLAIMS, start=1)
    ]
    sessions.append(ClaudeSession("s9", day=9).user("Always use `sqlite` for the cache of tests").says("ok"))
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path) for session in sessions])
        return [entry.lesson.id for entry in memory.review.queue()]


class Terminal:
    """`hardwon review` on a pseudo-terminal, driven by what it shows."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        streams = [os.ttyname(theirs)] * 3
        self._process = COMMANDS.start("review", *arguments, streams=streams, env=environment)
        os.close(theirs)
        self._seen = ""

    def until(self, words: str) -> str:
        """What it shows up to and with these words, from where the last look ended."""
        while words not in self._seen:
            ready, _, _ = select.select([self._ours], [], [], 20)
            assert ready, f"no '{words}' in {self._seen!r}"
            try:
                more = os.read(self._ours, 65536)
            except OSError:
                more = b""
            assert more, f"it ended without '{words}': {self._seen!r}"
            self._seen += more.decode(errors="replace")
        before, _, self._seen = self._seen.partition(words)
        return before + words

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        code = COMMANDS.ended(self._process)
        os.close(self._ours)
        return code


def statuses(home: Path) -> dict[str, str]:
    with Hardwon(home) as memory:
        return {lesson.text: lesson.status for lesson in memory.lessons.list()}


def test_keys_promote_reject_undo_skip_and_quit(home: Path, waiting: list[str]) -> None:
    terminal = Terminal()
    first = terminal.until("q quit")
    assert "1 of 3" in first
    assert "the agent said" in first
    assert "to read it: hardwon inspect S" in first  # the quote and its source
    assert "once approved, it will be told to sessions of reef" in first
    terminal.press("y")
    terminal.until("2 of 3")
    terminal.until("q quit")
    terminal.press("w")
    terminal.until("why")
    terminal.press("not so\n")
    terminal.until("3 of 3")
    terminal.until("q quit")
    terminal.press("u")
    terminal.until("2 of 3")
    terminal.until("q quit")
    terminal.press("s")
    terminal.until("3 of 3")
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("1 decided, 2 left")
    assert terminal.end() == 0
    with Hardwon(home) as memory:
        decided = [memory.lessons.get(id).lesson for id in waiting]
        history = [event.action for event in memory.review.history(waiting[1])]
    assert [lesson.status for lesson in decided] == ["active", "candidate", "candidate"]
    assert (decided[0].trust, decided[0].confidence) == ("human", 0.8)
    assert history == ["create", "reject", "undo"]


def test_a_lesson_is_edited_in_place(home: Path, waiting: list[str]) -> None:
    terminal = Terminal()
    terminal.until("q quit")
    terminal.press("e")
    terminal.until("> ")
    terminal.press("\x15Keep the parser in Rust.\n")
    terminal.until("y to approve it")
    terminal.until("q quit")
    terminal.press("y")
    terminal.until("2 of 3")
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("left")
    assert terminal.end() == 0
    assert statuses(home)["Keep the parser in Rust."] == "active"


def test_a_lesson_is_merged_into_one_like_it(home: Path, waiting: list[str]) -> None:
    terminal = Terminal("--kind", "decision")
    while "sqlite" not in terminal.until("q quit"):
        terminal.press("s")
    terminal.press("m")
    terminal.until("which number")
    terminal.press("1")
    terminal.until("merged into")
    terminal.press("q")
    terminal.end()
    found = statuses(home)
    assert found["Use `sqlite` for the cache rather than redis."] == "archived"
    with Hardwon(home) as memory:
        (target,) = [lesson for lesson in memory.lessons.list() if lesson.text.startswith("Always use `sqlite`")]
    assert target.source_count == 2


def test_decisions_by_options_are_on_record(hardwon: Run, home: Path, waiting: list[str]) -> None:
    listed = json.loads(hardwon("review", "--list", "--json").stdout)
    assert [entry["id"] for entry in listed] == waiting
    assert [entry["score"] for entry in listed] == sorted((entry["score"] for entry in listed), reverse=True)
    assert hardwon("review", "--promote", waiting[0]).returncode == 0
    assert hardwon("review", "--reject", waiting[1][:8], "--why", "no longer").returncode == 0
    with Hardwon(home) as memory:
        assert [memory.lessons.get(id).lesson.status for id in waiting] == ["active", "invalid", "candidate"]
        assert memory.review.history(waiting[1])[-1].why == "no longer"


def test_many_are_decided_by_what_they_have_in_common(hardwon: Run, home: Path, waiting: list[str]) -> None:
    assert hardwon("review", "--reject-all").returncode == 1
    done = json.loads(hardwon("review", "--reject-all", "--rule", "agent-decision", "--why", "plans", "--json").stdout)
    assert {entry["lesson"] for entry in done} == set(waiting)
    assert "candidate" not in statuses(home).values()


@pytest.mark.parametrize(("count", "word"), [(19, ""), (20, "waiting for review"), (50, "warning")])
def test_a_long_queue_is_mentioned(count: int, word: str, hardwon: Run, home: Path, tmp_path: Path) -> None:
    claims = "\n\n".join(
        f"Decision: use `tool{number}` for part {number}x rather than make." for number in range(count)
    )
    path = ClaudeSession().user("plan").says(claims).write(tmp_path)
    harvested = hardwon("harvest", path)
    with Hardwon(home) as memory:
        assert memory.review.count() == count
    assert (word in harvested.stderr) if word else ("review" not in harvested.stderr)
    assert word in hardwon("doctor").stdout


def test_every_rule_is_listed(hardwon: Run) -> None:
    rules = json.loads(hardwon("rules", "--json").stdout)
    assert {"user-directive", "fixed-by-command", "said-again"} <= {rule["name"] for rule in rules}
    assert all(rule["version"] >= 1 and rule["finds"] for rule in rules)


def test_a_harvest_explains_what_it_did_not_keep(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession().user("always restart docker for now").says("ok").user("Always use uv, never pip.")
    path = session.says("ok").write(tmp_path)
    report = json.loads(hardwon("harvest", path, "--json", "--explain").stdout)
    assert report["lessons_by_kind"] == {"preference": 1}
    assert report["by_status"] == {"active": 1}
    assert report["dropped_by_reason"] == {"about the moment": 1}
    assert report["dropped"][0]["text"] == "Always restart docker for now."


def likenesses(home: Path, folder: Path, claim: str, *known: str) -> dict[str, SimilarLesson]:
    """What the review shows beside an agent's claim, when the user laid down the others."""
    sessions = [ClaudeSession("s1").user("plan").says(f"## Decisions\n- {claim}")]
    sessions += [ClaudeSession(f"k{at}", day=at + 2).user(text).says("ok") for at, text in enumerate(known)]
    with Hardwon(home) as memory:
        memory.harvest([session.write(folder) for session in sessions])
        memory.store.reindex()
        (waiting,) = memory.review.queue()
        return {one.text: one for one in memory.review.consider(waiting.lesson.id).similar}


def test_the_opposite_is_shown_as_such(home: Path, tmp_path: Path) -> None:
    found = likenesses(home, tmp_path, "Never mock `db.py` in tests.", "Always mock `db.py` in tests.")
    assert [one.relation for one in found.values()] == ["opposite"]


@pytest.mark.skipif(not minilm.installed(), reason="the extra `semantic` is not installed")
def test_what_says_the_same_in_other_words_is_shown_with_how_near_it_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_FUSION_WEIGHT", "0.5")
    known = "We decided to keep the cache in `sqlite` rather than in redis."
    found = likenesses(home, tmp_path, "Use `sqlite` for the cache rather than redis.", known)
    assert found[known].meaning > 0.8


@pytest.fixture
def contradicting(home: Path, tmp_path: Path) -> dict[str, str]:
    """The user said one thing and later the opposite; an agent says what the user does not want."""
    sessions = [
        ClaudeSession("c1", day=1).user("Always use tabs in Makefiles.").says("ok"),
        ClaudeSession("c2", day=2).user("Never use tabs in Makefiles.").says("ok"),
        ClaudeSession("c3", day=3).user("Never use `redis` for the cache.").says("ok"),
        ClaudeSession("c4", day=4).user("plan").says("## Decisions\n- Always use `redis` for the cache."),
    ]
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path) for session in sessions])
        return {lesson.text: lesson.id for lesson in memory.lessons.list()}


def told(home: Path) -> str:
    with Hardwon(home) as memory:
        return memory.bootstrap(memory.store.projects()[0].id).text


def test_of_a_contradiction_one_is_kept_and_that_can_be_taken_back(home: Path, contradicting: dict[str, str]) -> None:
    assert "Makefiles" not in told(home)
    terminal = Terminal()
    first = terminal.until("q quit")
    assert "contradiction 1 of 1" in first
    assert first.index("Always use tabs") < first.index("Never use tabs")
    assert re.search(r"user said, \d+ \w+ ago: “", first)
    assert "1 keep  2 keep  b keep both  " in first
    terminal.press("9")
    assert "  2: keep that lesson and retire the others\r\n" in terminal.until("q quit"), "it has no third lesson"
    terminal.press("2")
    terminal.until("1 of 1")  # the candidate
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("1 decided, 1 left")
    assert terminal.end() == 0
    assert "Never use tabs in Makefiles" in told(home)
    with Hardwon(home) as memory:
        assert memory.lessons.get(contradicting["Always use tabs in Makefiles."]).lesson.status == "superseded"
        assert memory.review.conflicts() == []


def test_undo_puts_a_contradiction_back(home: Path, contradicting: dict[str, str], tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        more = ClaudeSession("c5", day=5).user("Always sort the imports.").says("ok")
        other = ClaudeSession("c6", day=6).user("Never sort the imports.").says("ok")
        memory.harvest([more.write(tmp_path), other.write(tmp_path)])
    terminal = Terminal()
    terminal.until("q quit")
    terminal.press("1")
    terminal.until("2 of 2")
    terminal.until("q quit")
    terminal.press("u")
    terminal.until("1 of 2")
    terminal.until("q quit")
    terminal.press("b")
    terminal.until("2 of 2")
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("1 decided, 2 left")
    assert terminal.end() == 0
    assert "superseded" not in statuses(home).values()
    with Hardwon(home) as memory:
        assert len(memory.review.conflicts()) == 1


def test_contradictions_by_options(hardwon: Run, home: Path, contradicting: dict[str, str]) -> None:
    assert "contradict each other" in hardwon("doctor").stdout
    (conflict,) = json.loads(hardwon("review", "--conflicts", "--json").stdout)
    assert [lesson["text"] for lesson in conflict["lessons"]] == [
        "Always use tabs in Makefiles.",
        "Never use tabs in Makefiles.",
    ]
    assert "Never use tabs" in hardwon("review", "--conflicts").stdout
    kept = conflict["lessons"][0]["id"]
    assert hardwon("review", "--keep", kept[:9], "--why", "it must be so").returncode == 0
    assert hardwon("review", "--conflicts", "--json").stdout.strip() == "[]"
    assert "Always use tabs" in told(home)
    again = hardwon("review", "--keep", kept)
    assert (again.returncode, "contradicts nothing" in again.stderr) == (1, True)


def test_what_is_promoted_against_a_lesson_that_is_believed_silences_both_until_one_is_kept(
    home: Path, contradicting: dict[str, str]
) -> None:
    claim, rule = (
        contradicting["Always use `redis` for the cache."],
        contradicting["Never use `redis` for the cache."],
    )
    assert "redis" in told(home)
    with Hardwon(home) as memory:
        assert "it contradicts" in memory.review.consider(claim).effect
        event = memory.review.promote(claim)
    assert "redis" not in told(home)
    with Hardwon(home) as memory:
        memory.review.undo(event)
    assert "Never use `redis`" in told(home)  # a candidate silences nothing
    with Hardwon(home) as memory:
        memory.review.promote(claim)
        memory.review.keep(rule)
        assert memory.lessons.get(claim).lesson.status == "superseded"
    assert "Never use `redis`" in told(home)


@pytest.mark.parametrize("key", ["\x1b[B", "\x1b[3~", "\x1bOQ", "\x1bOS", "é", "ß"])
def test_a_key_that_is_no_letter_of_ours_decides_nothing(key: str, home: Path, contradicting: dict[str, str]) -> None:
    terminal = Terminal()
    terminal.until("q quit")
    terminal.press(key)
    terminal.press("u")
    terminal.until("nothing to undo")
    terminal.press("q")
    terminal.until("0 decided, 2 left")
    assert terminal.end() == 0


def test_what_cannot_be_seen_is_not_sent_to_the_terminal(home: Path, tmp_path: Path) -> None:
    claim = (
        "Use \x1b[31m`make evil`\x1b[0m rather than `make good`\u202e dna\u202c\x1b]0;title\x07 and \u200bnever tell."
    )
    path = ClaudeSession().user("plan").says(f"## Decisions\n- {claim}").write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path])
    terminal = Terminal()
    page = terminal.until("q quit")
    assert "make evil" in page
    assert not any(mark in page for mark in ("\x1b[31m", "\u202e", "\u202c", "\u200b", "\x1b]0;", "\x07"))
    terminal.press("q")
    terminal.until("left")
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("y", "approved"),
        ("n", "rejected"),
        ("w\n", "rejected"),
        ("e\x15Use files.\n", "changed"),
        ("m1", "merged into"),
    ],
)
def test_every_decision_can_be_taken_back(keys: str, shown: str, home: Path, waiting: list[str]) -> None:
    def all_of_it() -> list[tuple[str, str, str, int]]:
        with Hardwon(home) as memory:
            return sorted((one.text, one.status, one.trust, one.source_count) for one in memory.lessons.list())

    before = all_of_it()
    terminal = Terminal()
    page = terminal.until("q quit")
    terminal.press("x")
    helped = terminal.until("q quit")
    assert "  y: sessions will be told\r\n" in helped
    assert "1 of 3" not in helped, "what the keys do, and not the page again"
    while "sqlite" not in page:
        terminal.press("s")
        page = terminal.until("q quit")
    terminal.press(keys[0])
    if len(keys) > 1:
        terminal.until({"w": "why", "e": "> ", "m": "which number"}[keys[0]])
        terminal.press(keys[1:])
    terminal.until(shown)
    assert all_of_it() != before
    terminal.press("u")  # it may have been the last one
    terminal.until("undone")
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("0 decided")
    assert terminal.end() == 0
    assert all_of_it() == before


def test_in_a_pipe_review_lists(home: Path, waiting: list[str], hardwon: Run) -> None:
    done = hardwon("review")
    assert done.returncode == 0
    assert done.stdout == hardwon("review", "--list").stdout
    assert "To decide: `hardwon review` in a terminal" in done.stdout


def test_a_reason_can_be_left_and_corrected(home: Path, waiting: list[str]) -> None:
    terminal = Terminal()
    terminal.until("q quit")
    terminal.press("w")
    terminal.until("Escape to go back")
    terminal.press("half a reas\x1b[Don")
    terminal.until("reason")
    terminal.press("\x1b")
    assert "1 of 3" in terminal.until("q quit")
    terminal.press("y")
    assert "2 of 3" in terminal.until("q quit"), "the keys are keys again"
    terminal.press("w")
    terminal.until("Escape to go back")
    terminal.press("wrong\x15gone stalé\x7fe\n")
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("2 decided, 1 left")
    assert terminal.end() == 0
    with Hardwon(home) as memory:
        assert [event.why for event in memory.review.history(waiting[1])][-1] == "gone stale"


def test_typed_sentences_are_gone_through_with_the_same_keys_and_undo(home: Path, tmp_path: Path, hardwon: Run) -> None:
    rules = ["Make sure to run `make lint` on every change of the schema", "Use `tar` for the charts, not `zip`"]
    session = ClaudeSession().user("look at the reef").says("It is done.")
    for rule in rules:
        session.user(rule).says("Done.")
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)], mine=True)
        first, second = [one.text for one in memory.review.said()]
    terminal = Terminal("--said")
    assert first in terminal.until("q quit")
    terminal.press("y")
    assert second in terminal.until("q quit")
    assert statuses(home)[first] == "active"
    terminal.press("w")
    terminal.until("why")
    terminal.press("of that chart only\n")
    terminal.until("that was the last one")
    assert statuses(home)[second] == "invalid"
    terminal.press("u")
    terminal.until("undone")
    assert second in terminal.until("q quit")
    terminal.press("u")
    terminal.until("undone")
    assert first in terminal.until("q quit")
    assert statuses(home) == {}, "what was taken back leaves nothing but its history"
    assert "no longer used" not in hardwon("lessons").stdout
    assert "; 0 lessons; " in hardwon("harvest", "--all").stdout
    with Hardwon(home) as memory:
        (one,) = memory.sessions.list()
        assert (browse.taught(memory, [one.id]), browse.marks(memory, one.id)) == ({}, [])
        assert memory.bootstrap("reef").left_out == ()
    assert "Lessons drawn from it: none" in hardwon("why", one.id).stdout
    terminal.press("n")
    terminal.until("2 of 2")
    terminal.until("q quit")
    terminal.press("s")
    terminal.until("that was the last one")
    terminal.press("q")
    terminal.until("1 decided, 1 left")
    assert terminal.end() == 0
    assert [one["text"] for one in json.loads(hardwon("review", "--said", "--json").stdout)] == [second]


def test_a_typed_sentence_is_shown_with_what_stood_around_it_and_can_be_changed(
    home: Path, tmp_path: Path, hardwon: Run
) -> None:
    """What `option B` is stands in the message before."""
    rule = "Make sure to run `make lint` on every change of the schema"
    session = ClaudeSession().user("look at the reef").says("Option B runs the linter.")
    session.user(f"Good. {rule}. Then go on with the chart.").says("Done.")
    hardwon("harvest", "--mine", session.write(tmp_path))
    terminal = Terminal("--said")
    page = " ".join(terminal.until("q quit").split())
    assert "the agent had said: “Option B runs the linter.”" in page
    assert "in: “Good. […] Then go on with the chart.”" in page, "not the sentence again"
    assert "y: keep it as a preference and tell it to sessions of reef" in page
    assert re.search(r"to read it: hardwon inspect S\w+ --message 2", page)
    terminal.press("e")
    terminal.until("> ")
    terminal.press("\x15Run `make lint` after a change of the schema.\n")
    terminal.until("approved in these words")
    terminal.press("q")
    terminal.until("1 decided, 0 left")
    assert terminal.end() == 0
    assert statuses(home) == {"Run `make lint` after a change of the schema.": "active"}
    assert hardwon("review", "--said", "--list").stdout == "No typed sentence is waiting.\n"


def test_every_sentence_that_waits_is_counted_and_fragments_come_last(home: Path, tmp_path: Path, hardwon: Run) -> None:
    """A number that is a cap would be the same again after all of it was decided."""
    session = ClaudeSession().user("look at the reef").says("ok")
    for at in range(60):
        session.user(f"Use `chart{at}` for the maps of harbour number {at * 7}, not `zip{at}`").says("Done.")
    session.user("That as a rule, we want to keep all charts in modules, not in one file").says("Done.")
    session.user("Use `chart3` for the maps now, this time, not `zip`").says("Done.")
    hardwon("harvest", "--mine", session.write(tmp_path))
    waiting = [one["text"] for one in json.loads(hardwon("review", "--said", "--json").stdout)]
    assert len(waiting) == 62
    assert {text.partition(" ")[0] for text in waiting[:60]} == {"Use"}
    assert {"this time" in text or text.startswith("That") for text in waiting[60:]} == {True}
    assert "pick rules from 20 sentences" in hardwon("up").stdout
    assert "42 less likely ones are left out" in hardwon("review", "--said", "--list").stdout


def test_of_one_message_two_sentences_come_first_and_what_was_pasted_last(
    home: Path, tmp_path: Path, hardwon: Run
) -> None:
    def rules(name: str, many: int) -> str:
        return "\n".join(
            f"- Use `{name}{at}` for maps of harbour number {at * 7}, not `zip{at}`." for at in range(many)
        )

    session = ClaudeSession().user("look at the reef").says("ok").user(rules("pasted", 18)).says("Done.")
    session.user(rules("several", 4)).says("Done.").user(rules("alone", 1)).says("Done.")
    hardwon("harvest", "--mine", session.write(tmp_path))
    waiting = [one["text"] for one in json.loads(hardwon("review", "--said", "--json").stdout)]
    of = [re.findall(r"several|alone|pasted", text)[0] for text in waiting]
    assert sorted(of[:3]) == ["alone", "several", "several"]
    assert of[3:5] == ["several"] * 2
    assert set(of[5:]) == {"pasted"}


def test_the_sentences_are_told_of_beside_the_lessons_that_wait(home: Path, tmp_path: Path, hardwon: Run) -> None:
    rule = "Make sure to run `make lint` on every change of the schema"
    hardwon("harvest", "--mine", ClaudeSession().user("plan").says("ok").user(rule).says("Done.").write(tmp_path))
    hardwon("remember", "Use files rather than a server.", "--candidate", "--project", "reef")
    said = hardwon("up").stdout
    assert "decide on 1 lesson\n" in said
    assert "pick rules from 1 sentence of yours" in said
    terminal = Terminal()
    terminal.until("q quit")
    terminal.press("q")
    terminal.until("1 sentence of yours that may be a rule: `hardwon review --said`")
    assert terminal.end() == 0


def test_a_typed_sentence_that_is_no_rule_waits_no_more_until_that_is_undone(
    home: Path, tmp_path: Path, hardwon: Run
) -> None:
    rule = "Make sure to run `make lint` on every change of the schema"
    hardwon("harvest", "--mine", ClaudeSession().user("look").says("ok").user(rule).says("Done.").write(tmp_path))
    (waiting,) = json.loads(hardwon("review", "--said", "--json").stdout)
    done = hardwon("review", "--drop-said", waiting["id"]).stdout
    assert "rejected" in done
    assert json.loads(hardwon("review", "--said", "--json").stdout) == []
    assert "make lint" not in hardwon("bootstrap", "--project", "reef").stdout
    hardwon("undo", done.rpartition("hardwon undo ")[2].strip("`\n."))
    assert [*statuses(home).values()] == ["candidate"], "not told, but asked about again"


def test_a_heading_that_a_command_may_have_printed_is_called_that_and_no_command_is_named(
    home: Path, tmp_path: Path, hardwon: Run
) -> None:
    """The user typed it between two texts of the agent in fences: nobody can tell it from one that was printed."""
    rule = "always keep the rules in the `docs/rules` folder"
    text = HEAD + asked("write a rule") + turn("Here:\n\n```markdown\n# Tides\n```") + asked(rule)
    (tmp_path / "history.md").write_text(text + turn("", "```markdown\n# Tides, in docs/rules\n```"))
    with Hardwon(home) as memory:
        memory.harvest([tmp_path / "history.md"], mine=True)
        (waits,) = memory.review.queue()
    assert waits.lesson.trust == "untrusted", "it is not believed by itself"
    why = "a command may have printed the user's heading above these words"
    terminal = Terminal()
    said = " ".join(terminal.until("q quit").split())
    assert "the user, or a command's output under the user's heading, said in these very words" in said
    assert "had printed" not in said
    terminal.press("q")
    terminal.end()
    session, message = re.findall(r"inspect (S\w+) --message (\d+)", said)[0]
    assert f"perhaps the user ({why}):" in hardwon("inspect", session, "--message", message).stdout


def test_of_many_sentences_the_best_come_first_and_skipped_ones_come_back_last(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody goes through hundreds: it asks after twenty, begins with the project here, and remembers what was left."""
    here = tmp_path / "lagoon"
    here.mkdir()
    letters = "abcdefghijklmnopqrstuvwxy"
    other = ClaudeSession("other").user("look at it").says("Done.")
    for letter in letters:
        other.user(f"Use `tool_{letter * 3}` for the {letter * 4} charts, not `zip_{letter * 3}`").says("Done.")
    of_here = ClaudeSession("here", cwd=str(here)).user("look at it").says("Done.")
    of_here.user("Make sure to run `make lint` on every change of the schema").says("Done.")
    with Hardwon(home) as memory:
        memory.harvest([other.write(tmp_path), of_here.write(tmp_path)], mine=True)
        assert memory.review.count_said() == len(letters) + 1
    monkeypatch.chdir(here)
    terminal = Terminal("--said")
    first = terminal.until("q quit")
    assert "1 of 20, then 6 less likely ones" in first
    assert "make lint" in first, "this folder's project comes first"
    for _ in range(19):
        terminal.press("s")
        terminal.until("q quit")
    terminal.press("s")
    terminal.until("6 less likely ones are left: g to go on")
    terminal.press("g")
    assert "21 of 26" in terminal.until("q quit")
    terminal.press("q")
    assert terminal.end() == 0
    with Hardwon(home) as memory:
        assert [one.skipped for one in memory.review.said()] == [False] * 6 + [True] * 20
    terminal = Terminal("--said")
    assert "make lint" not in terminal.until("q quit")
    terminal.press("q")
    assert terminal.end() == 0


def test_what_up_advises_for_a_project_is_counted_in_it_and_names_it(
    home: Path, tmp_path: Path, waiting: list[str], hardwon: Run
) -> None:
    lagoon = ClaudeSession("lagoon", cwd="/srv/work/lagoon").user("plan").says(f"## Decisions\n- {CLAIMS[0]}")
    lagoon.run("tide fill", "fatal: no gauge found", exit_code=2)
    lagoon.user("Make sure to run `make lint` on every change of the schema").says("Done.")
    hardwon("harvest", "--mine", lagoon.write(tmp_path))
    assert f"decide on {len(waiting) + 1} lessons of all projects\n" in hardwon("up").stdout
    said = " ".join(hardwon("up", "-p", "lagoon").stdout.partition("Next:")[2].split())
    assert "hardwon failures -p lagoon everything" in said
    assert "hardwon review -p lagoon decide on 1 lesson" in said
    assert "hardwon review --said -p lagoon pick rules from 1 sentence" in said


def test_fixes_that_wait_are_counted_and_listed_as_why_offers_them(hardwon: Run, tmp_path: Path) -> None:
    for name, step in (("a", "docker start tides"), ("b", "ebb --now")):  # the second may be chance
        session = ClaudeSession(name).run(f"tide post --{name}", f"Error: the gauge {name} is dry", exit_code=1)
        session.run(step, "ok").run(f"tide post --{name}", "ok").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs", "--mine")
    (fix,) = [one for one in json.loads(hardwon("review", "--list", "--json").stdout) if one["kind"] == "fix"]
    assert (fix["text"], fix["untrusted"]) == ("run `docker start tides`", "seen once, and the error does not name it")
    assert "run `docker start tides`" in hardwon("review", "--list").stdout
    assert "Waiting for review: 1 fix (`hardwon review --everywhere`)." in hardwon("status").stdout
    assert re.search(r"hardwon review +decide on 1 fix\n", hardwon("up").stdout)
    known = {one["command"]: one for one in json.loads(hardwon("failures", "--json").stdout)}
    hidden = known["tide post --b"]
    assert len(hidden["fixes"]) == 1
    told = hardwon("why", hidden["id"]).stdout
    assert "1 more thing that may have worked by chance" in told
    assert "ebb --now" not in told
    assert "may have helped once: run `ebb --now`" in hardwon("why", hidden["id"], "--all").stdout
    assert hardwon("review", "--approve", fix["id"]).returncode == 0
    assert not [one for one in json.loads(hardwon("review", "--list", "--json").stdout) if one["kind"] == "fix"]


def a_fix_that_waits(folder: Path, project: str) -> Path:
    error = f"Error: the gauge of {project} is dry"
    session = ClaudeSession(project, cwd=str(folder / project)).run("tide post", error, exit_code=1)
    return session.run("docker start tides", "ok").run("tide post", "ok").write(folder / "logs")


def test_the_fixes_that_wait_are_gone_through_with_the_same_keys_after_the_lessons(
    hardwon: Run, home: Path, tmp_path: Path
) -> None:
    hardwon("harvest", "--mine", a_fix_that_waits(tmp_path, "reef"))
    hardwon("remember", "Use files rather than a server.", "--candidate", "--project", "reef")
    (fix,) = [one for one in json.loads(hardwon("review", "--json").stdout) if one["kind"] == "fix"]

    def status() -> str:
        with Hardwon(home) as memory:
            ((found,),) = memory.reading().query("SELECT status FROM fix WHERE id = ?", (fix["id"],))
            return str(found)

    terminal = Terminal()
    assert "1 of 2   " in terminal.until("q quit")
    terminal.press("s")
    page = terminal.until("q quit")
    assert f"2 of 2   fix   {fix['id'][:9]}" in page
    assert "may have helped: run `docker start tides`" in page
    assert "not told because: seen once, and the error does not name it" in page
    assert re.search(
        r"failed +\w+ message \d+: \$ tide post\s.*passed +\w+ message \d+: \$ tide post\s", page, re.DOTALL
    )
    assert "e edit" not in page, "only a lesson has words of its own"
    assert "m merge" not in page
    for key, then in (("y", "active"), ("n", "rejected")):
        terminal.press(key)
        terminal.until("that was the last one")
        assert status() == then
        terminal.press("u")
        terminal.until("undone")
        terminal.until("q quit")
        assert status() == "candidate"
    terminal.press("y")
    terminal.until("that was the last one")
    terminal.press("q")
    terminal.until("1 decided, 1 left")
    assert terminal.end() == 0
    assert status() == "active"


def test_review_is_of_this_folders_project_alone_and_says_so(
    hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in ("reef", "lagoon"):
        (tmp_path / project).mkdir()
        hardwon("harvest", "--mine", a_fix_that_waits(tmp_path, project))
        hardwon("remember", f"Use files of {project}.", "--candidate", "--project", project)
    monkeypatch.chdir(tmp_path / "lagoon")
    here = hardwon("review", "--list")
    assert ("lagoon" in here.stdout, "reef" in here.stdout) == (True, False)
    assert "Only lagoon. All projects: `--everywhere`" in here.stdout
    terminal = Terminal()
    assert "1 of 2" in terminal.until("q quit")
    terminal.press("q")
    terminal.until("All projects: `--everywhere`")
    assert terminal.end() == 0
    everywhere = hardwon("review", "--list", "--everywhere")
    assert ("lagoon" in everywhere.stdout, "reef" in everywhere.stdout) == (True, True)
    assert "Only lagoon" not in everywhere.stdout
    assert len(json.loads(hardwon("review", "--json").stdout)) == 4


def test_the_list_of_what_waits_says_how_to_decide_with_an_id_of_it_at_every_width(
    hardwon: Run, tmp_path: Path
) -> None:
    hardwon("harvest", "--mine", a_fix_that_waits(tmp_path, "reef"))
    for columns in (80, 100, 200):
        seen = " ".join(on_a_terminal("review", "--list", columns=columns, lines=50).split())
        (id,) = set(re.findall(r"X\w{8}", seen))
        assert "seen once, and the error does not name it" in seen, "the reason to decide by"
    said = hardwon("review", "--list").stdout
    assert f"`hardwon review --approve {id}`, `--reject {id}`" in said
    assert f"`hardwon why {id}`" in said
    lesson = "Use files rather than a server for the gauges of the northern reef."
    hardwon("remember", lesson, "--candidate", "--project", "reef")
    lessons, heading, *_ = on_a_terminal("review", "--list").split("\n")
    assert lessons.strip() == "1 lesson:"
    assert ("PROJECT" in heading, "TRUST" in heading) == (True, False), "whose it is matters more"
    assert "untrusted" not in on_a_terminal("review", "--list", columns=200), "no word that accuses"
    assert "1 fix:" in said_of_all(on_a_terminal("review", "--list"))


def said_of_all(screen: str) -> str:
    return " ".join(screen.split())


def test_the_list_of_what_waits_names_the_sentences_too_and_those_of_one_project_name_it_not(
    hardwon: Run, tmp_path: Path
) -> None:
    hardwon("harvest", "--mine", a_fix_that_waits(tmp_path, "reef"))
    session = ClaudeSession("typed", cwd=str(tmp_path / "reef")).user("look at the reef").says("ok")
    for at in range(20):
        session.user(f"Use `chart{at}` for the maps of harbour number {at * 7}, not `zip{at}`").says("Done.")
    hardwon("harvest", "--mine", session.write(tmp_path / "logs"))
    assert "20 sentences of yours that may be a rule: `hardwon review --said`" in hardwon("review", "--list").stdout
    seen = on_a_terminal("review", "--said", "--list")
    assert 15 < len(seen.strip().split("\n")) < 24, "with what is said below"
    assert "PROJECT" not in seen
    piped = hardwon("review", "--said", "--list")
    assert len(piped.stdout.strip().partition("\n\n")[0].split("\n")) == 21
    assert "`--drop-said ID`" in piped.stdout


def test_why_of_a_session_tells_what_failed_what_worked_and_what_was_learned(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession("a").run("tide post", "Error: the gauge is dry", exit_code=1)
    session.run("docker start tides", "ok").run("tide post", "ok").user("Always use `uv` for the gauges").says("ok")
    for number in range(6):
        session.run(f"make part{number}", f"fatal: no tag of {'abcdef'[number]}-reef found", exit_code=2)
    hardwon("harvest", "--mine", session.write(tmp_path / "logs"))
    (fix,) = [one for one in json.loads(hardwon("review", "--json").stdout) if one["kind"] == "fix"]
    (lesson,) = [one for one in json.loads(hardwon("lessons", "--json").stdout) if "`uv`" in one["text"]]
    id = json.loads(hardwon("why", fix["failure"], "--json").stdout)["seen"][0]["session"]
    said = hardwon("why", id[:9]).stdout
    assert " in reef, " in said.split("\n")[0]
    assert f"What failed:\n    {fix['failure'][:9]}  " in said, "first what was mended"
    assert f"\n    {fix['id'][:9]}    may have helped once: run `docker start tides`\n" in said
    assert f"\n    {lesson['id'][:9]}  {lesson['text']}\n" in said
    assert said.count("-reef found") == 4
    assert f"all 7: `hardwon why {id[:9]} --all`" in said
    assert hardwon("why", id, "--all").stdout.count("-reef found") == 6
    long = ClaudeSession("long").run("make all", f"fatal: {' '.join(f'word{at}' for at in range(40))}", exit_code=2)
    hardwon("harvest", "--mine", long.write(tmp_path / "logs"))
    (known,) = [one for one in json.loads(hardwon("failures", "--json").stdout) if "word1" in one["error"]]
    of = json.loads(hardwon("why", known["id"], "--json").stdout)["seen"][0]["session"]
    (row,) = [line for line in on_a_terminal("why", of).split("\n") if known["id"][:9] in line]
    assert row.startswith(f"    {known['id'][:9]}  ")
    assert row.endswith(" …")
    assert len(row) <= 80, "a row a line"


def test_a_fix_of_calls_that_only_got_past_the_error_takes_two_sessions(hardwon: Run, tmp_path: Path) -> None:
    broken = "Tides.cs(3,7): error CS0103: The name 'rows' does not exist in the current context"
    for number, status in ((1, "candidate"), (2, "active")):
        session = ClaudeSession(f"s{number}").run("cd /c/reef && dotnet build", "cannot find the path", exit_code=1)
        session.run("dotnet build", broken, exit_code=1).write(tmp_path / "logs")
        hardwon("harvest", tmp_path / "logs", "--mine")
        known = next(one for one in json.loads(hardwon("failures", "--json").stdout) if "path" in one["error"])
        assert [(fix["text"], fix["status"]) for fix in known["fixes"]] == [
            ("leave out `cd /c/reef` where that folder is not found", status)
        ]
    assert re.search(r"got past +\w+ message \d+: \$ dotnet build", hardwon("why", known["id"]).stdout)


def test_an_id_that_begins_several_fixes_says_what_failed(hardwon: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        session = ClaudeSession(name).run(f"tide post --{name}", f"Error: the gauge {name} is dry", exit_code=1)
        session.run("docker start tides", "ok").run(f"tide post --{name}", "ok").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    said = hardwon("why", "X").stderr
    assert "the gauge a is dry)" in said
    assert "()" not in said


def test_a_fix_that_waits_shows_the_call_that_passed_where_the_reason_is_in_it(hardwon: Run, tmp_path: Path) -> None:
    refused = "Error: unknown option: --yes"
    session = ClaudeSession("s1").run("tide gauges rm reef --yes", refused, exit_code=1)
    session.run('echo "y" | tide gauges rm reef', "removed").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs", "--mine")
    listed = " ".join(hardwon("review", "--list").stdout.split())
    assert 'what passed was `echo "y" | tide gauges rm reef`' in listed


def test_what_is_pasted_decides_nothing(hardwon: Run, home: Path) -> None:
    hardwon("remember", "Use files rather than a server.", "--candidate", "--global")
    terminal = Terminal()
    terminal.until("? help")
    terminal.press("ynynynyn yes\n")
    terminal.until("? help")
    terminal.press("q")
    assert terminal.end() == 0
    with Hardwon(home) as memory:
        assert [one.status for one in memory.lessons.list()] == ["candidate"]
