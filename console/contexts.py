"""The contexts of a configuration as rows, and how another of them is opened in place of the present one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.config import Colour, Config
from console.identity import Identity, Seen, Standing, Trust, standing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from console.config import Context
    from console.memory import Memory
    from console.session import Session


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One context as a list shows it. `address` holds no password; `seen` is None where it was never connected
    to; `here` is the one that is open. `read_only`: its configuration forbids changes.
    """

    name: str
    label: str
    environment: str
    colour: Colour
    address: str
    seen: Seen | None
    here: bool
    read_only: bool = False


@dataclass(slots=True)
class Contexts:
    """The contexts that there are, the one that is open, and what is remembered of them.

    `opens` makes a session on another; it raises NoStoreError, ConfigError. Without a memory nothing is kept.
    """

    config: Config = field(default_factory=Config)
    current: Context | None = None
    memory: Memory | None = None
    opens: Callable[[str], Session] | None = None
    seen: Mapping[str, Seen] = field(default_factory=dict)

    def rows(self) -> tuple[ContextRow, ...]:
        """All of them, in the order of the file."""
        return tuple(self._row(context) for context in self.config.contexts.values())

    def standing(self, identity: Identity | None) -> Standing:
        """How the live connection stands to them."""
        if identity is None:
            return Standing(Trust.UNKNOWN, self.current)
        return standing_of(identity, self.current, self.config.contexts, self.seen)

    def learn(self) -> None:
        """Read what is remembered; blocks shortly."""
        if self.memory is not None:
            self.seen = self.memory.read()

    def note(self, identity: Identity, at: datetime) -> None:
        """Remember that the open context is connected to this; blocks shortly, raises OSError."""
        if self.current is None:
            return
        seen = Seen(identity.server, identity.database, identity.role, at)
        self.seen = {**self.seen, self.current.name: seen}
        if self.memory is not None:
            self.memory.note(self.current.name, seen)

    def _row(self, context: Context) -> ContextRow:
        return ContextRow(
            name=context.name,
            label=context.label.value,
            environment=context.environment.value,
            colour=context.colour.value,
            address=context.address,
            seen=self.seen.get(context.name),
            here=context is self.current,
            read_only=any(
                said is not None and said.value for said in (context.read_only, self.config.read_only)
            ),
        )
