"""What a list tells its screen of what the operator did to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from console.widgets.listing import Listing


class Told(Message):
    """What all messages of a list have in common: who sent it."""

    def __init__(self, listing: Listing[Any]) -> None:
        super().__init__()
        self.listing = listing

    @property
    def control(self) -> Listing[Any]:
        """The sender, for `on` selectors."""
        return self.listing


class Moved(Told):
    """The cursor, its row or the rows in view may be others."""


class Rested(Told):
    """The operator gave the cursor back to its end of the list."""


class LastWanted(Told):
    """The operator wants the last row of all, not only of those that are loaded."""


class Opened(Told):
    """The operator wants into the row with this id."""

    def __init__(self, listing: Listing[Any], row_id: str) -> None:
        super().__init__(listing)
        self.row_id = row_id


class TitleClicked(Told):
    """The operator clicked the title of a column."""

    def __init__(self, listing: Listing[Any], title: str) -> None:
        super().__init__(listing)
        self.title = title


class NearEnd(Told):
    """The cursor has come near an end of the window; `below` says which."""

    def __init__(self, listing: Listing[Any], *, below: bool) -> None:
        super().__init__(listing)
        self.below = below
