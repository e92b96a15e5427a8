"""A session on the store that a word means, with all that the configuration says of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console import targets
from console.acting.model import Person
from console.calls import Calls
from console.config import Asked, Config, settled, with_habit
from console.config.problem import ConfigError, unknown
from console.config.titles import columns_of
from console.contexts import Contexts
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.habits import default_habits
from console.lists import catalogue
from console.memory import default_memory
from console.registry import registry_of
from console.session import Session

if TYPE_CHECKING:
    from collections.abc import Collection

    from console.targets import Target


@dataclass(frozen=True, slots=True)
class Opener:
    """Makes sessions: the first one, and one for each context that is opened in its place."""

    config: Config
    asked: Asked

    def session(self, target: Target, cap: int | None = None) -> Session:
        """A session on a store; raises ConfigError for whatever is wrong in the configuration."""
        context = target.context
        contexts = Contexts(self.config, context, default_memory(), opens=self.switched)
        contexts.learn()
        habits = default_habits()
        person = Person.here()
        return Session(
            EngineGateway(target.url, secret=target.secret),
            Calls(),
            time.monotonic,
            cap=cap,
            settings=with_habit(settled(self.config, context, self.asked), habits.telling()),
            registry=registry_of(self.config),
            columns=columns_of(self.config, catalogue.titles() if self.config.columns else {}),
            contexts=contexts,
            wall=lambda: datetime.now(UTC),
            habits=habits,
            acting=EngineActing(target.url, person, secret=target.secret),
            person=person,
        )

    def switched(self, name: str) -> Session:
        """A session on another context, which knows nothing of the one before; raises NoStoreError and ValueError."""
        context = self.config.contexts.get(name)
        if context is None:
            raise ValueError(unknown(name, self.config.contexts, "context"))
        return self.session(targets.of_context(context))


def check_names(config: Config, commands: Collection[str]) -> None:
    """ConfigError for a context whose name is a command's: `holdwatch NAME` would not open it."""
    for context in config.contexts.values():
        if context.name in commands:
            problem = "is the name of a command of holdwatch; choose another"
            raise ConfigError.at(context.url.source, f"[contexts.{context.name}]", problem)
