"""What takes long: begun by a button, watched while it runs, left at will."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any

from litestar import Router, get
from litestar.params import Parameter
from litestar.response import Redirect, ServerSentEvent, ServerSentEventMessage
from msgspec import Struct

from hardwon.api import Hardwon
from hardwon.clock import now
from hardwon.errors import HardwonError
from hardwon.harvest.walk import Progress
from hardwon.serve import permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import action, then
from hardwon.serve.routes import Asked, pool

_NEWS = 120 * 1_000_000
_BETWEEN = 0.25
"""Seconds between two looks at how far it is."""


class Work(Struct):
    """Of one kind: what runs, or ran last."""

    kind: str
    about: str = ""
    running: bool = False
    phase: str = ""
    done: int = 0
    of: int = 0
    ended: str = ""
    """What came of it, in a sentence."""
    trouble: bool = False
    at: int = 0
    """When it ended."""
    found: Any = None
    """By the last that went well."""

    @property
    def just_ended(self) -> bool:
        return bool(self.ended) and now() - self.at < _NEWS


Act = Callable[[Hardwon, Progress], tuple[str, Any]]
"""What is done; gives what came of it, in a sentence, and what was found."""
_WORKS: dict[tuple[Path, str], Work] = {}
_STARTING = threading.Lock()


def of_home(home: Path, kind: str) -> Work:
    return _WORKS.setdefault((home, kind), Work(kind))


def runs(home: Path) -> bool:
    """Whether anything does, which the end of the service would cut off."""
    return any(work.running for (where, _), work in [*_WORKS.items()] if where == home)


def begin(home: Path, kind: str, about: str, act: Act, *, patience: float = 0.0) -> bool:
    """Begins it, unless one of its kind runs, and says whether; waits so many seconds for what is soon done."""
    with _STARTING:
        work = of_home(home, kind)
        if work.running:
            return False
        work = _WORKS[home, kind] = Work(kind, about, running=True, at=work.at, found=work.found)
        thread = threading.Thread(target=_run, args=(home, work, act), daemon=True)
        thread.start()
    thread.join(patience)
    return True


def _run(home: Path, work: Work, act: Act) -> None:
    def told(phase: str, done: int, of: int) -> None:
        work.phase, work.done, work.of = phase, done, of

    try:
        with Hardwon(home) as memory:
            work.ended, work.found = act(memory, told)
    except HardwonError as error:
        work.ended, work.trouble = str(error), True
    except Exception as error:
        work.ended, work.trouble = f"it ended early: {type(error).__name__}", True
        raise
    finally:
        work.at, work.running = now(), False


@get("/progress/{kind:str}/events", guards=[permissions.needs("read")], include_in_schema=False)
async def events(request: Asked, kind: Annotated[str, Parameter(max_length=40)]) -> ServerSentEvent:
    """How far it is, until it has ended."""
    permissions.of(request).need_whole_store()
    return ServerSentEvent(_told(_WORKS.get((pool(request).home, kind), Work(kind))))


async def _told(work: Work) -> AsyncIterator[ServerSentEventMessage]:
    last = ""
    while work.running:
        so_far = json.dumps({"phase": work.phase, "done": work.done, "of": work.of})
        if so_far != last:
            last = so_far
            yield ServerSentEventMessage(data=so_far)
        await asyncio.sleep(_BETWEEN)
    yield ServerSentEventMessage(event="end", data="")


@action("/harvest", "admin")
def harvest(request: Asked) -> Redirect:
    frame.form(request)
    permissions.of(request).need_whole_store()
    begin(pool(request).home, "harvest", "Reading the sessions of this machine", _harvest)
    return then("/")


def _harvest(memory: Hardwon, progress: Progress) -> tuple[str, None]:
    progress("looking for sessions", 0, 0)
    found = memory.sessions.retained(memory.discover())
    memory.harvest(found, most=memory.config.sample, progress=progress)
    return f"{frame.count(len(found), 'file')} of agents on this machine looked at.", None


router = Router("/", route_handlers=[harvest, events])
