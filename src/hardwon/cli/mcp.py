"""`mcp`: the memory for an agent that speaks the Model Context Protocol."""

from __future__ import annotations

import os
from pathlib import Path

from hardwon.cli.output import Json, print_json
from hardwon.errors import HardwonError


def mcp(json: Json = False) -> None:
    """Serve an agent over stdin and stdout; the agent starts it.

    With --json, print the entry for the agent's settings instead.

    Example: hardwon mcp --json
    """
    if json:
        from hardwon.install.command import MEMBER, NAME, entry
        from hardwon.install.where import Where

        print_json({MEMBER: {NAME: entry(Where(os.environ, Path.home()))}})
        return
    try:
        from hardwon.serve.mcp.transports import run_stdio
    except ImportError as error:
        raise HardwonError("the MCP server is not installed: pip install 'hardwon[mcp]'") from error
    run_stdio()
