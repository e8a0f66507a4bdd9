"""`mcp`: the memory for an agent that speaks the Model Context Protocol."""

from __future__ import annotations

import os
from pathlib import Path

from oldhand.cli.output import Json, print_json
from oldhand.errors import OldhandError


def mcp(json: Json = False) -> None:
    """Serve an agent over stdin and stdout; the agent starts it.

    With --json, print the entry for the agent's settings instead.

    Example: oldhand mcp --json
    """
    if json:
        from oldhand.install.server import MEMBER, NAME, entry
        from oldhand.install.where import Where

        print_json({MEMBER: {NAME: entry(Where(os.environ, Path.home()))}})
        return
    try:
        from oldhand.serve.mcp.transports import run_stdio
    except ImportError as error:
        raise OldhandError("this needs an extra: pip install 'oldhand[mcp]'") from error
    run_stdio()
