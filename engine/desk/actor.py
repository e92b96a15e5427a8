"""Who changes something, by which way, and why: the same few facts stand in plans, operations and the audit."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from engine.arguments import member, of_kind
from engine.database.columns import check_id, check_optional_id
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_REASON: Final = 2_000
"""Characters of a reason."""
MOST_COMMAND: Final = 4_000
"""Characters of an equivalent command."""


class Route(StrEnum):
    """How the operator asked for a change."""

    KEY = "key"
    PALETTE = "palette"
    COMMAND = "command line"
    MOUSE = "mouse"
    CUSTOM = "custom command"
    SCRIPT = "script"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Actor:
    """A person at a console or a script: `user` and `host` of the operating system, `tool` with its version.

    `role` is the database role, None where the store knows none (a file).
    """

    user: str
    host: str
    tool: str = "holdwatch"
    role: str | None = None

    def __post_init__(self) -> None:
        for name in ("user", "host", "tool"):
            if not check_id(name, getattr(self, name)):
                raise ValidationError(name, ("must not be empty",))
        check_optional_id("role", self.role)

    @property
    def name(self) -> str:
        """`user@host`, as lists show it and filters ask for it."""
        return f"{self.user}@{self.host}"

    def facts(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Actor:
        """From the JSON object that `facts` gave."""
        return cls(**facts)


@dataclass(frozen=True, slots=True)
class Mandate:
    """On whose word one change is made. `operation_id` is made before the change is sent, so that its outcome can be
    asked for after a lost connection (console.md F8); `command` does the same from a shell.
    """

    actor: Actor
    reason: str | None = None
    route: Route = Route.SCRIPT
    command: str | None = None
    operation_id: str = field(default_factory=lambda: f"op_{uuid.uuid4().hex}")

    def __post_init__(self) -> None:
        of_kind("actor", self.actor, Actor)
        member("route", Route, self.route)
        if not check_id("operation_id", self.operation_id):
            raise ValidationError("operation_id", ("must not be empty",))
        for name, most in (("reason", MOST_REASON), ("command", MOST_COMMAND)):
            text = getattr(self, name)
            if text is not None and len(of_kind(name, text, str)) > most:
                raise ValidationError(name, (f"is {len(text)} characters; at most {most} are kept",))

    def reasoned(self) -> Mandate:
        """Itself; ValidationError without a reason (console.md 3.4, row 101)."""
        if self.reason is None or not self.reason.strip():
            raise ValidationError("reason", ("is needed: say why, for those who read the audit later",))
        return self
