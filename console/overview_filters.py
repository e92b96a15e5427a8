"""The filter line of the overview: whose threads, and how far back `changed` looks.

tenant:acme  tenant:-  since:10m
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from console import filters
from console.filter_words import applied, quoted, verb, words_of
from console.model import ANY, Tenancy, Unset
from console.spans import LATELY, span_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

FIELDS: Final = ("tenant:", "since:")
RECENT: Final = span_of(LATELY)
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


@dataclass(frozen=True, slots=True)
class OverviewQuery:
    """What the overview shows."""

    tenant: Tenancy = ANY
    span: timedelta = RECENT

    @property
    def suffix(self) -> str:
        """What a list's filter ends with, for it to be about the same tenant."""
        if isinstance(self.tenant, Unset):
            return ""
        return f" tenant:{'-' if self.tenant is None else quoted(self.tenant)}"


def overview(text: str) -> OverviewQuery:
    """What a line of text asks for; raises FilterError."""
    return applied(
        OverviewQuery(),
        words_of(text),
        lambda query, word: verb(_VERBS, "overview", FIELDS, word)(query),
    )


def written(span: timedelta) -> str:
    """A span as a filter takes it, in its largest whole unit: 5m, 90s."""
    seconds = int(span.total_seconds())
    unit, length = next(each for each in _UNITS if seconds % each[1] == 0)
    return f"{seconds // length}{unit}"


_VERBS: Final[dict[str, Callable[[OverviewQuery, str], OverviewQuery]]] = {
    "tenant": lambda query, value: replace(query, tenant=filters.tenant(value)),
    "since": lambda query, value: replace(query, span=filters.span(value)),
}
