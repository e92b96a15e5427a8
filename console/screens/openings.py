"""Which screen an address opens, loaded when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.commands import OpenJob, OpenOperation, OpenPlan, OpenReservation, OpenThread

if TYPE_CHECKING:
    from console.commands import Opening
    from console.screens.page import Page
    from console.session import Session


def screen_of(command: Opening, session: Session) -> Page:
    """A new screen on what the command names; ValueError where nothing shows that."""
    match command:
        case OpenThread(thread, tab):
            from console.screens.tabs import TABS
            from console.screens.thread import ThreadScreen

            return ThreadScreen(session, thread, tab=tab or TABS[0])
        case OpenReservation(address):
            from console.screens.reservation import ReservationScreen

            return ReservationScreen(session, address)
        case OpenJob(job, text):
            from console.screens.job import JobScreen

            return JobScreen(session, job, text)
        case OpenPlan(plan):
            from console.screens.plan import PlanScreen

            return PlanScreen(session, plan=plan)
        case OpenOperation(operation):
            from console.screens.entry import EntryScreen

            return EntryScreen(session, operation)
