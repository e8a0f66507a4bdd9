"""Transcripts that an agent has compressed to save space."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast


def is_compressed(path: Path) -> bool:
    return path.name.endswith((".zst", ".zstd"))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file's content, unpacked if it is compressed. Raises OSError when the compression is damaged."""
    if not is_compressed(path):
        with open(path, "rb") as file:
            yield file
        return
    # Imported when there is such a file: few have one.
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    try:
        with zstd.open(path, "rb") as unpacked:
            yield cast(IO[bytes], unpacked)
    except (zstd.ZstdError, EOFError) as error:
        raise OSError(f"damaged compression: {error}") from error
