"""pyproject.toml tells the truth: what it asks for is used, and what is used is asked for."""

from __future__ import annotations

import re
import sys
import tomllib
from typing import TYPE_CHECKING, Any, Final

from console import VERSION
from tests.tidy.rules import imports
from tests.tidy.sources import PACKAGES, ROOT, sources

if TYPE_CHECKING:
    from collections.abc import Iterable

PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
WITH_TEXTUAL: Final = {"rich"}
"""Comes with textual, which hands its objects out."""
DRAWING: Final = "console.shots"
"""Regenerates the pictures, with what the dev extra brings."""


def names(requirements: Iterable[str]) -> set[str]:
    """The distributions that a list of requirements names, as a module would be spelled."""
    return {
        re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0].replace("-", "_") for requirement in requirements
    }


def imported(*packages: str) -> set[str]:
    """The packages of others that are imported, types-only imports left out."""
    own = sys.stdlib_module_names | set(PACKAGES)
    return {
        root
        for source in sources(*packages)
        if not source.module.startswith(DRAWING)
        for name, _ in imports(source)
        if (root := name.partition(".")[0]) not in own
    }


def test_what_the_packages_import_is_what_installing_them_brings() -> None:
    brought = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"]["web"])
    assert imported("engine", "console") - WITH_TEXTUAL == brought


def test_only_the_browser_needs_the_web_extra_and_ci_tests_it() -> None:
    extras = PROJECT["optional-dependencies"]
    wanting = {
        source.module
        for source in sources("engine", "console")
        if {name.partition(".")[0] for name, _ in imports(source)} & names(extras["web"])
    }
    assert {module for module in wanting if not module.startswith("console.web.")} == {"console.cli_serve"}
    assert set(extras["web"]) <= set(extras["dev"])


def test_what_the_tests_import_is_in_the_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    known = names(PROJECT["dependencies"]) | names(extras["dev"]) | names(extras["bench"]) | WITH_TEXTUAL
    assert imported("tests") <= known | {"importlinter", "langgraph"}


def test_the_version_is_told_once() -> None:
    assert PROJECT["version"] == VERSION


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
