"""Whole refusals compared by value: every field counts, and nothing but the expected error passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import BusyHolder, HolderKind
from engine.errors import EngineError, ThreadBusy

if TYPE_CHECKING:
    from collections.abc import Callable

UNNAMED = BusyHolder(HolderKind.UNNAMED)


def named(run_id: str) -> BusyHolder:
    """A holder that the caller may know."""
    return BusyHolder(HolderKind.RUN, run_id)


def refused(expected: EngineError, call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`call(*args, **kwargs)` raises exactly `expected`."""
    with pytest.raises(type(expected)) as caught:
        call(*args, **kwargs)
    assert type(caught.value) is type(expected)
    assert caught.value == expected


def busy(
    t: str, latest: str | None, holder: BusyHolder, call: Callable[..., Any], *args: Any, **kwargs: Any
) -> None:
    """`call` is refused because `holder` has the thread; no store ever says LAPSED (case 36)."""
    with pytest.raises(ThreadBusy) as caught:
        call(*args, **kwargs)
    assert caught.value == ThreadBusy(t, latest, holder)
    assert caught.value.holder.kind in (HolderKind.RUN, HolderKind.UNNAMED)
