"""Taking in what fails as it fails: `run`, `capture`; and whether a run is done: `verify`. Capture breaks no caller.

These write to the store without the whole API, which takes longer to load than they take to run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import Json, ProjectOption, RunOption, print_json, shown
from hardwon.errors import NotAllowed

if TYPE_CHECKING:
    from hardwon.store.database import Database

app = typer.Typer(
    help="Record failures of a loop: from crash files, or from phase and exit code alone. Always exits 0.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_PATIENCE = 2_000
"""Milliseconds that a record is worth waiting for."""

TaskOption = Annotated[str, typer.Option(help="The task.")]
_NOTHING: dict[str, Any] = {"attempt": None}


def run(
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.", show_default=False)],
    task: Annotated[str, typer.Option(help="What the command is for; with it, successes are recorded too.")] = "",
    phase: Annotated[str, typer.Option(help="The phase of the run, such as VERIFY.")] = "",
    run: RunOption = "",
    project: ProjectOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Tell on stderr, as one line of JSON, what was recorded.")
    ] = False,
) -> None:
    """Run a command and remember its error if it fails.

    Output and exit code are passed through unchanged. `hardwon failures` lists the errors and their fixes.

    Example: hardwon run --task "make the build green" -- make test
    """
    from hardwon.capture.run import run as run_through

    ran = run_through(command)

    def keep() -> dict[str, Any]:
        from hardwon.capture import record

        if not record.noteworthy(command, ran.exit_code, task, run):
            return _NOTHING
        with _store() as db:
            number = record.command(db, command, ran, task=task, phase=phase, run=run, project=project or ".")
        return {"attempt": number}

    kept = _kept(keep) if ran.exit_code or task or run else _NOTHING
    if json:
        import msgspec

        told = {"exit_code": ran.exit_code, "seconds": round(ran.seconds, 3), **kept}
        typer.echo(msgspec.json.encode(told).decode(), err=True)
    raise typer.Exit(ran.exit_code)


def verify(run: RunOption = "", project: ProjectOption = None, json: Json = False) -> None:
    """Check whether a run's "done" is backed by evidence; exits 0 only if it is.

    Looks at the run's last test report or exit code, and at failures that were not fixed since. A success that is only
    claimed proves nothing; one that a report contradicts is a failure.

    Example: hardwon verify --run nightly-7 && git push
    """
    from hardwon.api import Hardwon

    if not run.strip():
        raise typer.BadParameter("name the run with --run, or set HARDWON_RUN")
    with Hardwon() as memory:
        found = memory.journal.verify(run, project=project)
    if json:
        import msgspec

        print_json({"done": found.done, **msgspec.structs.asdict(found)})
    else:
        typer.echo(found.verdict)
        for reason in found.reasons:
            typer.echo(f"  {shown(reason)}")
    raise typer.Exit(0 if found.done else 1)


@app.command("crash")
def crash(
    file: Annotated[Path, typer.Argument(help="A crash file: a JSON object of the known keys; or a folder of them.")],
    task: TaskOption = "",
    run: RunOption = "",
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Record a crash file, or all crash files in a folder.

    Unknown keys are dropped and invalid values rejected; both are counted.

    Example: hardwon capture crash .loki/crash/20261031T143000.json --task "build a REST API"
    """

    def keep() -> dict[str, Any]:
        from hardwon.capture import crash, record

        if file.is_dir():
            return _folder(file, task, run, project or ".")
        found = crash.read_file(file)
        with _store() as db:
            number = record.crash(
                db, found, at=found.captured_at, evidence="crash-file", task=task, run=run, project=project or "."
            )
        return {"attempt": number, "error": found.shown, "unknown_keys": found.unknown, "refused": found.refused}

    _tell(_kept(keep), json=json)


def _folder(folder: Path, task: str, run: str, project: str) -> dict[str, Any]:
    """Every crash file of a folder; the attempt is the last one's. What is none is named, and keeps no other out."""
    from hardwon.capture import crash, record

    numbers, refused = [], []
    with _store() as db:
        for file in sorted(folder.glob("*.json")):
            try:
                found = crash.read_file(file)
            except NotAllowed as error:
                refused.append(f"{file.name}: {error}")
                continue
            evidence, at = "crash-file", found.captured_at
            numbers.append(record.crash(db, found, at=at, evidence=evidence, task=task, run=run, project=project))
    for line in refused:
        sys.stderr.write(f"hardwon: not recorded: {line}\n")
    return {"attempt": numbers[-1] if numbers else None, "attempts": numbers, "refused": refused}


@app.command("failure")
def failure(
    phase: Annotated[str, typer.Option(help="The phase of the run, such as VERIFY.")] = "",
    exit_code: Annotated[int | None, typer.Option(help="The exit code; 0 is no failure.")] = None,
    task: TaskOption = "",
    run: RunOption = "",
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Record that an iteration failed, where there is no crash file.

    Example: hardwon capture failure --phase VERIFY --exit-code 1 --run nightly-7
    """

    def keep() -> dict[str, Any]:
        from hardwon.capture import crash, record

        found, evidence = crash.plain(phase, exit_code), "exit-code" if exit_code else "stated"
        with _store() as db:
            number = record.crash(db, found, at=None, evidence=evidence, task=task, run=run, project=project or ".")
        return {"attempt": number, "error": found.shown}

    _tell(_kept(keep) if exit_code != 0 else _NOTHING, json=json)


def _kept(keep: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do it if it can be done; what cannot is told in a line and shown by `doctor`, and stops nobody."""
    from hardwon.home import failure_memory_off

    if failure_memory_off():
        return _NOTHING
    try:
        return keep()
    except (Exception, KeyboardInterrupt) as error:
        said = " ".join(str(error).split())[:300] or type(error).__name__
        sys.stderr.write(f"hardwon: not recorded: {said}\n")
        if not isinstance(error, NotAllowed | FileNotFoundError | KeyboardInterrupt):
            _leave_for_doctor(said)
        return _NOTHING


@contextmanager
def _store() -> Iterator[Database]:
    """The store, in a transaction; it is made if there is none."""
    from hardwon import config
    from hardwon.home import DATABASE, home_directory
    from hardwon.store import meta
    from hardwon.store.database import address_of, connect

    home = Path(home_directory())
    settings = config.load(home).config
    place = address_of(settings.database, settings.workspace) or home / DATABASE
    with closing(connect(place, write=True, wait=_PATIENCE)) as db:
        meta.prepare(db)
        with db.transaction():
            yield db


def _leave_for_doctor(said: str) -> None:
    from hardwon.durable import write_whole
    from hardwon.home import home_directory
    from hardwon.scrub.scrubber import Scrubber

    with suppress(OSError):  # a home that cannot be written to has been told of
        write_whole(Path(home_directory(), "capture-error.txt"), Scrubber().scrub(said))


def _tell(kept: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json({"recorded": kept["attempt"] is not None, **kept})
    elif kept["attempt"] is not None:
        typer.echo("\n".join(map(str, kept.get("attempts", [kept["attempt"]]))))
