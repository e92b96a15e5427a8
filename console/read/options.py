"""The options that reading commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from console.model import ANY
from console.money import micro_of

if TYPE_CHECKING:
    from enum import StrEnum

    from console.model import Tenancy

    Word = TypeVar("Word", bound="StrEnum")

MOST: Final = 200
"""Rows of one page at most (console.md F6)."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Limit = Annotated[
    int, typer.Option("--limit", min=1, max=MOST, metavar="N", help="Rows of this page at most.")
]
After = Annotated[
    str | None, typer.Option("--after", metavar="CURSOR", help="Go on behind a page: its `next`.")
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="T", help="What belongs to this tenant.")]
NoTenant = Annotated[bool, typer.Option("--no-tenant", help="What belongs to no tenant.")]
AllTenants = Annotated[bool, typer.Option("--all-tenants", help="Everything, which is the default.")]


Meter = Annotated[
    str | None, typer.Option("--meter", metavar="PREFIX", help="Of the meter whose tables begin so.")
]
Cap = Annotated[
    str | None,
    typer.Option("--cap", metavar="USD", help="What a day may commit, in dollars: the store keeps no cap."),
]


def cap_of(text: str | None) -> int | None:
    """A cap in micro-dollars, exactly as it was typed."""
    try:
        return None if text is None else micro_of(text)
    except ValueError as error:
        raise typer.BadParameter(f"--cap: {error}") from error


def tenancy(tenant: str | None, no_tenant: bool, all_tenants: bool) -> Tenancy:
    """Whose rows to show, from the three options of which at most one may be given."""
    if (tenant is not None) + no_tenant + all_tenants > 1:
        raise typer.BadParameter("give one of --tenant, --no-tenant and --all-tenants")
    return tenant if tenant is not None else None if no_tenant else ANY


def word_of(option: str, text: str, words: type[Word]) -> Word:
    """One of a closed set's words, in any case of letters."""
    try:
        return words[text.upper()]
    except KeyError as error:
        known = ", ".join(name.lower() for name in words.__members__)
        raise typer.BadParameter(f"{option}: no {text!r}; there are {known}") from error
