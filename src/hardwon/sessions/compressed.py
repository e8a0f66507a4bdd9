"""Open transcripts, also those that an agent has compressed to save space."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast


def is_compressed(path: str) -> bool:
    return path.endswith((".zst", ".zstd"))


def first_bytes(path: str, start: int, count: int) -> bytes:
    """Of a file that is not compressed, without the buffers that would cost a small one more than reading it."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if start:
            os.lseek(file, start, os.SEEK_SET)
        content = os.read(file, max(count, 0))
        while len(content) < count and (more := os.read(file, count - len(content))):
            content += more
        return content
    finally:
        os.close(file)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
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
