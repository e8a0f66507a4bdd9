"""Reading the sessions of this machine from a page: begun by a button, watched while it runs, left at will."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from litestar import Router, get
from litestar.response import Redirect, ServerSentEvent, ServerSentEventMessage
from msgspec import Struct

from hardwon.api import Hardwon
from hardwon.errors import HardwonError
from hardwon.serve import permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import action, then
from hardwon.serve.routes import Asked, pool

_BETWEEN = 0.25
"""Seconds between two looks at how far it is."""


class Harvesting(Struct):
    """A harvest that runs, or ran last."""

    running: bool = False
    phase: str = ""
    done: int = 0
    of: int = 0
    ended: str = ""
    """What came of it, in a sentence."""
    trouble: bool = False


_OF_HOME: dict[Path, Harvesting] = {}
_STARTING = threading.Lock()


def of_home(home: Path) -> Harvesting:
    return _OF_HOME.setdefault(home, Harvesting())


@action("/harvest", "admin")
def begin(request: Asked) -> Redirect:
    """Begins one, unless one runs."""
    frame.form(request)
    permissions.of(request).need_whole_store()
    home = pool(request).home
    with _STARTING:
        if not of_home(home).running:
            _OF_HOME[home] = Harvesting(running=True, phase="looking for sessions")
            threading.Thread(target=_harvest, args=(home, _OF_HOME[home]), daemon=True).start()
    return then("/")


def _harvest(home: Path, work: Harvesting) -> None:
    def told(phase: str, done: int, of: int) -> None:
        work.phase, work.done, work.of = phase, done, of

    try:
        with Hardwon(home) as memory:
            found = memory.sessions.retained(memory.discover())
            memory.harvest(found, most=memory.config.sample, progress=told)
            work.ended = f"{frame.count(len(found), 'file')} of agents on this machine looked at."
    except HardwonError as error:
        work.ended, work.trouble = str(error), True
    except Exception as error:
        work.ended, work.trouble = f"it ended early: {type(error).__name__}", True
        raise
    finally:
        work.running = False


@get("/harvest/events", guards=[permissions.needs("admin")], include_in_schema=False)
async def events(request: Asked) -> ServerSentEvent:
    """How far it is, until it has ended."""
    permissions.of(request).need_whole_store()
    return ServerSentEvent(_told(of_home(pool(request).home)))


async def _told(work: Harvesting) -> AsyncIterator[ServerSentEventMessage]:
    last = ""
    while work.running:
        now = json.dumps({"phase": work.phase, "done": work.done, "of": work.of})
        if now != last:
            last = now
            yield ServerSentEventMessage(data=now)
        await asyncio.sleep(_BETWEEN)
    yield ServerSentEventMessage(event="end", data="")


router = Router("/", route_handlers=[begin, events])
