"""The table: what was measured against what, what is wanted, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.bench.measuring import Series, Spread

_HEADINGS = ("work", "ours", "against", "theirs", "measured", "min–max", "wanted", "holds")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, all of it text but the verdict."""

    work: str
    ours: str
    against: str
    theirs: str
    measured: str
    noise: str
    wanted: str
    holds: bool

    def cells(self) -> tuple[str, ...]:
        """In the order of the headings."""
        verdict = "yes" if self.holds else "NO"
        return (
            self.work, self.ours, self.against, self.theirs, self.measured, self.noise, self.wanted, verdict
        )  # fmt: skip


def ratio_row(work: str, series: Series, other: str, wanted: float) -> Row:
    """`ours` of a series against another contender of it."""
    ratio = series.ratio("ours", other)
    return Row(
        work,
        f"{series.rate('ours').middle:,.0f}/s",
        other,
        f"{series.rate(other).middle:,.0f}/s",
        f"{ratio.middle:.2f}x",
        f"{ratio.least:.2f}–{ratio.most:.2f}",
        f"≥ {wanted:g}x",
        ratio.middle >= wanted,
    )


def bound_row(work: str, spread: Spread, unit: str, most: float, digits: int = 1) -> Row:
    """An absolute figure that must not be passed, shown with so many decimals."""
    noise = f"{spread.least:,.{digits}f}–{spread.most:,.{digits}f}"
    shown = f"{spread.middle:,.{digits}f} {unit}"
    return Row(work, shown, "-", "-", shown, noise, f"≤ {most:g} {unit}", spread.middle <= most)


def rate_row(work: str, spread: Spread, unit: str, least: float) -> Row:
    """An absolute rate that must be reached."""
    noise = f"{spread.least:,.0f}–{spread.most:,.0f}"
    shown = f"{spread.middle:,.0f} {unit}"
    return Row(work, shown, "-", "-", shown, noise, f"≥ {least:,.0f} {unit}", spread.middle >= least)


def report_row(work: str, measured: str) -> Row:
    """A figure that is told and not judged."""
    return Row(work, measured, "-", "-", measured, "-", "reported", holds=True)


def table(rows: Iterable[Row]) -> str:
    """The rows in columns."""
    lines = [_HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
