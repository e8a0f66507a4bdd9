"""The service and who may use it: `serve`, `mcp`, `token make`, `list`, `revoke`, `workspace`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hardwon.cli.app import Json, count, is_here, print_json, question, say, shown, table
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api.access import Token


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on. Clients on other machines need tokens.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.", min=0, max=65535)] = 8765,
    public: Annotated[
        list[str] | None,
        typer.Option(help="A public address of the service, such as https://memory.example.org; repeatable."),
    ] = None,
    idle: Annotated[
        float, typer.Option(help="Stop after this many minutes without a request; 0 for never.", min=0)
    ] = 0,
    log: Annotated[
        str, typer.Option(help="Append who asked for what, a line of JSON each, to this file; - for stderr.")
    ] = "",
    workspace: Annotated[str, typer.Option(help="The workspace to serve; the setting of that name by default.")] = "",
    json: Json = False,
) -> None:
    """Serve the store over HTTP until it is stopped with Ctrl-C.

    The first time, it prints a link that signs a browser in; programs use tokens (`hardwon token make`). The OpenAPI
    schema is at /schema.

    Example: hardwon serve --port 8765
    """
    from msgspec import convert

    try:
        from hardwon.serve.app import Server
        from hardwon.serve.middleware import ServiceSettings, limits, public_address
    except ImportError as error:
        raise HardwonError("the service is not installed: `hardwon extras add serve`") from error
    if workspace:
        os.environ["HARDWON_WORKSPACE"] = workspace  # as all that is started for the service must know it
    reached = {"host": host, "port": port, "public": [public_address(each) for each in public or ()]}
    writing = sys.stderr if log == "-" else _appended(log) if log else None
    server = Server(convert({**reached, **limits(os.environ)}, ServiceSettings), log=writing)
    address = server.settings.address
    if json:
        print_json({"address": address, "link": server.link})
    else:
        typer.echo(f"Serving {address}; stop it with Ctrl-C.", err=True)
        if server.link:
            typer.echo(f"Open this once, it is not shown again:\n{server.link}")
            typer.echo("Programs send what stands behind `token=` as `Authorization: Bearer …`.", err=True)
    server.run(idle * 60)


def _appended(path: str) -> TextIO:
    from hardwon.home import private

    try:
        return os.fdopen(private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", encoding="utf-8")
    except OSError as error:
        raise HardwonError(f"--log {path} cannot be written: {error.strerror}") from error


# `open`: the pages in a browser.

_IDLE_MINUTES = 60.0


def open_(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the link.")
    ] = True,
    idle: Annotated[
        float, typer.Option(help="Stop a service started here after this many minutes without a request.", min=0)
    ] = _IDLE_MINUTES,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the service behind the pages instead.")] = False,
    json: Json = False,
) -> None:
    """Open the pages in your browser, starting the service for them if it is not running.

    The link works once, for one browser, within five minutes. The service stops by itself when it is idle.

    Example: hardwon open
    """
    from hardwon.api import Hardwon
    from hardwon.api.access import make_link
    from hardwon.serve.announced import end, running

    if not is_here("serve"):
        raise HardwonError("the pages are not installed: `hardwon extras add serve`")
    with Hardwon() as memory:
        if stop:
            ended = end(memory.home)
            print_json({"stopped": ended}) if json else say("Stopped." if ended else "No service was running.")
            return
        secret = make_link(memory)  # before the service starts: it then makes no token that nobody sees
        found = running(memory.home)
        address = found or _started(memory.home, idle)
    link = f"{address}/login?token={secret}"
    opened = browser and _opened(link)
    if json:
        print_json({"address": address, "link": link, "opened": opened})
        return
    if opened:
        say(f"Opened {address}.", err=True)
    else:
        typer.echo(link)
        say("Open it within five minutes. It works once, for one browser.", err=True)
    if not found:
        when = f"{idle:g} minutes after the last request, or at" if idle else "at"
        say(f"Started a service for it, which stops {when} `hardwon open --stop`.", err=True)


def _opened(link: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False


def _started(home: Path, idle: float) -> str:
    """The address of a service that outlives this command; on the usual port if that is free."""
    import json
    import socket
    import subprocess

    from hardwon.serve.middleware import PORT

    with socket.socket() as probe:
        port = 0 if probe.connect_ex(("127.0.0.1", PORT)) == 0 else PORT
    command = [sys.executable, "-m", "hardwon", "serve", "--port", str(port), "--idle", str(idle), "--json"]
    with (home / "serve.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=sys.platform != "win32",
            creationflags=0x00000208 if sys.platform == "win32" else 0,  # detached, in a group of its own
        )
    assert process.stdout
    told = b""
    while not told.endswith(b"}\n"):
        line = process.stdout.readline()
        if not line:
            raise HardwonError(f"the service did not start: see {home / 'serve.log'}")
        told += line
    return str(json.loads(told)["address"])


# `mcp`: the memory for an agent that speaks the Model Context Protocol.


def mcp(json: Json = False) -> None:
    """Run the MCP server on stdin and stdout. Your agent starts it.

    With --json, print the entry for the agent's settings instead.

    Example: hardwon mcp --json
    """
    if json:
        from hardwon.install.command import MEMBER, NAME, Where, entry

        print_json({MEMBER: {NAME: entry(Where(os.environ, Path.home()))}})
        return
    try:
        from hardwon.serve.mcp import run_stdio
    except ImportError as error:
        raise HardwonError("the MCP server is not installed: `hardwon extras add mcp`") from error
    run_stdio()


# Who may use the service: `token make`, `list`, `revoke`.

app = typer.Typer(help="Who may use the service.", no_args_is_help=True, rich_markup_mode=None)


@app.command("make")
def make(
    name: Annotated[str, typer.Argument(help="Whose it is; on record with all that is done by it.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What it may do: read, write, review, admin, sessions; repeatable. Default: read."),
    ] = None,
    role: Annotated[
        str, typer.Option(help="The scopes that somebody needs: reader, contributor, reviewer or admin.")
    ] = "",
    project: Annotated[list[str] | None, typer.Option("--project", "-p", help="Only this project; repeatable.")] = None,
    days: Annotated[float | None, typer.Option(help="Expire after this many days.", min=0)] = None,
    json: Json = False,
) -> None:
    """Create a token and print it once; only a hash of it is stored.

    Example: hardwon token make laptop --scope read --scope write --days 90

    Example: hardwon token make ada --role reviewer --project tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        wanted = scope or ([] if role else ["read"])
        made = memory.store.make_token(name, wanted, role=role, projects=project or (), days=days)
    if json:
        print_json({"token": made.secret, **_fields(made.token)})
    else:
        typer.echo(made.secret)
        typer.echo("It is not shown again. Send it as `Authorization: Bearer …`.", err=True)


@app.command("list")
def list_(json: Json = False) -> None:
    """List tokens, without their secrets.

    Example: hardwon token list
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.store.tokens()
        names = {one.id: one.name for one in memory.store.projects()} if found else {}
    if json:
        print_json([_fields(token) for token in found])
    elif found:
        rows = [
            (token.id, _state(token), ",".join(token.scopes),
             ",".join(names.get(id, id) for id in token.projects) or "all", token.name)
            for token in found
        ]  # fmt: skip
        table(("ID", "STATE", "SCOPES", "PROJECTS", "NAME"), rows)
    else:
        say("There are no tokens. To create one: `hardwon token make NAME`.", err=True)


@app.command("revoke")
def revoke(
    id: Annotated[str, typer.Argument(help="The token's id or name.", show_default=False)], json: Json = False
) -> None:
    """Revoke a token.

    Example: hardwon token revoke laptop
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        token = memory.store.revoke_token(id)
    if json:
        print_json(_fields(token))
    else:
        typer.echo(f"Revoked {token.id} ({token.name}).")


def _fields(token: Token) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(token)


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.valid else "ended"


# Several teams on one server: `workspace make`, `list`, `limit`, `drop`.

workspaces = typer.Typer(
    help="Keep several teams apart on one PostgreSQL.", no_args_is_help=True, rich_markup_mode=None
)
WorkspaceName = Annotated[str, typer.Argument(help="The name of a workspace.", show_default=False)]


def _server() -> str:
    from hardwon import config
    from hardwon.home import home_directory

    return config.load(Path(home_directory())).config.database


def _postgres() -> Any:
    try:
        from hardwon.store import postgres
    except ImportError as error:
        raise HardwonError("PostgreSQL needs an extra: `hardwon extras add postgres`") from error
    return postgres


@workspaces.command("make")
def make_workspace(
    name: WorkspaceName,
    role: Annotated[
        bool, typer.Option("--role", help="With a role of PostgreSQL that may use nothing else; prints its address.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a workspace.

    It is a schema of its own on the server that the setting `database` names.

    Example: hardwon workspace make tidepool --role
    """
    made = _postgres().make_workspace(_server(), name, role=role)
    if json:
        print_json(made)
        return
    if role:
        typer.echo(made.address)
        say("Its address, with a password that is not shown again: the setting `database` of its service.", err=True)
    else:
        say(f"Made. `hardwon serve --workspace {name}` serves it, `hardwon config workspace {name}` uses it here.")


@workspaces.command("list")
def list_workspaces(json: Json = False) -> None:
    """List the workspaces, what they hold and what they may hold.

    Example: hardwon workspace list
    """
    from hardwon.store import meta

    found = _postgres().workspaces(_server())
    if json:
        print_json(found)
    elif found:
        allowed = [one.limits or meta.Limits() for one in found]
        rows = [
            (one.name, one.owner, _of(one.sessions, most.sessions), _number(one.lessons), _of(one.bytes, most.bytes),
             most.retain_days or "any")
            for one, most in zip(found, allowed, strict=True)
        ]  # fmt: skip
        table(("NAME", "OWNER", "SESSIONS", "LESSONS", "BYTES", "DAYS KEPT"), rows, right=(2, 3, 4, 5))
    else:
        say("There are no workspaces: `hardwon workspace make NAME` makes one.", err=True)


def _number(held: int | None) -> str:
    return "closed" if held is None else f"{held:,}"


def _of(held: int | None, most: int) -> str:
    return f"{_number(held)} of {most:,}" if most else _number(held)


@workspaces.command("limit")
def limit_workspace(
    name: Annotated[str, typer.Argument(help="A workspace; without one, that of the settings.")] = "",
    sessions: Annotated[int | None, typer.Option(help="Most sessions that it may hold; 0 for any.", min=0)] = None,
    megabytes: Annotated[int | None, typer.Option(help="Most megabytes that it may take; 0 for any.", min=0)] = None,
    retain_days: Annotated[
        int | None, typer.Option(help="What is older is dropped each day; 0: as the setting says.", min=0)
    ] = None,
    json: Json = False,
) -> None:
    """Show or set how much a workspace may hold, and for how long.

    When it is full, nothing more is taken in; what is there stays readable.

    Example: hardwon workspace limit tidepool --sessions 100000 --megabytes 5000 --retain-days 365
    """
    from msgspec.structs import replace

    from hardwon.api import Hardwon
    from hardwon.store import meta

    with Hardwon() as memory:
        if name:
            memory.config = replace(memory.config, workspace=name)
        asked = {"sessions": sessions, "bytes": megabytes and megabytes * 1_000_000, "retain_days": retain_days}
        given = {key: value for key, value in asked.items() if value is not None}
        db = memory.writing() if given else memory.reading()
        limits = replace(meta.limits(db), **given)
        if given:
            with db.transaction():
                meta.set_limits(db, limits)
    if json:
        print_json(limits)
        return
    say(f"Sessions: {limits.sessions or 'any number'}. Bytes: {limits.bytes or 'any number'}.")
    say(f"Kept for: {count(limits.retain_days, 'day') if limits.retain_days else 'as long as the settings say'}.")


@workspaces.command("drop")
def drop_workspace(
    name: WorkspaceName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Remove a workspace with all that is in it, and its role, for good.

    Example: hardwon workspace drop tidepool
    """
    held = next((one for one in _postgres().workspaces(_server()) if one.name == name), None)
    if held and not (yes or sys.stdin.isatty()):
        raise HardwonError("not a terminal, so nobody can confirm: pass --yes")
    if held and not yes:
        told = f"{shown(name)} holds {_number(held.sessions)} sessions and {_number(held.lessons)} lessons."
        asked = question(f"{told} Type its name to remove them for good")
        if typer.prompt(asked, default="", show_default=False) != name:
            raise HardwonError("nothing was removed")
    _postgres().drop_workspace(_server(), name)
    if json:
        print_json({"name": name, "dropped": True})
    else:
        say(f"Removed {name}.")
