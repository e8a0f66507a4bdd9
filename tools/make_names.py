"""Writes the public names and their places into `src/hardwon/__init__.py`, from what that imports for type checkers."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src" / "hardwon" / "__init__.py"


def generated() -> str:
    source = TARGET.read_text(encoding="utf-8")
    places = _imported(source)
    public = sorted([*(name for names in places.values() for name in names), "__version__"])
    every = ", ".join(f'"{name}"' for name in public) + ","
    listed = textwrap.fill(every, 116, initial_indent="    ", subsequent_indent="    ")
    source = _between(source, "__all__ = [\n", "\n]  # fmt: skip", listed)
    return _between(source, "_NAMES = {\n", "\n}  # fmt: skip", "\n".join(map(_line, sorted(places.items()))))


def _imported(source: str) -> dict[str, dict[str, str]]:
    """Module → the public names of what it has."""
    found: dict[str, dict[str, str]] = {}
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name):
            for node in block.body:
                assert isinstance(node, ast.ImportFrom)
                assert node.module
                names = {each.asname or each.name: each.name for each in node.names}
                found.setdefault(node.module, {}).update(names)
    return found


def _line(entry: tuple[str, dict[str, str]]) -> str:
    module, names = entry
    told = " ".join(name if name == own else f"{name}={own}" for name, own in sorted(names.items()))
    parts = [f'"{part} "' for part in textwrap.wrap(told, 100)]
    if len(parts) == 1 and len(module) + len(told) < 100:
        return f'    "{module}": "{told}",'
    return f'    "{module}":\n' + "\n".join(f"        {part}" for part in parts) + ","


def _between(source: str, begin: str, end: str, text: str) -> str:
    before, _, rest = source.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{text}{end}{after}"


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
