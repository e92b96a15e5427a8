"""The store that a changing command works on: both its sides, and what the configuration says of it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console.acting import equivalent, permission
from console.acting.model import Order, Person, Route
from console.config import load, settled
from console.contexts import Contexts
from console.identity import Trust
from console.memory import default_memory
from console.model import GatewayError
from console.read.output import refuse, warn
from console.targets import target_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from console.acting.equivalent import Aim
    from console.config import Config, Settings
    from console.gateway.acting import EngineActing
    from console.gateway.reading import EngineGateway
    from console.identity import Identity, Standing

REFUSALS = frozenset(
    {"validation", "plan_refused", "job_refused", "read_only", "read_only_store", "unsupported_store"}
)
"""Codes of errors that say no to what was asked: exit code 1. Any other is a failure of the store."""


@dataclass(frozen=True, slots=True)
class Site:
    """One store. `gateway` reads, `acting` has no connection before `window`; `identity` is what the live one says."""

    gateway: EngineGateway
    acting: EngineActing
    contexts: Contexts
    settings: Settings
    identity: Identity
    aim: Aim
    person: Person

    @property
    def config(self) -> Config:
        """What was read of the configuration."""
        return self.contexts.config

    @property
    def standing(self) -> Standing:
        """Which context the live connection is known as."""
        return self.contexts.standing(self.identity)

    @property
    def environment(self) -> str:
        """The word that the phrases of new plans name."""
        return permission.spoken(
            permission.environment(self.standing), self.identity, self.gateway.label.name
        )

    @property
    def resolvers(self) -> dict[str, str]:
        """The configuration's `module:function` by `day` and `meter:PREFIX`."""
        return {kind: path.value for kind, path in self.config.resolvers.items()}

    def now(self) -> datetime:
        """The store's time."""
        return self.gateway.plans(None, 1).as_of


@contextmanager
def site(word: str, file: Path | None, tenant: str | None = None) -> Iterator[Site]:
    """The store that a word means; what it refuses ends the command with 1."""
    from console.gateway.acting import EngineActing
    from console.gateway.reading import EngineGateway

    config = load(file)
    target = target_of(word, config)
    contexts = Contexts(config, target.context, default_memory())
    contexts.learn()
    person = Person.here()
    gateway = EngineGateway(target.url, secret=target.secret)
    acting = EngineActing(target.url, person, secret=target.secret)
    aim = equivalent.aim(target.context, gateway.label.address, config.file, tenant)
    try:
        with refusals():
            found = Site(
                gateway,
                acting,
                contexts,
                settled(config, target.context),
                gateway.identity(),
                aim,
                person,
            )
            _remember(found)
            yield found
    finally:
        gateway.close()


@contextmanager
def refusals() -> Iterator[None]:
    """A change that the store refuses is no failure of the store: exit code 1, not 2."""
    try:
        yield
    except GatewayError as error:
        if error.code not in REFUSALS:
            raise
        refuse(str(error))


def _remember(found: Site) -> None:
    """What the context is connected to, as a console keeps it: the next one that leads elsewhere is noticed."""
    if found.standing.trust is Trust.CONFIRMED and found.contexts.current is not None:
        with suppress(OSError):  # a disk that is full is no reason to leave a change undone
            found.contexts.note(found.identity, datetime.now(UTC))


@contextmanager
def window(found: Site, deed: str, reason: str | None, command: str) -> Iterator[EngineActing]:
    """The changing side, open for as long as the command needs it; the audit keeps both ends (console.md F3).

    Refused where the configuration, the environment or the role forbids it. `deed` is the audit's word.
    """
    forbidden = permission.forbidden(found.settings, found.standing)
    if forbidden is not None:
        refuse(f"nothing was changed: {forbidden}")
    acting = found.acting
    try:
        lacking = acting.open(Order("read-write window", reason, Route.SCRIPT, equivalent.kept(command)))
        if deed in lacking:
            refuse(
                f"this role may not {deed}: it lacks {', '.join(lacking[deed])}; "
                "holdwatch grants --role ops_rw --to ROLE prints what gives it"
            )
        yield acting
    finally:
        _close(acting)


def _close(acting: EngineActing) -> None:
    try:
        acting.close("the command was over")
    except GatewayError as error:
        warn(f"that changes are off again could not be recorded: {error}")
