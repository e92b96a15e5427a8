"""What every screen shares: the gateway, the runner of its calls, the local clock, and whether changes are
allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.acting import permission
from console.acting.model import Person, Route
from console.acting.sending import Sending
from console.acting.window import Window
from console.calls import Calls
from console.config import Settings
from console.contexts import Contexts
from console.lists.arrangement import Arrangements
from console.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta

    from console.acting.door import Acting
    from console.acting.model import Outcome
    from console.acting.plans import Bounds
    from console.habits import Habits
    from console.identity import Identity, Standing
    from console.reading import Gateway


@dataclass(slots=True)
class Session:
    """One console on one store. `monotonic` gives seconds; a test's clock stands still.

    `cap` is what the operator says that a day may commit, in micro-dollars: the store keeps none. `columns` are
    the places of those to show, by list. `identity` is what the live connection says of itself, None before it has
    answered. `errands` runs what is no question to the store: programs and files of this machine. `arrangements` are
    what the operator has made of the lists since. `wall` is this machine's clock and `skew` how far it is ahead of
    the store's; without the one there is no other. `habits` keeps what is chosen by key; `every` is the refresh in
    seconds that was, None while the configuration's holds. `acting` is the door of changes, `acts` runs them one after
    the other, `person` is on whose word, and `route` how he asked for what is being done. `sending` is the way of every
    change that has an operation id: it keeps what was sent, and finds out what became of it. `job_here` is the job that
    this console carries out.
    """

    gateway: Gateway
    calls: Calls
    monotonic: Callable[[], float]
    cap: int | None = None
    settings: Settings = field(default_factory=Settings)
    registry: Registry = field(default_factory=Registry)
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    contexts: Contexts = field(default_factory=Contexts)
    identity: Identity | None = None
    errands: Calls = field(default_factory=Calls)
    arrangements: Arrangements = field(default_factory=Arrangements)
    wall: Callable[[], datetime] | None = None
    skew: timedelta | None = None
    habits: Habits | None = None
    every: float | None = None
    acting: Acting | None = None
    person: Person = field(default_factory=Person.here)
    route: Route = Route.KEY
    window: Window = field(init=False)
    job_here: str | None = None
    acts: Calls = field(default_factory=lambda: Calls(1))
    sending: Sending = field(init=False)

    def __post_init__(self) -> None:
        self.window = Window(self.monotonic)
        self.sending = Sending(
            acts=lambda: self.acts,
            calls=lambda: self.calls,
            ask=self._outcome,
            monotonic=self._seconds,
        )

    def _outcome(self, operation: str) -> Outcome | None:
        return self.gateway.outcome(operation)

    def _seconds(self) -> float:
        return self.monotonic()

    @property
    def writable(self) -> bool:
        """Whether changes are on."""
        return self.window.is_open

    @property
    def resolvers(self) -> Mapping[str, str]:
        """The configuration's `module:function` by `day` and `meter:PREFIX`."""
        return {kind: path.value for kind, path in self.contexts.config.resolvers.items()}

    @property
    def bounds(self) -> Bounds:
        """Above which a plan waits for another person's approval, as the configuration says."""
        return permission.bounds_of(self.contexts.config)

    @property
    def standing(self) -> Standing:
        """Which context the live connection is known as."""
        return self.contexts.standing(self.identity)

    @property
    def environment(self) -> str | None:
        """The word that a phrase names; None until the live connection is known to be a context's store."""
        return permission.environment(self.standing)

    @property
    def forbids_writing(self) -> str | None:
        """Why no read-write window may be opened here, whatever the role may do; None where nothing forbids it."""
        return permission.forbidden(self.settings, self.standing)
