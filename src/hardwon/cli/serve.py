"""`serve`: the store over HTTP, for programs and for a team."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hardwon.cli.output import Json, print_json
from hardwon.errors import HardwonError


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on; others than this machine's need tokens.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.", min=0, max=65535)] = 8765,
    public: Annotated[
        list[str] | None,
        typer.Option(help="An address that others use, such as https://memory.example.org; may be given again."),
    ] = None,
    json: Json = False,
) -> None:
    """Serve the store over HTTP until it is stopped with Ctrl-C.

    The first time, it prints a link that lets a browser in; programs use tokens (`hardwon token make`).
    The API describes itself at /schema.

    Example: hardwon serve --port 8765
    """
    from msgspec import convert

    try:
        from hardwon.serve.run import Server
        from hardwon.serve.settings import Settings, limits, public_address
    except ImportError as error:
        raise HardwonError("the service is not installed: pip install 'hardwon[serve]'") from error
    reached = {"host": host, "port": port, "public": [public_address(each) for each in public or ()]}
    server = Server(convert({**reached, **limits(os.environ)}, Settings))
    address = server.settings.address
    if json:
        print_json({"address": address, "link": server.link})
    else:
        typer.echo(f"Serving {address}; stop it with Ctrl-C.", err=True)
        if server.link:
            typer.echo(f"Open this once, it is not shown again:\n{server.link}")
            typer.echo("Programs send what stands behind `token=` as `Authorization: Bearer …`.", err=True)
    server.run()
