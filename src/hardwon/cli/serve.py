"""The service and who may use it: `serve`, `mcp`, `token make`, `list`, `revoke`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import Json, is_here, print_json, say, table
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
    reached = {"host": host, "port": port, "public": [public_address(each) for each in public or ()]}
    server = Server(convert({**reached, **limits(os.environ)}, ServiceSettings))
    address = server.settings.address
    if json:
        print_json({"address": address, "link": server.link})
    else:
        typer.echo(f"Serving {address}; stop it with Ctrl-C.", err=True)
        if server.link:
            typer.echo(f"Open this once, it is not shown again:\n{server.link}")
            typer.echo("Programs send what stands behind `token=` as `Authorization: Bearer …`.", err=True)
    server.run(idle * 60)


# `open`: the pages in a browser.

_IDLE_MINUTES = 60.0


def open_(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the link.")
    ] = True,
    idle: Annotated[
        float, typer.Option(help="Stop a service started here after this many minutes without a request.", min=0)
    ] = _IDLE_MINUTES,
    json: Json = False,
) -> None:
    """Open the pages in your browser, starting the service for them if it is not running.

    The link works once, for one browser, within five minutes. The service stops by itself when it is idle.

    Example: hardwon open
    """
    from hardwon.api import Hardwon
    from hardwon.api.access import make_link
    from hardwon.serve.announced import running

    if not is_here("serve"):
        raise HardwonError("the pages are not installed: `hardwon extras add serve`")
    with Hardwon() as memory:
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
        when = f"{idle:g} minutes after the last request" if idle else "when you end it"
        say(f"Started a service for it, which stops {when}.", err=True)


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
    import sys

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
    project: Annotated[list[str] | None, typer.Option("--project", "-p", help="Only this project; repeatable.")] = None,
    days: Annotated[float | None, typer.Option(help="Expire after this many days.", min=0)] = None,
    json: Json = False,
) -> None:
    """Create a token and print it once; only a hash of it is stored.

    Example: hardwon token make laptop --scope read --scope write --days 90
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        made = memory.store.make_token(name, scope or ["read"], projects=project or (), days=days)
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
