"""No secret reaches the store, its caches or its exports, wherever in a session it stands and however it is written."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.scrub.scrubber import Scrubber
from hardwon.sessions.scan import scan
from tests.conftest import ClaudeSession, write_lines
from tests.scrub.fakes import each_token, text
from tests.scrub.sentences import Told, commands, told

HIDDEN = "\u200b\u200c\u2060\u00ad\u034f\u180e\u202e\u2066\ufeff\ufe0f\ufe00\u3164\u115f\uffa0\u2800\U000e0041\x07\x7f"
GLUED = ("{}", "x{}", "_{}", "={}", "/{}", ".{}", "'{}'", "{}.", "{}/x", "{}&y", "{}\\n", "\\n{}", "é{}", "{}é", "“{}”")
PLACES: dict[str, Callable[[ClaudeSession, str], object]] = {
    "a user's rule": lambda session, said: session.user(f"Always do it like this: {said}"),
    "a command": lambda session, said: session.run(said, "ok"),
    "a failing command": lambda session, said: session.run(said, f"error: {said}", exit_code=1),
    "the next line": lambda session, said: session.user(f"Remember this.\n{said}\nthanks"),
}


def secret() -> str:
    chance = random.Random(7)
    return text(chance, 24, string.ascii_letters + string.digits)


def forms() -> Iterator[tuple[str, str]]:
    """(text, the secret in it): tokens with what cannot be seen inside them, or with something glued to them."""
    for number, (_, token) in enumerate(each_token()):
        if "\n" in token or not token.isprintable():
            continue
        middle = len(token) // 2
        yield f"send {token[:middle]}{HIDDEN[number % len(HIDDEN)]}{token[middle:]} now", token
        yield "send " + GLUED[number % len(GLUED)].format(token) + " now", token


def again() -> Iterator[tuple[list[str], str]]:
    """(the texts of a session, the secret): told once, and then, or before, without anything that tells it."""
    for number, one in enumerate([*told(), *commands()][::2]):
        bare = (f"then connect to it with {one.secret} please", f"deploy {one.secret} eu-west")[number % 2]
        yield ([one.text, bare] if number % 3 else [bare, one.text]), one.secret


def known_again() -> Iterator[tuple[list[str], str]]:
    """Those of them that are told so that a rule finds them, and are like nothing but a secret."""
    for texts, value in again():
        scrubber = Scrubber()
        if value not in scrubber.scrub(max(texts, key=len)) and scrubber.remembers:
            yield texts, value


def found() -> Iterator[Told]:
    """What no rule finds is measured elsewhere."""
    return (one for one in (*told(), *commands()) if one.secret not in Scrubber().scrub(one.text))


def attacks() -> dict[str, int]:
    """Class of attack → cases tried."""
    return {
        "secrets with hidden characters inside or others glued on": len(list(forms())),
        "secrets told once and used elsewhere in the session": len(list(known_again())),
        "passwords in sentences and commands that a rule finds, through a harvest": len(list(found())),
        "secrets in folder names, branches, remotes and file names": len(_around("x")),
    }


def test_hidden_and_glued_characters_hide_no_token() -> None:
    kept = [said for said, token in forms() if token in _seen(Scrubber().scrub(said))]
    assert kept == []


def _seen(text: str) -> str:
    return "".join(sign for sign in text if sign not in HIDDEN)


def test_what_is_stored_of_sentences_and_commands_holds_no_password(home: Path, tmp_path: Path) -> None:
    """In many sessions, as a rule of the user, a command, its error, and over several lines."""
    secrets = set()
    files = []
    for number, one in enumerate(found()):
        session = ClaudeSession(f"s{number}", cwd=f"/srv/work/p{number % 7}")
        list(PLACES.values())[number % len(PLACES)](session, one.text)
        files.append(session.write(tmp_path / "sessions"))
        secrets.add(one.secret)
    with Hardwon(home) as memory:
        memory.harvest(files)
        memory.store.export(home / "tree")
        assert [leak for leak in memory.store.audit() if leak.kind != "home"] == []
    everything = b"\n".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert [one for one in secrets if one.encode() in everything] == []


def test_a_value_that_was_told_once_is_known_wherever_it_stands(home: Path, tmp_path: Path) -> None:
    files, secrets = [], set()
    for number, (texts, value) in enumerate(known_again()):
        session = ClaudeSession(f"s{number}", cwd="/srv/work/reef")
        for said in texts:
            session.user(f"Always {said}").run(said, said, exit_code=1)
        files.append(session.write(tmp_path / "sessions"))
        secrets.add(value)
    assert len(secrets) > 200
    with Hardwon(home) as memory:
        memory.harvest(files)
    everything = b"\n".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert [one for one in secrets if one.encode() in everything] == []


def _around(token: str) -> list[tuple[dict[str, str], str]]:
    """Fields of a Codex session's head, and the folder of its file."""
    remotes = [
        f"https://{token}@git.example/deep/reef.git",
        f"https://x-access-token:{token}@git.example/deep/reef",
        f"https://git.example/{token}/reef.git",
        f"ssh://git:{token}@git.example/deep/reef",
    ]
    folders = [f"/srv/{token}/reef", f"/srv/work/{token}", f"/srv/work-{token}/reef"]
    found: list[tuple[dict[str, str], str]] = [({"repository_url": remote}, "") for remote in remotes]
    found += [({"cwd": folder}, "") for folder in folders]
    found += [({"branch": f"fix/{token}"}, ""), ({}, f"-srv-{token}-reef")]
    return found


@pytest.mark.parametrize("number", range(9))
def test_names_and_remotes_pass_the_same_door(number: int, home: Path, tmp_path: Path) -> None:
    token = next(token for kind, token in each_token() if kind == "github-token")
    fields, below = _around(token)[number]
    folder = tmp_path / "sessions" / below
    git = {name: value for name, value in fields.items() if name != "cwd"}
    head = {"id": "s-1", "cwd": fields.get("cwd", "/srv/work/reef"), "git": git, "timestamp": "2026-10-01T10:00:00Z"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Always use uv."}]}
    path = write_lines(
        folder / "rollout-2026-10-01T10-00-00-s-1.jsonl",
        [
            {"timestamp": "2026-10-01T10:00:00Z", "type": "session_meta", "payload": head},
            {"timestamp": "2026-10-01T10:00:01Z", "type": "response_item", "payload": said},
        ],
    )
    with Hardwon(home) as memory:
        assert memory.harvest([path]).sessions == 1
        scan([path], home / "scan.cache")
        assert [leak for leak in memory.store.audit() if leak.kind != "home"] == []
    everything = b"\n".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert token.encode() not in everything


def test_after_a_harvest_of_real_sessions_the_audit_finds_nothing(home: Path, shared: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest(sorted((shared / "transcripts" / "claude-code").rglob("*.jsonl"))[:60])
        assert memory.store.audit() == []


def test_files_and_folders_named_by_people_are_stored_without_them_and_stay_apart(home: Path, tmp_path: Path) -> None:
    paths = []
    for number, name in enumerate(("ann", "bob")):
        written = ClaudeSession(f"s{number}").user("Always use uv.").write(tmp_path / f"Drive-{name}.reef@example.com")
        paths.append(written.rename(written.with_name(f"{name}@example.com.jsonl")))
    with Hardwon(home) as memory:
        assert memory.harvest(paths).sessions == 2
        assert memory.store.audit() == []
        assert memory.harvest(paths).sessions == 0
        assert len({session.path for session in memory.sessions.list()}) == 2
