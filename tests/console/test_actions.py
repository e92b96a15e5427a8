"""The registry: one declaration a verb, no key twice, capitals for changes only (ruling 52)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.binding import Binding

from console import actions
from console.actions import ACTIONS, Action, Capability, Level, Place
from console.app import HoldwatchApp
from console.screens.budgets import BudgetsScreen
from console.screens.claims import ClaimsScreen
from console.screens.events import EventsScreen
from console.screens.fences import FencesScreen
from console.screens.overview import OverviewScreen
from console.screens.queue import QueueScreen
from console.screens.reservation import ReservationScreen
from console.screens.reservations import ReservationsScreen
from console.screens.thread import ThreadScreen
from console.screens.threads import ThreadsScreen
from console.widgets.board import Board
from console.widgets.listing import Listing
from console.widgets.pair import Pair
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from console.screens.page import Page

SCREENS = (
    OverviewScreen,
    ThreadsScreen,
    ClaimsScreen,
    ReservationsScreen,
    FencesScreen,
    ReservationScreen,
    QueueScreen,
    BudgetsScreen,
    ThreadScreen,
    EventsScreen,
)
HARMLESS_CAPITALS = frozenset("GMNYE")


def test_names_and_help_are_complete() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    assert all(action.label and action.help for action in ACTIONS)


def test_no_key_means_two_things_in_one_place() -> None:
    for place in Place:
        keys = [key for action in actions.of((place,)) for key in action.keys]
        assert len(keys) == len(set(keys)), place


def test_capital_letters_start_changes_and_nothing_else_does() -> None:
    for action in ACTIONS:
        capitals = {key for key in action.keys if len(key) == 1 and key.isupper()}
        if action.capability is Capability.READ:
            assert capitals <= HARMLESS_CAPITALS
        else:
            assert capitals == set(action.keys)
            assert action.level > Level.NONE


@pytest.mark.parametrize("screen", SCREENS)
def test_every_verb_of_a_screen_has_someone_who_does_it(screen: type[Page]) -> None:
    doers = (screen, Listing, Pane, Pair, Board, HoldwatchApp)
    for action in actions.of(screen.PLACES):
        assert any(hasattr(doer, f"do_{action.name}") for doer in doers), action.name


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_is_bound_once_and_goes_through_the_one_door(screen: type[Page]) -> None:
    made = [binding for binding in screen.BINDINGS if isinstance(binding, Binding)]
    assert len({binding.key for binding in made}) == len(made)
    assert all(binding.action.startswith("screen.verb(") for binding in made)
    keys = {actions.textual_key(key) for action in actions.of(screen.PLACES) for key in action.keys}
    assert keys == {binding.key for binding in made}


def test_a_screens_own_verb_takes_the_key() -> None:
    made = {binding.key: binding.action for binding in actions.bindings(Place.EVENTS, Place.LIST)}
    assert made["g"] == "screen.verb('goto')"
    assert made["home"] == "screen.verb('first')"


def test_nothing_is_only_on_a_control_key() -> None:
    for action in ACTIONS:
        assert not action.keys or any(not key.startswith("ctrl+") for key in action.keys)


def test_a_change_is_refused_while_the_console_is_read_only() -> None:
    change: Action = replace(ACTIONS[0], name="delete", keys=("D",), capability=Capability.WRITE)
    assert actions.refusal(change, writable=False) is not None
    assert actions.refusal(change, writable=True) is None
    assert all(actions.refusal(action, writable=False) is None for action in ACTIONS)
