"""What every screen shares: the gateway, the runner of its calls, the local clock, and whether changes are
allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.calls import Calls
from console.config import Settings
from console.contexts import Contexts
from console.identity import Identity, Standing, Trust
from console.lists.arrangement import Arrangements
from console.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from console.model import Gateway


@dataclass(slots=True)
class Session:
    """One console on one store. `monotonic` gives seconds; a test's clock stands still.

    `cap` is what the operator says that a day may commit, in micro-dollars: the store keeps none. `columns` are
    the places of those to show, by list. `identity` is what the live connection says of itself, None before it has
    answered. `errands` runs what is no question to the store: programs and files of this machine. `arrangements` are
    what the operator has made of the lists since.
    """

    gateway: Gateway
    calls: Calls
    monotonic: Callable[[], float]
    writable: bool = False
    cap: int | None = None
    settings: Settings = field(default_factory=Settings)
    registry: Registry = field(default_factory=Registry)
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    contexts: Contexts = field(default_factory=Contexts)
    identity: Identity | None = None
    errands: Calls = field(default_factory=Calls)
    arrangements: Arrangements = field(default_factory=Arrangements)

    @property
    def standing(self) -> Standing:
        """Which context the live connection is known as."""
        return self.contexts.standing(self.identity)

    @property
    def environment(self) -> str | None:
        """The word that a phrase names; None until the live connection is known to be a context's store."""
        standing = self.standing
        confirmed = standing.trust is Trust.CONFIRMED and standing.context is not None
        return standing.context.environment.value if confirmed and standing.context is not None else None

    @property
    def forbids_writing(self) -> str | None:
        """Why no read-write window may be opened here, whatever the role may do; None where nothing forbids it."""
        if self.settings.read_only.value:
            return f"read-only by {self.settings.read_only.source}"
        if self.standing.trust is Trust.OTHER:
            return "this is another store than the context stands for; F12 shows both, :trust accepts it"
        return None
