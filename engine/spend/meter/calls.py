"""How a meter's failures reach its caller: as one error, upon which nothing may be spent (spend.md 2B.1)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import ReadOnlyStore, SpendMeterUnavailable, StoreClosed, StoreFailure

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unavailable(operation: str) -> Iterator[None]:
    """Turn what the store fails with into SpendMeterUnavailable, its cause chained.

    ReadOnlyStore and StoreClosed pass as they are (ruling 44); so does whatever is no failure of the store.
    """
    try:
        yield
    except (ReadOnlyStore, StoreClosed):
        raise
    except StoreFailure as failure:
        raise SpendMeterUnavailable(operation, failure.message) from failure
