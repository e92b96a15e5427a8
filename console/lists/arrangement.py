"""What the operator has made of a list: which columns, in which order of rows. Kept as long as the session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.lists.sorting import Sort


@dataclass(frozen=True, slots=True)
class Arrangement:
    """`columns` are the places of those to show, in their order; None shows what the configuration says."""

    columns: tuple[int, ...] | None = None
    sort: Sort | None = None


@dataclass(slots=True)
class Arrangements:
    """The arrangement of each list, by the list's name."""

    _of: dict[str, Arrangement] = field(default_factory=dict)

    def of(self, name: str) -> Arrangement:
        """How a list is arranged."""
        return self._of.get(name, Arrangement())

    def choose(self, name: str, columns: tuple[int, ...] | None) -> None:
        """Show these columns from now on."""
        self._of[name] = replace(self.of(name), columns=columns)

    def sort(self, name: str, sort: Sort | None) -> None:
        """Stand in this order from now on; None is the store's own."""
        self._of[name] = replace(self.of(name), sort=sort)
