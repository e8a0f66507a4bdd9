"""The public methods of the API as they stand in its source: what `docs/api.md` is made from."""

from __future__ import annotations

import ast
import inspect
import textwrap
from importlib import import_module
from typing import Any, NamedTuple

from hardwon.api import hardwon
from hardwon.api.connection import Part

NOUNS = ("lessons", "failures", "sessions", "journal", "interactions", "documents", "review", "store", "team")


class Method(NamedTuple):
    name: str
    signature: str
    doc: str


def noun_class(noun: str) -> type[Part]:
    found: type[Part] = getattr(import_module(f"hardwon.api.{noun}"), noun.capitalize())
    return found


def methods_of(noun: str) -> list[Method]:
    """In the order of the source; `list` last, for behind it the name means the method."""
    found: dict[str, Method] = {}
    for owner in reversed(noun_class(noun).__mro__):
        if issubclass(owner, Part) and owner is not Part:
            found |= {method.name: method for method in _methods(owner)}
    return sorted(found.values(), key=lambda method: method.name == "list")


def verbs() -> list[Method]:
    return _methods(hardwon.Hardwon)


def _methods(owner: type[Any]) -> list[Method]:
    public = [name for name, each in vars(owner).items() if inspect.isfunction(each) and not name.startswith("_")]
    return [_method(owner, name) for name in public]


def _method(owner: type[Any], name: str) -> Method:
    function = getattr(owner, name)
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    assert tree.returns is not None
    signature = f"({ast.unparse(tree.args)}) -> {ast.unparse(tree.returns)}"
    return Method(name, signature, inspect.getdoc(function) or "")
