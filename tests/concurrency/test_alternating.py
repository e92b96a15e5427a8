"""Two stores over one file, used in turns, pass the whole contract: case 126 of checkpoints.md.

Every contract test that asks for nothing but a harness is run once more, its calls going by turns to a store
of this process and to one of another process.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import tests.contract
from tests.support.alternating import AlternatingHarness, OtherProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.storages import SqliteFiles

HARNESSES = frozenset({"harness", "harness_any_clock"})


def contract() -> list[Any]:
    """Every case of the contract, with each of its parameters, as a call that takes a harness."""
    found = []
    for module in pkgutil.iter_modules(tests.contract.__path__):
        loaded = importlib.import_module(f"tests.contract.{module.name}")
        for name, case in vars(loaded).items():
            if name.startswith("test_core_"):
                found += variants(f"{module.name}.{name}", case)
    return found


def variants(name: str, case: Callable[..., None]) -> list[Any]:
    """The case with every combination of its parameters; none if it wants more than a harness and those."""
    marks = [mark for mark in getattr(case, "pytestmark", []) if mark.name == "parametrize"]
    choices = [[assignment(mark.args[0], value) for value in mark.args[1]] for mark in marks]
    made = []
    for number, chosen in enumerate(product(*choices)):
        options = {key: value for part in chosen for key, value in part.items()}
        wanted = set(inspect.signature(case).parameters) - set(options)
        if len(wanted) == 1 and wanted <= HARNESSES:
            made.append(pytest.param(case, wanted.pop(), options, id=f"{name}-{number}"))
    return made


def assignment(names: str | tuple[str, ...], values: Any) -> dict[str, Any]:
    """One choice of a parametrisation, by name."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    return dict(zip(keys, [values] if len(keys) == 1 else values, strict=True))


@pytest.fixture(scope="module")
def other_process() -> Iterator[OtherProcess]:
    """A process that opens stores and runs their calls for us."""
    with OtherProcess() as process:
        yield process


@pytest.fixture
def in_turns(
    sqlite_storage: SqliteFiles, tmp_path: Path, other_process: OtherProcess
) -> Iterator[AlternatingHarness]:
    """A harness whose store is two."""
    harness = AlternatingHarness(sqlite_storage, tmp_path, other_process)
    try:
        yield harness
    finally:
        harness.close()


@pytest.mark.parametrize(("case", "argument", "options"), contract())
def test_core_126_two_processes_in_turns(
    in_turns: AlternatingHarness, case: Callable[..., None], argument: str, options: dict[str, Any]
) -> None:
    case(**{argument: in_turns}, **options)
