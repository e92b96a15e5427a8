"""The registry: one declaration a verb, no key twice, capitals for changes only, one refusal (ruling 52, F3)."""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import replace
from importlib import import_module

import pytest
from textual.binding import Binding

import console.screens
from console import actions
from console.actions import ACTIONS, Action, Capability, Level, Place
from console.app import HoldwatchApp
from console.screens.page import Page
from console.widgets.board import Board
from console.widgets.listing import Listing
from console.widgets.pair import Pair
from console.widgets.pane import Pane
from console.widgets.plan_form import PlanForm
from console.widgets.resolve_form import ResolveForm


def screens() -> list[type[Page]]:
    """Every screen that an operator can stand on: each names the places of its verbs itself."""
    modules = (
        import_module(f"console.screens.{each.name}")
        for each in pkgutil.iter_modules(console.screens.__path__)
    )
    return [
        found
        for module in modules
        for found in vars(module).values()
        if inspect.isclass(found)
        and issubclass(found, Page)
        and found.__module__ == module.__name__
        and vars(found).get("PLACES")
    ]


SCREENS = screens()
HARMLESS_CAPITALS = frozenset("GMNYE")
LOOKING = frozenset(
    {
        "overview",
        "threads",
        "claims",
        "reservations",
        "fences",
        "events",
        "jobs",
        "plans",
        "audit",
        "queue",
        "budgets",
        "days",
        "cap",
        "incomplete",
        "tombstones",
        "holders",
        "changed",
        "up",
        "down",
        "page_up",
        "page_down",
        "first",
        "end",
        "last",
        "columns_right",
        "columns_left",
        "open",
        "filter",
        "owner",
        "detail",
        "mark",
        "range",
        "only_marked",
        "drop_marks",
        "sort",
        "columns",
        "export",
        "follow",
        "goto",
        "minute_back",
        "minute_on",
        "hour_back",
        "hour_on",
        "next_match",
        "previous_match",
        "find",
        "wrap",
        "other_budget",
        "beside",
        "next_tab",
        "previous_tab",
        "read",
        "next_card",
        "previous_card",
        "narrow",
        "changes",
        "replan",
        "plan_items",
        "export_plan",
        "resolve",
        "history",
        "unknown",
        "other_jobs",
        "outcomes",
        "about",
        "pause",
        "refresh",
        "copy",
        "times",
        "slower",
        "faster",
        "address",
        "command",
        "palette",
        "help",
        "back",
        "diagnostics",
        "contexts",
        "trust",
        "theme",
        "suspend",
        "quit",
    }
)
"""The verbs that change nothing in the store. `changes`, `replan` and `resolve` open what may end in a change."""
CHANGING = {
    "release": (Capability.PLAN, Level.PHRASE),
    "reconcile": (Capability.PLAN, Level.REASON),
    "sweep": (Capability.PLAN, Level.REASON),
    "delete": (Capability.PLAN, Level.REASON),
    "begin_job": (Capability.PLAN, Level.ASK),
    "execute": (Capability.WRITE, Level.REASON),
    "approve": (Capability.WRITE, Level.PHRASE),
    "give_up_plan": (Capability.WRITE, Level.ASK),
    "halt_job": (Capability.WRITE, Level.ASK),
    "give_up": (Capability.WRITE, Level.ASK),
    "close_intent": (Capability.WRITE, Level.ASK),
    "window": (Capability.WINDOW, Level.ASK),
}
"""What each of the others needs, and how it is confirmed at least."""


def test_names_and_help_are_complete() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    assert all(action.label and action.help for action in ACTIONS)


def test_a_verb_that_nobody_has_declared_to_look_or_to_change_is_found() -> None:
    """F3: a new verb says here what it may do, or this fails."""
    assert LOOKING.isdisjoint(CHANGING)
    assert {action.name for action in ACTIONS} == LOOKING | CHANGING.keys()


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_each_verb_says_what_it_needs_and_how_it_is_confirmed(action: Action) -> None:
    declared = CHANGING.get(action.name, (Capability.READ, Level.NONE))
    assert (action.capability, action.level) == declared


DOOR = re.compile(r"\b(acting|_door)\.(?!records)\w+\(|sending\.send\(|acts\.run\(")
"""How code reaches the door of changes."""


def test_no_verb_that_only_looks_reaches_the_door_of_changes() -> None:
    doers = [
        *SCREENS,
        *{each for screen in SCREENS for each in screen.__mro__[1:]},
        Listing,
        Pane,
        HoldwatchApp,
    ]
    for name in LOOKING:
        for doer in doers:
            found = vars(doer).get(f"do_{name}")
            assert found is None or not DOOR.search(inspect.getsource(found)), (doer.__name__, name)
    assert DOOR.search("job = await session.acts.run(lambda: acting.execute(plan))"), (
        "this is what would be found"
    )


def test_no_key_means_two_things_in_one_place() -> None:
    for place in Place:
        keys = [key for action in actions.of((place,)) for key in action.keys]
        assert len(keys) == len(set(keys)), place


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_of_a_change_is_hidden_or_hides_a_look_on_any_screen(screen: type[Page]) -> None:
    shown = actions.of(screen.PLACES)
    for action in shown:
        others = {key: each.name for each in shown if each is not action for key in each.keys}
        if action.capability is not Capability.READ:
            assert not others.keys() & set(action.keys), action.name


def test_capital_letters_start_changes_and_nothing_else_does() -> None:
    for action in ACTIONS:
        capitals = {key for key in action.keys if len(key) == 1 and key.isupper()}
        if action.capability is Capability.READ:
            assert capitals <= HARMLESS_CAPITALS
        else:
            assert capitals == set(action.keys)
            assert action.level > Level.NONE


def test_report_22_every_change_is_confirmed() -> None:
    assert all(level >= Level.ASK for _, level in CHANGING.values())
    for action in ACTIONS:
        assert (action.level is Level.NONE) == (action.capability is Capability.READ), action.name


@pytest.mark.parametrize("screen", SCREENS)
def test_every_verb_of_a_screen_has_someone_who_does_it(screen: type[Page]) -> None:
    doers = (screen, Listing, Pane, Pair, Board, PlanForm, ResolveForm, HoldwatchApp)
    for action in actions.of(screen.PLACES):
        assert any(hasattr(doer, f"do_{action.name}") for doer in doers), action.name


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_is_bound_once_and_goes_through_the_one_door(screen: type[Page]) -> None:
    made = [
        binding
        for binding in screen.BINDINGS
        if isinstance(binding, Binding) and binding.action.startswith("screen.")
    ]
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


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_while_changes_are_off_every_change_is_refused_in_the_same_words(action: Action) -> None:
    refused = actions.refusal(action, writable=False)
    if action.capability is Capability.WRITE:
        assert refused == f"read-only: {action.label} changes the store and is off; W turns changes on"
    else:
        assert refused is None
    assert actions.refusal(action, writable=True) is None


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_while_the_store_does_not_answer_changes_are_off_and_looks_are_not(action: Action) -> None:
    refused = actions.refusal(action, writable=True, connected=False)
    looks = action.capability in {Capability.READ, Capability.WINDOW}
    assert (refused is None) == (looks or action.name == "begin_job"), "a job is handed over all the same"


def test_a_new_change_is_refused_as_those_that_there_are() -> None:
    change = replace(ACTIONS[0], name="drop", keys=("D",), capability=Capability.WRITE)
    assert actions.refusal(change, writable=False) is not None
    assert actions.refusal(change, writable=True) is None
