"""Where the cards of a board stand: in columns with a title band each, or one below the other on a narrow screen.

Pure geometry: a sheet is made from cards and a size, and says what to draw where and where the cursor may go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.present import Cell, Tone, clip, own, pad, width, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from console.cards import Card, Item
    from console.jsontext import Line

TWO_COLUMNS: Final = 96
THREE_COLUMNS: Final = 170
"""Cells from which cards stand in so many columns."""
GAP: Final = 2
LABEL: Final = 12
"""Cells that a card's title gets before its lines where there is one column."""
AGE: Final = 10
"""Cells that the age gets behind them."""
SIGN: Final = 2
MARK: Final = 3

Address = tuple[str, str]
"""A card's name, and the key of one of its items."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Text at a place. `band` says that it is a card's title; `item` is what it says a part of, if any."""

    x: int
    y: int
    cells: int
    line: Line
    band: bool = False
    address: Address | None = None
    item: Item | None = None
    column: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """All spots, and how many lines they take."""

    spots: tuple[Spot, ...]
    height: int

    @property
    def stops(self) -> tuple[Spot, ...]:
        """The spots at which the cursor may stand, card by card."""
        return tuple(spot for spot in self.spots if spot.item is not None)

    def of(self, address: Address | None) -> Spot | None:
        """The spot of an address; if its item is gone the first one of its card, else the very first."""
        stops = self.stops
        found = next((spot for spot in stops if spot.address == address), None)
        card = "" if address is None else address[0]
        return (
            found
            or next((spot for spot in stops if spot.address and spot.address[0] == card), None)
            or (stops[0] if stops else None)
        )

    def beside(self, here: Spot, steps: int) -> Spot:
        """So many stops up or down the same column, or the last one there."""
        column = sorted((spot for spot in self.stops if spot.column == here.column), key=lambda s: (s.y, s.x))
        place = column.index(here) + steps
        return column[min(max(place, 0), len(column) - 1)]

    def other_card(self, here: Spot, steps: int) -> Spot:
        """The first stop of the next card, or of the one before; the cards are a ring."""
        firsts: dict[str, Spot] = {}
        for spot in self.stops:
            firsts.setdefault(_card_of(spot), spot)
        names = list(firsts)
        return firsts[names[(names.index(_card_of(here)) + steps) % len(names)]]


def _card_of(spot: Spot) -> str:
    return spot.address[0] if spot.address is not None else ""


def columns_of(room: int) -> int:
    """How many columns a width has."""
    return 3 if room >= THREE_COLUMNS else 2 if room >= TWO_COLUMNS else 1


def lay_out(cards: Sequence[Card], room: int, lines: int) -> Sheet:
    """The cards on a screen of this size; it may be longer than the screen."""
    count = columns_of(room)
    if count == 1:
        return _one_column(cards, room)
    rows = [cards[start : start + count] for start in range(0, len(cards), count)]
    roomy = _grid(rows, room, blank=1)
    return roomy if roomy.height <= lines else _grid(rows, room, blank=0)


def _one_column(cards: Sequence[Card], room: int) -> Sheet:
    spots: list[Spot] = []
    y = 0
    for card in cards:
        spots.append(Spot(1, y, LABEL - 1, (Cell(clip(card.title, LABEL - 1), Tone.ACCENT),)))
        spots.append(
            Spot(room - AGE, y, AGE, (Cell(pad(card.age.text, AGE - 1, right=True), card.age.tone),))
        )
        below = list(_items(card, LABEL, y, room - LABEL - AGE, 0))
        spots += below
        y = max(spot.y for spot in below) + 1 if below else y + 1
    return Sheet(tuple(spots), y)


def _grid(rows: Sequence[Sequence[Card]], room: int, *, blank: int) -> Sheet:
    count = len(rows[0]) if rows else 1
    cells = (room - GAP * (count - 1)) // count
    spots: list[Spot] = []
    y = 0
    for row in rows:
        tall = 0
        for column, card in enumerate(row):
            x = column * (cells + GAP)
            below = list(_items(card, x, y + 1, cells, column))
            spots += [_title(card, x, y, cells), *below]
            tall = max(tall, card.tall, max((spot.y - y for spot in below), default=0))
        y += 1 + tall + blank
    return Sheet(tuple(spots), y - blank if rows else 0)


def _title(card: Card, x: int, y: int, cells: int) -> Spot:
    age = width(card.age.text) + 1
    name = Cell(pad(own(f" {card.title}"), cells - age), Tone.HEAD)
    return Spot(x, y, cells, (name, card.age, Cell(own(" "))), band=True)


def _items(card: Card, x: int, y: int, cells: int, column: int) -> Iterator[Spot]:
    """A card's lines; the items of one line share its room."""
    for line in card.lines:
        part = cells // len(line)
        tallest = 1
        for place, item in enumerate(line):
            address = (card.name, item.key)
            pieces = _pieces(item, part - SIGN - MARK)
            for below, piece in enumerate(pieces):
                first = below == 0
                yield Spot(
                    x + place * part,
                    y + below,
                    part,
                    piece,
                    address=address,
                    item=item if first else None,
                    column=column,
                )
            tallest = max(tallest, len(pieces))
        y += tallest


def _pieces(item: Item, room: int) -> list[Line]:
    """An item's words in as many lines as it may take; what is left over is cut."""
    if item.folds == 1:
        return [item.words]
    told = own("".join(cell.text for cell in item.words))
    lines = wrap(told, room)
    if len(lines) > item.folds:
        rest = own(" ".join(lines[item.folds - 1 :]))
        lines = (*lines[: item.folds - 1], clip(rest, room))
    return [(Cell(text, item.words[0].tone),) for text in lines]
