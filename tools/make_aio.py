"""Writes `src/hardwon/aio.py`: the API with every method awaitable, fully typed. Run by `make generated`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.facade import NOUNS, Method, imports_of, methods_of, noun_class, verbs

TARGET = Path(__file__).parent.parent / "src" / "hardwon" / "aio.py"

HEAD = '''"""The same, awaitable: every call runs in one worker thread of its own, so that the event loop never waits.

>>> async with AsyncHardwon() as memory:
...     await memory.journal.log(Attempt("add a lock to the store"))
...     print(await memory.search("lock"))

Written by `make generated` from the methods of `hardwon.api`; do not change it by hand.
"""

from __future__ import annotations

import asyncio
{plain}
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from hardwon.api import Hardwon
from hardwon.config import Config

if TYPE_CHECKING:
{typed}

P = ParamSpec("P")
T = TypeVar("T")


class _Worker:
    """One thread, in which alone the store is opened, used and closed."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="hardwon")

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(call, *values, **named))

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


class AsyncHardwon:
    """`Hardwon` with every method awaitable."""

    def __init__(self, home: AnyPath | None = None) -> None:
        self._memory = Hardwon(home)
        self._worker = _Worker()
{parts}

    @property
    def home(self) -> Path:
        return self._memory.home

    @property
    def config(self) -> Config:
        return self._memory.config

    async def __aenter__(self) -> AsyncHardwon:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store and end the worker."""
        await self._worker.run(self._memory.close)
        self._worker.stop()
'''

NOUN = '''

class Async{name}:
    """{doc}"""

    def __init__(self, subject: {name}, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker
'''

METHOD = '''
    async def {name}{signature}:
        """{doc}"""
        return await self._worker.run(self.{subject}.{name}, {passed})
'''


def generated() -> str:
    methods = {noun: methods_of(noun) for noun in NOUNS}
    every = [*verbs(), *(method for some in methods.values() for method in some)]
    plain, typed = _imports(every)
    classes = {noun: noun_class(noun) for noun in NOUNS}
    typed |= {f"from {each.__module__} import {each.__name__}" for each in classes.values()}
    typed.add(imports_of("hardwon.api.hardwon")["AnyPath"])
    parts = "\n".join(
        f"        self.{noun} = Async{each.__name__}(self._memory.{noun}, self._worker)"
        for noun, each in classes.items()
    )
    text = HEAD.format(
        plain="\n".join(sorted(plain)), typed="\n".join(f"    {line}" for line in sorted(typed)), parts=parts
    )
    text += "".join(_written(method, "_memory") for method in verbs())
    for noun, each in classes.items():
        text += NOUN.format(name=each.__name__, doc=(each.__doc__ or "").strip())
        text += "".join(_written(method, "_subject") for method in methods[noun])
    return _formatted(text)


def _imports(every: list[Method]) -> tuple[set[str], set[str]]:
    """Statements that defaults need when the module is loaded, and those that only types need."""
    found = {imports_of(method.module)[name] for method in every for name in method.names()}
    plain = {line for line in found if line.startswith("import ")}
    return plain, found - plain


def _written(method: Method, subject: str) -> str:
    doc = method.doc.replace("\n", "\n        ").replace("        \n", "\n")
    if "\n" in doc:
        doc += "\n        "
    return METHOD.format(
        name=method.name, signature=method.signature, doc=doc, subject=subject, passed=method.passed
    ).replace(", )", ")")


def _formatted(text: str) -> str:
    for command in (["check", "--fix", "--quiet", "--select", "I,UP,F401"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET), "-"]
        done = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True)  # noqa: S603
        text = done.stdout
    return text


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
