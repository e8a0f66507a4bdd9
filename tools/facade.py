"""The public methods of the API as they stand in its source: what `aio.py` and `docs/api.md` are made from."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from typing import Any, NamedTuple

from hardwon.api import hardwon
from hardwon.api.connection import Part

NOUNS = ("lessons", "failures", "sessions", "journal", "interactions", "documents", "review", "store")


class Method(NamedTuple):
    name: str
    arguments: ast.arguments
    returns: str
    doc: str
    module: str

    @property
    def signature(self) -> str:
        return f"({ast.unparse(self.arguments)}) -> {self.returns}"

    @property
    def passed(self) -> str:
        """The arguments as they are handed on."""
        by_place = [argument.arg for argument in self.arguments.args[1:]]
        return ", ".join([*by_place, *(f"{argument.arg}={argument.arg}" for argument in self.arguments.kwonlyargs)])

    def names(self) -> set[str]:
        """What the annotations and defaults speak of, apart from builtins."""
        trees = [self.arguments, ast.parse(self.returns)]
        found = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return {name for name in found if not hasattr(builtins, name)}


def noun_class(noun: str) -> type[Part]:
    found: type[Part] = getattr(hardwon, noun.capitalize())
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
    return Method(name, tree.args, ast.unparse(tree.returns), inspect.getdoc(function) or "", owner.__module__)


def imports_of(module: str) -> dict[str, str]:
    """Name → the statement that imports it, of everything that a module imports or defines."""
    source = inspect.getsource(sys.modules[module])
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {each.asname or each.name: _from(node.module, each) for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.asname or each.name: f"import {each.name}" for each in node.names}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ClassDef):
            found[statement.name] = f"from {module} import {statement.name}"
        elif isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            found |= {name: f"from {module} import {name}" for name in names}
    return found


def _from(module: str, each: ast.alias) -> str:
    alias = f" as {each.asname}" if each.asname else ""
    return f"from {module} import {each.name}{alias}"
