"""Taking in what fails as it fails: `run`, `capture`. Nothing here breaks whoever calls it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oldhand.cli.ask import ProjectOption
from oldhand.cli.journal import RunOption
from oldhand.cli.output import Json, print_json
from oldhand.errors import NotAllowed

if TYPE_CHECKING:
    from oldhand.api import Oldhand

app = typer.Typer(
    help="Record failures of a loop: from crash files, or from phase and exit code alone. Always exits 0.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_PATIENCE = 2_000
"""Milliseconds that a record is worth waiting for."""

TaskOption = Annotated[str, typer.Option(help="What was to be done.")]


def run(
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.", show_default=False)],
    task: Annotated[str, typer.Option(help="What it is for; then a success is recorded, too.")] = "",
    phase: Annotated[str, typer.Option(help="The phase of the run, such as VERIFY.")] = "",
    run: RunOption = "",
    project: ProjectOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Tell on stderr, as one line of JSON, what was recorded.")
    ] = False,
) -> None:
    """Run a command and remember its error if it fails.

    Its streams and exit code are passed on as they are. What was recorded before and what fixed it:
    `oldhand failures`.

    Example: oldhand run --task "make the build green" -- make test
    """
    from oldhand.capture.run import run as run_through
    from oldhand.home import failure_memory_off

    ran = run_through(command)
    number: Any = None
    if (ran.exit_code or task) and not failure_memory_off():
        number = _recorded(
            lambda memory: memory.capture.command(command, ran, task=task, phase=phase, run=run, project=project or ".")
        )
    if json:
        import msgspec

        told = msgspec.json.encode({"exit_code": ran.exit_code, "seconds": round(ran.seconds, 3), "attempt": number})
        typer.echo(told.decode(), err=True)
    raise typer.Exit(ran.exit_code)


@app.command("crash")
def crash(
    file: Annotated[Path, typer.Argument(help="A crash file: a JSON object of the known keys.", show_default=False)],
    task: TaskOption = "",
    run: RunOption = "",
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Record a crash file.

    Unknown keys are dropped, values that are not what their key says are refused; both are counted.

    Example: oldhand capture crash .loki/crash/20261031T143000.json --task "build a REST API"
    """

    def record(memory: Oldhand) -> dict[str, Any]:
        with file.open("rb") as source:
            content = source.read(_LARGEST + 1)
        at = file.stat().st_mtime_ns // 1000
        number, found = memory.capture.crash(content, at=at, task=task, run=run, project=project or ".")
        return {"attempt": number, "error": found.shown, "unknown_keys": found.unknown, "refused": found.refused}

    _tell(_recorded(record), json=json)


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

    Example: oldhand capture failure --phase VERIFY --exit-code 1 --run nightly-7
    """

    def record(memory: Oldhand) -> dict[str, Any]:
        number = memory.capture.failure(phase=phase, exit_code=exit_code, task=task, run=run, project=project or ".")
        return {"attempt": number}

    _tell(_recorded(record) if exit_code != 0 else {"attempt": None}, json=json)


_LARGEST = 64 * 1024


def _recorded(step: Callable[[Oldhand], Any]) -> Any:
    """Do it if it can be done; what cannot is told in a line and shown by `doctor`, and stops nobody."""
    from oldhand.home import failure_memory_off

    if failure_memory_off():
        return None
    try:
        from oldhand.api import Oldhand

        with Oldhand(wait=_PATIENCE) as memory:
            return step(memory)
    except (Exception, KeyboardInterrupt) as error:
        said = " ".join(str(error).split())[:300] or type(error).__name__
        sys.stderr.write(f"oldhand: not recorded: {said}\n")
        if not isinstance(error, NotAllowed | FileNotFoundError | KeyboardInterrupt):
            _keep_for_doctor(said)
        return None


def _keep_for_doctor(said: str) -> None:
    from oldhand.home import home_directory
    from oldhand.scrub.scrubber import Scrubber

    with suppress(OSError):  # a home that cannot be written to has been told of
        Path(home_directory(), "capture-error.txt").write_text(Scrubber().scrub(said), encoding="utf-8")


def _tell(found: dict[str, Any] | None, *, json: bool) -> None:
    if json:
        print_json({"recorded": bool(found and found["attempt"]), **(found or {"attempt": None})})
    elif found and found["attempt"]:
        typer.echo(found["attempt"])
