"""`hardwon scrub`: a filter, an audit, a list of rules; it never shows a secret."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from hardwon import Hardwon
from hardwon.scrub.scrubber import RULES
from tests.conftest import ClaudeSession, Run
from tests.scrub.fakes import make, password

TOKEN = make(Random(81), "ghp_<A36>")
PASSWORD = password(Random(82))


def test_a_text_goes_in_and_the_same_comes_out_with_marks(hardwon: Run) -> None:
    done = hardwon("scrub", input=f"mysql -u root -p{PASSWORD} shop\n# {TOKEN}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "mysql -u root -p‹secret:password:1› shop\n# ‹secret:github-token:1›\n"


def test_a_file_can_be_named_and_one_that_is_not_there_is_told(hardwon: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text(f"TOKEN={TOKEN}")
    assert hardwon("scrub", file).stdout == "TOKEN=‹secret:github-token:1›"
    missing = hardwon("scrub", tmp_path / "nothing")
    assert missing.returncode == 1
    assert missing.stderr.startswith("hardwon: there is no file")


def test_json_tells_where_and_what_but_never_the_secret(hardwon: Run) -> None:
    done = hardwon("scrub", "--json", input=f"a@x.org TOKEN={TOKEN}")
    assert TOKEN not in done.stdout
    answer = json.loads(done.stdout)
    assert answer["spans"] == [
        {"kind": "email", "start": 0, "end": 7},
        {"kind": "secret:github-token", "start": 14, "end": 54},
    ]


def test_a_text_about_people_is_scrubbed_more_strictly(hardwon: Run) -> None:
    text = "Call me on 0490 75 40 81, see https://example.org/me"
    assert hardwon("scrub", input=text).stdout == "Call me on ‹phone:1›, see https://example.org/me"
    assert hardwon("scrub", "--personal", input=text).stdout == "Call me on ‹phone:1›, see ‹url:1›"


def test_the_rules_are_listed(hardwon: Run) -> None:
    listed = json.loads(hardwon("scrub", "--rules", "--json").stdout)
    assert len(listed) > len({(rule.label, rule.about) for rule in RULES}) >= 120
    assert {"mark": "secret:github-token", "about": "GitHub token", "where": "anywhere"} in listed


def test_an_audit_of_a_clean_home_finds_nothing(hardwon: Run, tmp_path: Path) -> None:
    assert hardwon("scrub", "--audit").returncode == 0
    path = ClaudeSession().user("always use uv").run(f"deploy --token {TOKEN}", "denied", exit_code=1).write(tmp_path)
    assert hardwon("harvest", path).returncode == 0
    done = hardwon("scrub", "--audit")
    assert (done.returncode, done.stdout) == (0, "")


def test_an_audit_tells_place_and_kind_of_what_got_in_and_exits_1(hardwon: Run, home: Path, tmp_path: Path) -> None:
    hardwon("harvest", ClaudeSession().user("always run make lint first").write(tmp_path))
    with Hardwon() as memory:
        db = memory.writing()
        with db.transaction():
            db.execute("UPDATE lesson_source SET quote = ?", (f"my token is {TOKEN}",))
    (home / "notes.txt").write_text(f"first\nexport TOKEN={TOKEN}\n")
    (home / "copy.bin").write_bytes(b"\0\1\2" + f"password={PASSWORD}".encode() + b"\0")
    done = hardwon("scrub", "--audit", "--json")
    assert done.returncode == 1
    assert TOKEN not in done.stdout + done.stderr
    leaks = json.loads(done.stdout)
    assert {(leak["place"], leak["row"], leak["kind"]) for leak in leaks if leak["place"] != "lesson_source"} == {
        ("notes.txt", "2", "secret:github-token"),
        ("copy.bin", "", "secret:password"),
    }
    (stored,) = [leak for leak in leaks if leak["place"] == "lesson_source"]
    assert (stored["column"], stored["kind"], stored["count"]) == ("quote", "secret:github-token", 1)
    assert "hardwon forget" in hardwon("scrub", "--audit").stderr
