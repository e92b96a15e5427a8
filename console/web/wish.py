"""What a served console is to show, on its way from the server to the console's own process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Final

WISH_VARIABLE: Final = "HOLDWATCH_SERVED"
"""Other users of the machine can read a command line, and an address may carry a password; an environment
they cannot.
"""
SERVER_VARIABLE: Final = "HOLDWATCH_SERVER"
"""The process that a served console must not outlive."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A store as the operator named it, and the options of `holdwatch console` that go with it."""

    store: str = field(repr=False)
    cap: int | None = None
    tenant: str | None = None
    refresh: float | None = None
    config: str | None = None

    @property
    def text(self) -> str:
        """As one word, for `of`."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Wish:
        """From `text`."""
        return cls(**json.loads(text))
