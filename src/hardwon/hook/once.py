"""What was done already: an event that fires twice is answered once. Standard library only.

A thing that was done is an empty file named by its hash, made so that only one of any number of hooks can make it.
Where no file can be made, everything counts as new: saying something twice is better than not at all.
"""

from __future__ import annotations

import os
import time

from hardwon.home import private
from hardwon.text.normalise import digest

FOLDER = "said"
_SAME_FIRING_SECONDS = 5
"""Within which the same event is taken to be the same firing."""
KEPT_SECONDS = 30 * 24 * 3600


def first(home: str, *what: str) -> bool:
    """Whether this was never done; it counts as done from now on."""
    return _made(home, digest(*what))


def done(home: str, *what: str) -> bool:
    return os.path.exists(os.path.join(home, FOLDER, digest(*what)))


def fired_twice(home: str, *what: str) -> bool:
    """Whether the same happened a moment ago."""
    window = time.time_ns() // (_SAME_FIRING_SECONDS * 1_000_000_000)
    return done(home, *what, str(window - 1)) or not _made(home, digest(*what, str(window)))


def _made(home: str, name: str) -> bool:
    folder = os.path.join(home, FOLDER)
    for _ in range(2):
        try:
            os.close(private(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            return True
        except FileExistsError:
            return False
        except OSError:
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                continue  # another hook was quicker
            except OSError:
                return True
    return True


def prune(home: str) -> None:
    """Remove what is too old to happen again."""
    folder, now = os.path.join(home, FOLDER), time.time()
    try:
        for entry in os.scandir(folder):
            if now - entry.stat(follow_symlinks=False).st_mtime > KEPT_SECONDS:
                os.remove(entry.path)
    except OSError:
        return  # another was quicker, or there is nothing
