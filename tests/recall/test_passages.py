"""What was said and done in sessions is found again by a person, and by nobody else."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.harvest.walk import Log, harvest
from tests.conftest import ClaudeSession
from tests.hook.conftest import example, hook

DUBIOUS = "fatal: detected dubious ownership in repository at '/srv/work/reef'"


def proxy(name: str = "s-proxy", day: int = 3) -> ClaudeSession:
    return (
        ClaudeSession(name, day=day)
        .user("how do we set up the squid proxy for the build machines?")
        .says("I will put it into the environment file of the runner.")
        .edit("/srv/work/reef/runner.env", "HTTPS_PROXY=squid")
        .run("cat runner.env", "zebrafish in the output of a call that worked")
    )


def ownership(name: str = "s-git", day: int = 5) -> ClaudeSession:
    return (
        ClaudeSession(name, day=day)
        .user("look at the history")
        .run("git log --oneline -3", DUBIOUS, exit_code=128)
        .run("git config --global --add safe.directory /srv/work/reef", "")
        .run("git log --oneline -3", "abc")
    )


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Hardwon:
    memory = Hardwon(home)
    memory.harvest([proxy().write(tmp_path), ownership().write(tmp_path)])
    return memory


def found(memory: Hardwon, query: str) -> list[str]:
    return [hit.text for hit in memory.search(query, type="passage").passages]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("dubious ownership", "! fatal: detected dubious ownership in repository"),
        (f"{DUBIOUS}\nTo add an exception", "! fatal: detected dubious ownership in repository"),
        ("how did we set up the proxy", "> how do we set up the squid proxy for the build machines?"),
        ("environment file", "I will put it into the environment file of the runner."),
        ("safe.directory", "$ git config --global --add safe.directory /srv/work/reef"),
        ("runner.env", "~ /srv/work/reef/runner.env"),
    ],
)
def test_words_commands_errors_and_files_are_found(memory: Hardwon, query: str, says: str) -> None:
    assert says in found(memory, query)[0].splitlines()


@pytest.mark.parametrize(
    ("query", "number"), [("测试", 4), ("测试案例", 2), ("splitter", 2), ("如何编写测试案例", 4), ("滑块", 0)]
)
def test_a_word_is_found_in_sentences_without_spaces(home: Path, tmp_path: Path, query: str, number: int) -> None:
    asked = ("测试", "请编写splitter组件的测试案例", "修改测试文件，谢谢", "为 splitter 增加测试案例", "更新依赖")
    memory = Hardwon(home)
    memory.harvest([ClaudeSession(f"s{at}", day=at + 1).user(text).write(tmp_path) for at, text in enumerate(asked)])
    assert len(memory.search(query, sessions=True).passages) == number


def test_what_a_call_printed_is_not_kept_when_it_worked(memory: Hardwon) -> None:
    assert found(memory, "zebrafish") == []


def test_a_passage_says_where_it_stands_and_how_to_go_on(memory: Hardwon) -> None:
    (hit,) = memory.search('"dubious ownership"', sessions=True).passages
    assert (hit.type, hit.kind, hit.owner, f"{hit.at:%Y-%m-%d}") == ("passage", "claude-code", "own", "2026-10-05")
    assert hit.open == f"hardwon resume {hit.session[:9]}"
    assert memory.resume(hit.session[:9]).command == "claude --resume s-git"
    assert memory.search("dubious ownership").passages == []


def test_of_a_session_the_best_passage_is_told(home: Path, tmp_path: Path) -> None:
    long = ClaudeSession("s-long")
    for number in range(20):
        long.user(f"the walrus number {number} " + "sits on the ice and looks at us " * 10).run("make walrus", "ok")
    with Hardwon(home) as memory:
        memory.harvest([long.write(tmp_path), proxy().write(tmp_path)])
        assert len(memory.search("walrus", type="passage").passages) == 1


def test_filters_hold_for_passages(memory: Hardwon, tmp_path: Path) -> None:
    memory.harvest([ClaudeSession("s-kelp", cwd="/srv/work/kelp").user("the proxy of kelp").write(tmp_path)])
    assert len(found(memory, "proxy")) == 2
    assert len(memory.search("proxy", type="passage", project="kelp").passages) == 1
    assert len(memory.search("proxy", type="passage", file="runner.env").passages) == 1
    assert memory.search("proxy", type="passage", agent="codex").passages == []


def test_switched_off_there_are_none_and_switched_on_they_come_back(
    memory: Hardwon, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_SEARCH_SESSIONS", "off")
    with Hardwon(home) as off:
        assert found(off, "proxy") == []
        off.harvest([ownership("s-more").write(tmp_path)])
        assert off.reading().query("SELECT count(*) FROM passage") == [(0,)]
        assert [check for check in off.store.check() if not check.ok] == []
    monkeypatch.setenv("HARDWON_SEARCH_SESSIONS", "on")
    with Hardwon(home) as on:
        on.harvest([])
        assert on.harvest([*tmp_path.glob("*.jsonl")]).sessions == 3
        assert len(found(on, "ownership")) == 2
        assert [check for check in on.store.check() if not check.ok] == []


def test_a_resumed_session_has_only_what_it_adds(home: Path, tmp_path: Path) -> None:
    long = "I will put it into the environment file, " * 8
    first = ClaudeSession("s-1").user("the walrus asks").says(long)
    again = ClaudeSession("s-2").user("the walrus asks").says(long).user("and the penguin?")
    with Hardwon(home) as memory:
        memory.harvest([first.write(tmp_path / "a")])
        memory.harvest([again.write(tmp_path / "b")])
        assert len(found(memory, "walrus")) == 1
        assert found(memory, "penguin") == ["> and the penguin?"]


def test_a_secret_in_what_the_agent_says_is_in_no_passage(home: Path, tmp_path: Path) -> None:
    secret = f"ghp_{secrets.token_hex(18)}"
    talk = ClaudeSession().user("go on").says(f"the walrus has the key {secret} here").user("thanks")
    with Hardwon(home) as memory:
        memory.harvest([talk.write(tmp_path)])
        (text,) = found(memory, "walrus")
        assert secret not in text


def test_somebody_elses_sessions_are_found_and_marked(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        harvest(memory.writing(), [Log(proxy().write(tmp_path), owner="foreign")])
        (hit,) = memory.search("squid proxy", sessions=True).passages
        assert hit.owner == "foreign"
        assert hit.open.endswith("s-proxy.jsonl")


def test_no_hook_and_no_briefing_tells_a_passage(memory: Hardwon) -> None:
    memory.close()
    told = [
        hook("session-start", example("claude-code", "session-start")).stdout,
        hook("prompt", example("claude-code", "prompt", prompt="set up the squid proxy for the runner.env")).stdout,
        memory.bootstrap("reef", task="set up the squid proxy").text,
    ]
    assert not any("build machines" in text or "environment file" in text for text in told)


@pytest.mark.parametrize("project", ["specstory/destyler__destyler", "codex/JaydenXsoe__ocodex"])
def test_passages_take_little_of_what_the_transcripts_take(home: Path, shared: Path, project: str) -> None:
    files = [path for path in (shared / "projects" / project).rglob("*") if path.is_file()]
    if not files:
        pytest.skip(f"{project} is not in {shared}")
    with Hardwon(home) as memory:
        memory.harvest(files, mine=True)
        db = memory.reading()
        kept = "name GLOB '*passage*' OR name GLOB 'search_said*'"
        (size,) = db.query(f"SELECT sum(pgsize - unused) FROM dbstat WHERE {kept}")[0]
    assert size <= 0.15 * sum(path.stat().st_size for path in files)
