"""The project's own files, read once: what the tidy tests look at."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("engine", "console", "tests")
TEXTS: Final = (".cfg", ".mako", ".md", ".py", ".svg", ".tcss", ".toml", ".txt", ".yml")


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path below the root, its lines and its syntax tree."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module

    @property
    def package(self) -> str:
        """The folder at the top: engine, console or tests."""
        return self.path.split("/", 1)[0]

    @property
    def module(self) -> str:
        """The name it is imported by."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function, at any depth."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def at(self, node: ast.expr | ast.stmt | ast.excepthandler) -> str:
        """Where a node is, as an editor takes it."""
        return f"{self.path}:{node.lineno}"


def source_of(text: str, path: str = "engine/sample.py") -> Source:
    """A file that exists only in a test."""
    return Source(path, tuple(text.splitlines()), ast.parse(text))


@cache
def sources(*packages: str) -> tuple[Source, ...]:
    """The Python files of these packages, or of all."""
    paths = [path for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert paths, f"no sources below {ROOT}"
    return tuple(source_of(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))) for path in paths)


def texts() -> Iterator[tuple[str, str]]:
    """Path and content of every text file that is part of the project."""
    roots = [*(ROOT / package for package in (*PACKAGES, "screenshots")), ROOT / ".ci"]
    tops = [path for path in ROOT.iterdir() if path.is_file()]
    for path in [*tops, *(found for root in roots for found in sorted(root.rglob("*")))]:
        if path.is_file() and (path.suffix in TEXTS or path.parent.name == ".ci"):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
