"""Two stores side by side: what one accepts, refuses and gives back, the other does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


@pytest.fixture
def both(sqlite_harness: Harness, postgres_harness: Harness) -> list[Checkpointer]:
    """A store on SQLite and one on PostgreSQL."""
    return [sqlite_harness.checkpoints, postgres_harness.checkpoints]
