"""The rules of the design that a reader can check file by file: lengths, names, swallowed errors, places."""

from __future__ import annotations

import importlib
import inspect
from typing import Final

from tests.tidy import rules
from tests.tidy.sources import ROOT, source_of, sources, texts

TOP_LEVEL: Final = {"LICENSE", "README.md", "console", "engine", "pyproject.toml", "screenshots", "tests"}
KNOW_A_DIALECT: Final = {
    "engine/checkpoints/claims.py": "one INSERT that passes over a row, in the words of each dialect",
    "engine/checkpoints/refusals.py": "one upsert, worded likewise, and where the last token is read",
    "engine/store.py": "tells the kinds of URL apart, to choose the back end",
    "engine/localpg.py": "runs PostgreSQL and nothing else",
    "engine/localpg_programs.py": "finds PostgreSQL's programs and nothing else",
}
"""Modules outside engine/database that may, and why."""


def test_modules_are_short() -> None:
    assert [place for source in sources() for place in rules.too_long(source)] == []


def test_functions_are_short() -> None:
    assert [place for source in sources() for place in rules.long_functions(source)] == []


def test_modules_are_named_for_an_idea() -> None:
    assert [place for source in sources() for place in rules.vague_names(source)] == []


def test_a_swallowed_exception_says_why() -> None:
    assert [place for source in sources() for place in rules.swallowed(source)] == []


def test_parameters_have_one_order() -> None:
    assert [place for source in sources("tests") for place in rules.shuffled_parameters(source)] == []


def test_dialects_are_known_in_the_database_layer_only() -> None:
    above = [source for source in sources("engine") if not source.path.startswith("engine/database/")]
    knowing = {source.path for source in above if rules.dialect_tests(source)}
    assert knowing <= set(KNOW_A_DIALECT)
    assert set(KNOW_A_DIALECT) <= {source.path for source in above}


def test_no_file_names_a_place_on_one_machine() -> None:
    seen = dict(texts())
    assert "README.md" in seen
    assert ".ci/run" in seen
    found = [f"{path}: {place[0]}" for path, text in seen.items() if (place := rules.PLACE.search(text))]
    assert found == []


def test_the_top_level_holds_what_the_design_lists() -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in found - ignored if not name.endswith(".egg-info")} <= TOP_LEVEL


def test_everything_public_in_the_engine_is_documented() -> None:
    missing = [
        f"{place} {name}"
        for source in sources("engine")
        if not source.path.startswith("engine/database/migrations/versions/")
        for place, name in rules.undocumented(source)
        if not _inherits(source.module, name)
    ]
    assert missing == []


def _inherits(module: str, name: str) -> bool:
    """Whether a method is told about by the class that declares it first."""
    owner, _, method = name.rpartition(".")
    if not owner:
        return False
    found = importlib.import_module(module)
    for part in owner.split("."):
        found = getattr(found, part)
    return inspect.getdoc(getattr(found, method)) is not None


def test_a_file_is_read_as_it_is_imported() -> None:
    assert source_of("", "engine/database/__init__.py").module == "engine.database"
    assert source_of("", "engine/store.py").module == "engine.store"
