"""A run that pays: a session for as long as it lasts, and a call to a provider from one step to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.demo.run import Run
from engine.checkpoints import CheckpointStatus

if TYPE_CHECKING:
    import random

    from console.demo.money import Purse
    from console.demo.stage import Subject
    from engine import Store
    from engine.checkpoints import RunClaim


class PaidRun(Run):
    """A run and what it holds. What it hands to children is paid with its own calls."""

    def __init__(
        self, store: Store, subject: Subject, claim: RunClaim, dice: random.Random, purse: Purse
    ) -> None:
        super().__init__(store, subject, claim, dice)
        self._purse = purse

    def begin(self) -> None:
        """See `Run`; the first call is made at once."""
        super().begin()
        self._purse.open()
        self._purse.order()

    def step(self) -> None:
        """The call under way has come back; the next one is made once the step is committed."""
        self._purse.pay()
        super().step()
        self._purse.order()

    def end(self, status: CheckpointStatus) -> None:
        """See `Run`; the customer keeps the seat if all went well."""
        super().end(status)
        if status is CheckpointStatus.COMPLETED:
            self._purse.confirm()

    def delete(self) -> None:
        """See `Run`."""
        self._purse.close()
        super().delete()

    def close(self) -> None:
        """See `Run`."""
        self._purse.close()
        super().close()
