"""The reading commands, added to the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.read.budgets import account, accounts, day, days
from console.read.claims import claims
from console.read.doctor import doctor
from console.read.events import events
from console.read.queue import queue
from console.read.reservations import fences, reservation, reservations
from console.read.thread import thread
from console.read.threads import children, incomplete, threads, tombstones

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the commands, in the order in which help lists them."""
    for command in (threads, thread, incomplete, children, tombstones, claims, queue):
        app.command()(command)
    for about_money in (reservations, reservation, fences, accounts, account, days, day):
        app.command()(about_money)
    for further in (events, doctor):
        app.command()(further)
