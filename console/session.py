"""What every screen shares: the gateway, the runner of its calls, the local clock, and whether changes are
allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.calls import Calls
    from console.model import Gateway


@dataclass(slots=True)
class Session:
    """One console on one store. `monotonic` gives seconds; a test's clock stands still."""

    gateway: Gateway
    calls: Calls
    monotonic: Callable[[], float]
    writable: bool = False
