"""Writes `docs/api.md` from the docstrings of the public API. Run by `make generated`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec

import hardwon
from tools.facade import NOUNS, Method, methods_of, noun_class, verbs

TARGET = Path(__file__).parent.parent / "docs" / "api.md"

CALLED_OTHERWISE = {"report.Report": "ReplayReport", "Report": "HarvestReport", "Header": "DumpHeader"}
"""What is called otherwise where it is defined."""

HEAD = """# The Python API

Written by `make generated` from the docstrings; do not change it by hand. Everything named here is imported
from `hardwon`.

```python
from hardwon import Hardwon

with Hardwon() as memory:
    memory.harvest(memory.discover())
    print(memory.bootstrap("tidepool", task="fix the tests").text)
    for failure in memory.failures.list(project="tidepool"):
        print(failure.error, [fix.text for fix in failure.fixes])
```

- `Hardwon(home, wait=…)`: the store in that folder, by default in the [usual one](settings.md); `wait` says for how
  many milliseconds it waits for another writer. `close()`, or the end of `with`, ends its connections; a call after
  that opens them again.
- One `Hardwon` is for one thread at a time: have one for each (`StoreError` says so), or use `AsyncHardwon`.
- `Kind`, `Scope` and `Status` are the words that a lesson's fields take; `rejected` finds the status `invalid`.
- An attempt is named by its number or by its id (`A…`), everywhere; where several names may be given, one will do.
- `AsyncHardwon` has the same methods as coroutines: `await memory.search("lock")`.
- `connect(url, token)` has the same methods against a [service](service.md); what a service does not offer is
  marked *local* below and raises `NotOffered`.
- Paths may be strings; a folder means all sessions in it. Times are aware `datetime`s in UTC; one without a zone is
  taken for UTC.
- A project is named by its name, git remote, folder or id.
- With `HARDWON_OFF=1` nothing is harvested, logged, recorded, ingested, proposed or reflected upon, and no feedback is
  taken: these raise `HardwonError`. `bootstrap`, `map`, `failures.recall` and `journal.past_failures` tell nothing.
  What a person decides (`lessons.add`, `review`, `store`) and looks for (`search`, lists) works.

"""


def generated() -> str:
    from hardwon.client import NOT_OFFERED  # noqa: PLC0415 - needs the extras' types

    parts = [HEAD, "## `Hardwon`\n\n", f"{_first(hardwon.Hardwon)}\n\n"]
    parts += [_method("memory", method, local=method.name in NOT_OFFERED) for method in verbs()]
    for noun in NOUNS:
        parts.append(f"## `memory.{noun}`\n\n{_first(noun_class(noun))}\n\n")
        some = sorted(methods_of(noun), key=lambda method: method.name != "list")
        parts += [_method(f"memory.{noun}", each, local=f"{noun}.{each.name}" in NOT_OFFERED) for each in some]
    parts.append("## What is taken and returned\n\n| name | fields |\n|---|---|\n")
    parts += [_row(name, each) for name, each in _public() if _fields(each)]
    parts.append("\n## Errors\n\n| name | |\n|---|---|\n")
    parts += [f"| `{name}` | {_first(each)} |\n" for name, each in _public() if _is_error(each)]
    return "".join(parts).rstrip() + "\n"


def _method(owner: str, method: Method, *, local: bool) -> str:
    mark = " *local*" if local else ""
    signature = re.sub(r"(?<=[\w\]])=(?=\S)", " = ", method.signature).replace("(self, ", "(").replace("(self)", "()")
    for inner, public in CALLED_OTHERWISE.items():
        signature = re.sub(rf"(?<![\w.]){re.escape(inner)}\b", public, signature)
    return f"**`{owner}.{method.name}{signature}`**{mark}\n\n{_flowed(method.doc)}\n\n"


def _row(name: str, each: type[Any]) -> str:
    return f"| `{name}` | {_first(each)} {', '.join(f'`{field}`' for field in _fields(each))} |\n"


def _fields(each: Any) -> tuple[str, ...]:
    if inspect.isclass(each) and issubclass(each, msgspec.Struct):
        return tuple(each.__struct_fields__)
    return tuple(getattr(each, "_fields", ()))


def _public() -> list[tuple[str, Any]]:
    return [(name, getattr(hardwon, name)) for name in hardwon.__all__]


def _is_error(each: Any) -> bool:
    return inspect.isclass(each) and issubclass(each, Exception)


def _first(each: Any) -> str:
    """The first paragraph of a docstring of its own, in one line."""
    doc = inspect.cleandoc(each.__dict__.get("__doc__") or "")
    return " ".join(doc.split("\n\n")[0].split())


def _flowed(doc: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in doc.split("\n\n"))


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
