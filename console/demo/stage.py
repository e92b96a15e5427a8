"""What the agents work on: names, tenants, what their tools say."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.checkpoints import CheckpointStatus

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


TASKS: Final = (
    "invoice-triage",
    "refund-review",
    "contract-summary",
    "site-crawl",
    "lead-enrichment",
    "log-forensics",
    "release-notes",
    "price-watch",
    "ticket-routing",
    "dataset-labels",
)
TENANTS: Final = ("acme", "globex", "initech", None)
TOOLS: Final = ("fetch_page", "search_orders", "read_mailbox", "run_query", "parse_pdf", "post_comment")
GOALS: Final = (
    "answer the customer of the last message",
    "compare the three offers and draft a mail",
    "find out why the nightly run failed",
    "label the next hundred records",
    "carry on where the last run was suspended",
)
MODELS: Final = ("small-v2", "large-v1")
ANSWERS: Final = (
    "3 matching orders, the newest of 2026-05-04",
    "context deadline exceeded calling tool [fetch_page]",
    "12 pages, 2 tables, no signature found",
    "customer asked for a refund of 41.70 USD",
    "\x1b[2J\x1b]52;c;aGk=\x07 text from a web page that would like to write your clipboard",
    "no new messages since the last run",
    "rate limited by the provider, retry after 2 s",
    "Übersetzung fertig: 1.204 Wörter, Sprache 日本語 erkannt",
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One thread the fleet works on, and whose it is."""

    thread_id: str
    tenant: str | None


def subjects(count: int, seed: int) -> Sequence[Subject]:
    """The fleet's threads: the same for the same seed."""
    return [_subject(number, seed) for number in range(count)]


def _subject(number: int, seed: int) -> Subject:
    mark = hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()
    task = TASKS[int(mark[:4], 16) % len(TASKS)]
    return Subject(f"{task}-{mark[4:10]}", TENANTS[int(mark[10:12], 16) % len(TENANTS)])


def ending(dice: random.Random) -> CheckpointStatus:
    """How a run ends, if nothing worse happens to it."""
    return dice.choices(
        (CheckpointStatus.COMPLETED, CheckpointStatus.SUSPENDED, CheckpointStatus.FAILED), weights=(7, 2, 1)
    )[0]
