"""Errors of the disk itself, by a library that is loaded before the system's."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.faults.trial import REPOSITORY, WRITES, Outcome, each, judged, new_home, write
from hardwon import Hardwon, HardwonError

DISK_CALLS = 1500
_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long left = -1;
static int fails(int file) {
    char link[64], path[4096];
    if (left < 0) left = atol(getenv("FAULT_AT"));
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    if (!strstr(path, getenv("FAULT_IN"))) return 0;
    return --left == 0 ? (errno = EIO, 1) : 0;
}
#define SHIM(type, name, parameters, given) \
    type name parameters { \
        static type (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        return fails(file) ? -1 : real given; }
SHIM(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
SHIM(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
SHIM(ssize_t, pread64, (int file, void *data, size_t size, off64_t at), (file, data, size, at))
SHIM(ssize_t, pread, (int file, void *data, size_t size, off_t at), (file, data, size, at))
SHIM(int, fsync, (int file), (file))
SHIM(int, fdatasync, (int file), (file))
"""
_WRITES_IN_A_PROCESS = """
import sys
from benchmarks.faults.disk import write_all
write_all(sys.argv[1])
"""


def write_all(home: str) -> None:
    """What a process of its own does: a line for each write that is done."""
    try:
        with Hardwon(home) as memory:
            for number in range(WRITES):
                write(memory, number)
                print(number, flush=True)
    except HardwonError as error:
        print(f"said: {error}")


def disk_errors(trials: int, seed: int) -> Outcome:
    """Reading, writing or syncing fails once, anywhere (EIO)."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return Outcome()
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "shim.c", Path(folder) / "shim.so"
        source.write_text(_SHIM)
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)

        def run(trial: int) -> Outcome:
            with new_home() as home:
                at = random.Random(f"{seed} {trial}").randint(1, DISK_CALLS)
                env = {**os.environ, "LD_PRELOAD": str(library), "FAULT_AT": str(at), "FAULT_IN": str(home)}
                command = [sys.executable, "-c", _WRITES_IN_A_PROCESS, str(home)]
                done = subprocess.run(command, env=env, cwd=REPOSITORY, capture_output=True, text=True, check=False)
                acknowledged = [int(line) for line in done.stdout.split("\n") if line.isdigit()]
                return judged(home, acknowledged, "raw" if done.returncode else "")

        return each(trials, seed, run)
