"""How fast a job may go: the most items a second, as the configuration says for each that is begun (console.md F10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.present import Safe, own

if TYPE_CHECKING:
    from console.config import Config


def said_rate(config: Config) -> int | None:
    """Items a second as `[jobs]` says, 0 for no limit; None where it says nothing, and there is none."""
    return None if config.rate is None else config.rate.value


def paced(rate: int) -> Safe:
    """A job's limit in words."""
    return own(f"at most {rate:,}/s") if rate else own("no limit")
