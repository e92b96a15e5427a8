"""A sweep's guard named in a configuration as `module:function` (ruling 49)."""

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
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise _bad(name, "write module:function")
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # whatever the module's own code raises
        raise _bad(name, f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise _bad(name, f"{module!r} has no {path!r}")
    if not callable(found):
        raise _bad(name, f"{path!r} cannot be called")
    guard: SweepGuard = found
    return guard


def _bad(name: str, problem: str) -> ValidationError:
    return ValidationError("guard", (f"{name!r}: {problem}",))
