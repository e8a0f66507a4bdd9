"""A fix becomes a lesson only when it will be of use again."""

from __future__ import annotations

from pathlib import Path

from hardwon import Hardwon
from hardwon.failures.ledger import examine
from hardwon.harvest.rules.pitfalls import fix_drafts, fix_sentence
from hardwon.model.failure import Step
from hardwon.sessions.reader import read
from tests.conftest import ClaudeSession


def lessons(session: ClaudeSession, folder: Path) -> list[str]:
    (read_back,) = read(session.write(folder)).sessions
    return [draft.text for draft in fix_drafts(examine(read_back).fixes)]


def test_an_option_that_is_not_known_here_is_told_with_what_works(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .run("sed -n 3p a.go | cat -A", "cat: illegal option -- A\nusage: cat [-belnstuv]", exit_code=1)
        .run("sed -n 3p a.go | cat -vet", "x$")
    )
    (lesson,) = lessons(session, tmp_path)
    assert lesson == "In `cat`, replace `-A` with `-vet`: the first fails here with cat: illegal option -- A."


def test_what_is_replaced_says_in_which_command_where_nothing_else_does() -> None:
    step = Step("replace", "`<id>` with `#<id>`")
    said = fix_sentence("error: Tide with ID N not found", "reefctl tide get 001", [step], "")
    assert said.startswith("In `reefctl tide get`, write the id as `#<id>`: it fails otherwise with error: Tide")


def test_what_git_ignores_is_left_out_in_the_words_of_the_error(tmp_path: Path) -> None:
    said = "The following paths are ignored by one of your .gitignore files:\ndist\nhint: Use -f if you really want to."
    session = (
        ClaudeSession().run("git add src/tide.css dist/tide.css", said, exit_code=1).run("git add src/tide.css", "")
    )
    (lesson,) = lessons(session, tmp_path)
    told = "Leave `dist/tide.css` out of `git add src/tide.css dist/tide.css`, or it fails with: "
    assert lesson == f"{told}ignored by one of your .gitignore files."


def test_a_file_copied_once_from_elsewhere_is_no_lesson(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .run("cp dist/dark.json /srv/custom.json", "cp: dist/dark.json: No such file or directory", exit_code=1)
        .run("cp src/dark.json /srv/custom.json", "")
    )
    assert lessons(session, tmp_path) == []


def test_an_edit_is_no_lesson_for_the_code_says_it_now(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .run("npx tsc", "a.ts(3,1): error TS2322: Type 'string' is not assignable to type 'number'.", exit_code=2)
        .edit("/srv/a.ts", "const level: number = 3;")
        .run("npx tsc", "")
    )
    assert lessons(session, tmp_path) == []


def test_a_lesson_names_the_command_that_was_mended_and_not_another_that_failed_alike(tmp_path: Path) -> None:
    said = "MSBUILD : error MSB1011: Specify which project or solution file to use because this folder contains more."
    sessions = []
    for day in (1, 2):
        made = ClaudeSession(f"s{day}", day=day).run("dotnet build", said, exit_code=1)
        sessions.append(made.run("dotnet build Reef.sln", "Build succeeded.").run("dotnet test", said, exit_code=1))
    with Hardwon(tmp_path / "home") as memory:
        memory.harvest([session.write(tmp_path / "logs") for session in sessions])
        told = [one.text for one in memory.lessons.list()]
    assert any("`dotnet build` fails" in text and "unless `Reef.sln` is added" in text for text in told)
    assert not any("dotnet test" in text for text in told)


def test_a_program_that_ran_here_is_not_said_to_be_missing(tmp_path: Path) -> None:
    def lessons_of(*sessions: ClaudeSession) -> list[str]:
        with Hardwon(tmp_path / f"home{len(sessions)}") as memory:
            memory.harvest([session.write(tmp_path / f"logs{len(sessions)}") for session in sessions])
            return [one.text for one in memory.lessons.list() if one.rule == "missing-command"]

    missing = [
        ClaudeSession(f"m{day}", day=day).run("gauge list", "bash: gauge: command not found", exit_code=127)
        for day in (1, 2)
    ]
    assert len(lessons_of(*missing)) == 1
    assert lessons_of(*missing, ClaudeSession("later", day=3).run("gauge list --all", "3 gauges")) == []
