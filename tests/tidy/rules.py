"""The rules of style as functions: each takes a source and answers the places that break it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tidy.sources import Source

MODULE_LINES: Final = {"engine": 400, "console": 400, "tests": 600}
FUNCTION_LINES: Final = 60
VAGUE: Final = frozenset({"common", "commons", "helpers", "misc", "util", "utils"})
DIALECTS: Final = frozenset({"postgresql", "sqlite"})
PLACE: Final = re.compile(r"(?<![\w.~$}])/(?:home|opt|root|srv|Users|work)/\w[\w./-]*")
"""An absolute path below a folder that only one machine has."""

Passed = ast.Pass | ast.Continue
Function = ast.FunctionDef | ast.AsyncFunctionDef


def too_long(source: Source) -> list[str]:
    """A module past its limit of lines."""
    limit = MODULE_LINES[source.package]
    count = len(source.lines)
    return [f"{source.path}: {count} lines; split it before {limit}"] if count > limit else []


def long_functions(source: Source) -> list[str]:
    """Functions past sixty lines, without their decorators."""
    return [
        f"{source.at(node)} {node.name}: {size} lines"
        for node in source.functions()
        if (size := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]


def vague_names(source: Source) -> list[str]:
    """Modules and packages named for nothing in particular."""
    return [source.path] if VAGUE & set(source.module.split(".")) else []


def swallowed(source: Source) -> list[str]:
    """Handlers and `suppress` blocks that let an exception go, without a comment that says why."""
    blocks = [node for node in ast.walk(source.tree) if isinstance(node, ast.ExceptHandler | ast.With)]
    return [source.at(node) for node in blocks if _swallows(node) and not _explained(source, node)]


def _swallows(node: ast.ExceptHandler | ast.With) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return all(isinstance(statement, Passed) or _returns_nothing(statement) for statement in node.body)
    return any(_is_suppress(item.context_expr) for item in node.items)


def _returns_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    # `return None` in so many words is an answer, which the docstring tells about.
    return isinstance(statement, ast.Return) and statement.value is None


def _is_suppress(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(name == "suppress")


def _explained(source: Source, node: ast.ExceptHandler | ast.With) -> bool:
    """Whether a comment stands in the block, on its first line, or just above it."""
    return any("#" in line for line in source.lines[node.lineno - 2 : node.end_lineno])


def dialect_tests(source: Source) -> list[str]:
    """Places that ask which database is behind them; the back end, a column type or a construct should."""
    return [source.at(node) for node in ast.walk(source.tree) if isinstance(node, ast.expr) and _asks(node)]


def _asks(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "dialect"
    return isinstance(node, ast.Constant) and node.value in DIALECTS


def shuffled_parameters(source: Source) -> list[str]:
    """Tests parametrized by a set, whose order differs between the processes that share the tests out."""
    return [
        source.at(call)
        for node in source.functions()
        for call in node.decorator_list
        if isinstance(call, ast.Call) and any(_is_set(argument) for argument in call.args)
    ]


def _is_set(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_set(value.left)
    called = isinstance(value, ast.Call) and getattr(value.func, "id", "") in {"frozenset", "set"}
    return called or isinstance(value, ast.Set | ast.SetComp)


def imports(source: Source) -> Iterator[tuple[str, ast.stmt]]:
    """Every module a source imports, at the top or inside, those for types only left out."""
    typing_only = {id(child) for block in _type_blocks(source.tree) for child in ast.walk(block)}
    for node in ast.walk(source.tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ".", node


def _type_blocks(tree: ast.Module) -> Iterator[ast.If]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node


def undocumented(source: Source) -> Iterator[tuple[str, str]]:
    """Public classes, functions and methods without a docstring of their own: where, and the dotted name."""
    if ast.get_docstring(source.tree) is None:
        yield source.path, ""
    yield from _undocumented(source, source.tree, "")


def _undocumented(source: Source, scope: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    for node in scope.body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None:
            yield source.at(node), f"{prefix}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(source, node, f"{prefix}{node.name}.")
