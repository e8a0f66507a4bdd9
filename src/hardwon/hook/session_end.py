"""A session ended: ask for its harvest and start a process of its own that does it, gently, and ends."""

from __future__ import annotations

import json
import os
import sys

from hardwon.home import private, private_folder
from hardwon.text.normalise import digest

PENDING = "pending"
"""The folder of requests: one file for each transcript that is to be harvested."""
MODULE = "hardwon.afterwards"
_WINDOWS_DETACHED = 0x00000008
_WINDOWS_NEW_GROUP = 0x00000200
_WINDOWS_BELOW_NORMAL = 0x00004000
_WINDOWS_BREAK_AWAY = 0x01000000


def harvest(home: str, event: dict[str, object]) -> None:
    """Leave the request first: whichever process harvests next takes it, even if none can be started now."""
    ask(home, str(event.get("agent") or ""), str(event.get("transcript_path") or ""))
    start()


def ask(home: str, agent: str, transcript: str) -> None:
    folder = os.path.join(home, PENDING)
    private_folder(folder)
    name = os.path.join(folder, digest(agent, transcript))
    unfinished = f"{name}.{os.getpid()}.new"
    with open(unfinished, "w", encoding="utf-8", opener=private) as file:
        json.dump({"agent": agent, "transcript": transcript}, file)
    os.replace(unfinished, name + ".json")


def start() -> None:
    """A process that outlives us, the agent and its terminal; nobody waits for it and it writes to none."""
    import subprocess

    home = os.path.expanduser("~")
    cwd = home if os.path.isdir(home) else None  # the session's folder may be deleted or unmounted meanwhile

    def run(flags: int = 0) -> None:
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-E", "-P", "-m", MODULE],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=sys.platform != "win32",
            creationflags=flags,
        )

    if sys.platform != "win32":
        run()
        return
    flags = _WINDOWS_DETACHED | _WINDOWS_NEW_GROUP | _WINDOWS_BELOW_NORMAL
    try:
        run(flags | _WINDOWS_BREAK_AWAY)
    except OSError:  # the job that the agent runs us in lets none leave
        run(flags)
