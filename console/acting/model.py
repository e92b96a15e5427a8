"""What a change is sent with, and what came of it."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console import VERSION

if TYPE_CHECKING:
    from datetime import datetime


UNKNOWN_CODE: Final = "commit_unknown"
"""What the store says where the connection died while it committed."""


class Route(StrEnum):
    """How the operator asked for a change, as the audit keeps it."""

    KEY = "key"
    PALETTE = "palette"
    COMMAND = "command line"
    MOUSE = "mouse"
    CUSTOM = "custom command"
    SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class Person:
    """Who sits here, as the operating system knows him; the database role is the connection's."""

    user: str
    host: str
    tool: str = f"holdwatch {VERSION}"

    @property
    def name(self) -> str:
        """`user@host`, as plans and the audit name him."""
        return f"{self.user}@{self.host}"

    @classmethod
    def here(cls) -> Person:
        """The one who started this process; a machine without names gives its numbers."""
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = "unknown"
        return cls(user or "unknown", socket.gethostname() or "unknown")


def _operation_id() -> str:
    import uuid

    return f"op_{uuid.uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Approved:
    """Another person's yes to an executed plan, by which a decision about one of its rows is sent."""

    plan: str
    by: str


@dataclass(frozen=True, slots=True)
class Order:
    """One change as it is sent. `operation` is made here, so that its outcome can be asked for later (F8)."""

    what: str
    reason: str | None
    route: Route
    command: str
    operation: str = field(default_factory=_operation_id)
    approved: Approved | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the store says became of an order: `applied`, or refused or overtaken. `told` is a line for the operator."""

    operation: str
    what: str
    by: str
    at: datetime
    told: str
    applied: bool = True
