"""Functions named in a configuration as `module:function`: a sweep's guard, a resolver (ruling 49)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from engine.errors import ValidationError

if TYPE_CHECKING:
    from engine.checkpoints import SweepGuard


def load_guard(name: str) -> SweepGuard:
    """The guard `module:function`; ValidationError (field `guard`) that says what is wrong with the name.

    The module is found as any import of this program finds it.
    """
    guard: SweepGuard = load_function("guard", name)
    return guard


def load_function(field: str, name: str) -> Any:
    """The function `module:function`; ValidationError, naming the field, that says what is wrong with the name."""
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise _bad(field, name, "write module:function")
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # whatever the module's own code raises
        raise _bad(field, name, f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise _bad(field, name, f"{module!r} has no {path!r}")
    if not callable(found):
        raise _bad(field, name, f"{path!r} cannot be called")
    return found


def _bad(field: str, name: str, problem: str) -> ValidationError:
    return ValidationError(field, (f"{name!r}: {problem}",))
