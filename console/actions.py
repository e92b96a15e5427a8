"""Every operator verb, declared once: its name, keys, label, help, and what it may do.

Key bindings, footer, help, palette and command line are all made from `ACTIONS`, and all of them run a verb
through `Page.perform`, which asks `refusal` first: there is no second way in (console.md F3). A verb does its
work in a method `do_<name>` of the widget in focus, of one of its ancestors, of the screen, or of the app;
the first that has it.
"""

from __future__ import annotations

from typing import Final

from textual.binding import Binding
from textual.keys import _character_to_key

from console.acting.verbs import BY_HAND, OF_JOBS, PLANNED, SCREENS
from console.action import Action, Capability, Level, Place
from console.present import Safe, own

__all__ = ["ACTIONS", "BY_NAME", "Action", "Capability", "Level", "Place"]

ACTIONS: Final = (
    Action(
        "overview", ("0",), "Overview", "Go to the whole store at a glance, and the contexts", short="Ovr"
    ),
    Action("threads", ("1",), "Threads", "Go to the threads, newest first", short="Thr"),
    Action("claims", ("2",), "Claims", "Go to the claims, live and over, first expiry first", short="Clm"),
    Action(
        "reservations",
        ("3",),
        "Reservations",
        "Go to what is reserved: money of days, units of meters, tentative rows; first due first",
        short="Res",
    ),
    Action(
        "fences",
        ("4",),
        "Fences",
        "Go to what no default may settle: why it waits, and when it is looked at again",
        short="Fnc",
    ),
    Action("events", ("5",), "Events", "Go to the live tail of the whole store", short="Ev"),
    *SCREENS,
    Action("queue", ("8",), "Queue", "Go to the run queue: leased runs, then those that wait", short="Que"),
    Action(
        "budgets",
        ("9",),
        "Budgets",
        "Go to what may be spent and what of it is: accounts of every meter; tab shows the days",
        short="Bud",
    ),
    Action("days", (), "Days", "The day store's totals, newest first"),
    Action("cap", (), "Cap", "Say what a day may commit: `cap 60`, in dollars; the store keeps none"),
    Action("incomplete", (), "Incomplete", "The threads that stopped half-way, longest untouched first"),
    Action("tombstones", (), "Tombstones", "The deleted threads, and where their numbering continues"),
    Action("holders", (), "Holders", "Who holds claims, and how many of them live or over"),
    Action(
        "changed",
        (),
        "Changed",
        "What changed in the last five minutes, and the lists behind it; `changed 1h` looks further back",
    ),
    Action("up", ("k", "up"), "up", "One row up", Place.LIST),
    Action("down", ("j", "down"), "down", "One row down", Place.LIST),
    Action("page_up", ("pageup",), "page up", "One screen up", Place.LIST),
    Action(
        "page_down",
        ("pagedown",),
        "page down",
        "One screen down; the next page is fetched on the way",
        Place.LIST,
    ),
    Action(
        "first",
        ("g", "home"),
        "first",
        "To the first row; a list that is newest first stays there",
        Place.LIST,
    ),
    Action("end", ("end",), "end", "To the last row that is loaded", Place.LIST),
    Action(
        "last",
        ("G",),
        "last",
        "To the last row of all: costs a query, and is refused where the store reads from the first row only",
        Place.LIST,
    ),
    Action(
        "columns_right",
        (">",),
        "columns >",
        "Scroll the columns: the first stays, those beyond the screen come in",
        Place.LIST,
    ),
    Action("columns_left", ("<",), "columns <", "Scroll the columns back", Place.LIST),
    Action("open", ("enter",), "open", "Open the row under the cursor", Place.LIST, footer=1),
    Action(
        "filter",
        ("/",),
        "filter",
        "Filter the list, in the store: field:value ...; esc clears",
        Place.FILTERED,
        footer=2,
    ),
    Action(
        "owner",
        ("o",),
        "owner",
        "Open the owner: all claims of the row's holder; of money, the thread it is for; of an event, its "
        "thread; in a thread, the parent it is a child of",
        Place.OWNED,
        footer=3,
    ),
    Action("detail", ("i",), "detail", "Show or hide the pane below the list", Place.FILTERED, footer=7),
    Action(
        "mark",
        ("space",),
        "mark",
        "Mark the row, or take its mark away, and move down; while anything is marked the list keeps its order",
        Place.MARKED,
        footer=4,
    ),
    Action(
        "range",
        ("v",),
        "range",
        "Begin a range at this row; move, and v again marks up to there; esc gives it up",
        Place.MARKED,
    ),
    Action("only_marked", ("m",), "only marked", "Show only the marked rows, or all again", Place.MARKED),
    Action("drop_marks", ("M",), "drop marks", "Take all marks away; the list moves again", Place.MARKED),
    Action(
        "sort",
        ("s",),
        "sort",
        "Sort by a column: the store's order where an index serves it, else the rows of this window; again "
        "reverses; `sort AGE` as a command",
        Place.MARKED,
        footer=7,
    ),
    Action("columns", ("c",), "columns", "Choose the columns of this list, and their order", Place.FILTERED),
    Action(
        "export",
        ("E",),
        "export",
        "Write the rows of this window to a file of this machine, .csv or .jsonl, that is not there yet",
        Place.FILTERED,
    ),
    Action(
        "follow", ("f",), "follow", "Follow the newest events, or stay where you are", Place.EVENTS, footer=3
    ),
    Action(
        "goto",
        ("g",),
        "go to",
        "Go to a time (14:03, 14:03:22Z, 2026-05-04T14:03) or an event of the thread under the cursor (#41)",
        Place.EVENTS,
        footer=4,
    ),
    Action("minute_back", ("[",), "-1 min", "One minute earlier", Place.EVENTS),
    Action("minute_on", ("]",), "+1 min", "One minute later", Place.EVENTS),
    Action("hour_back", ("{",), "-1 h", "One hour earlier", Place.EVENTS),
    Action("hour_on", ("}",), "+1 h", "One hour later", Place.EVENTS),
    Action(
        "next_match",
        ("n",),
        "next match",
        "To the next event held that has the text of `find TEXT`: kind, thread, run, tenant, begin of the payload",
        Place.EVENTS,
    ),
    Action("previous_match", ("N",), "match before", "To the one before that has it", Place.EVENTS),
    Action("find", (), "find", "Look for a text among the events held: `find TEXT`", Place.EVENTS),
    Action("wrap", ("z",), "wrap", "Fold the long lines of the pane, or cut them at its edge", Place.EVENTS),
    Action(
        "other_budget",
        ("tab",),
        "accounts/days",
        "From the accounts to the days, and back",
        Place.BUDGETS,
        footer=3,
    ),
    Action(
        "beside",
        ("enter",),
        "beside it",
        "The other reservations of its day, account or table",
        Place.RESERVATION,
        footer=1,
    ),
    Action("next_tab", ("tab", "right"), "next tab", "The next tab", Place.THREAD, footer=1),
    Action("previous_tab", ("shift+tab", "left"), "tab before", "The tab before", Place.THREAD),
    Action(
        "read",
        ("enter",),
        "open",
        "Into the row: its text, whole where it was cut, or the child thread; esc comes back",
        Place.THREAD,
        footer=2,
    ),
    Action("next_card", ("tab", "right"), "next card", "The next card", Place.OVERVIEW, footer=3),
    Action("previous_card", ("shift+tab", "left"), "card before", "The card before", Place.OVERVIEW),
    Action(
        "narrow",
        ("/",),
        "filter",
        "One tenant, or another span of what changed: tenant:acme since:10m; esc clears",
        Place.OVERVIEW,
        footer=2,
    ),
    *PLANNED,
    *BY_HAND,
    *OF_JOBS,
    Action("pause", ("p",), "pause", "Stop asking the store, or go on", footer=5),
    Action("refresh", ("r",), "refresh", "Ask the store now", footer=8),
    Action("copy", ("y",), "copy", "Send the id under the cursor to the terminal's clipboard", footer=6),
    Action("times", ("t",), "times", "Tell times in UTC, local (TZ) or relative, on all screens; it is kept"),
    Action("slower", ("+",), "slower", "Ask the store less often, every 60 s at the slowest"),
    Action("faster", ("-",), "faster", "Ask the store more often, every 0.5 s at the fastest"),
    Action(
        "address",
        ("Y",),
        "copy address",
        "Send this screen's address, which `:` understands, to the clipboard",
    ),
    Action(
        "command",
        (":",),
        "command",
        "Type a command: a verb's name, thr:ID, events kind:..., at 14:03",
        footer=9,
    ),
    Action("palette", (";", "ctrl+p"), "palette", "Search all verbs by name"),
    Action("help", ("?", "f1"), "help", "The keys of this screen", footer=10),
    Action(
        "back", ("escape",), "back", "One step back: prompt, filter, screen; changes nothing in the store"
    ),
    Action(
        "diagnostics",
        ("f12",),
        "diagnostics",
        "Versions, settings and where each comes from, terminal, latency, queries: to read and to copy",
    ),
    Action(
        "contexts",
        (),
        "contexts",
        "The stores that the configuration names; `ctx NAME` opens another in place of this one",
    ),
    Action(
        "trust",
        (),
        "trust",
        "Say that the store connected to is the one that the context's name stands for, from now on",
    ),
    Action(
        "window",
        ("W",),
        "changes on/off",
        "Turn changes on for ten minutes, for a reason that the audit keeps; again turns them off",
        capability=Capability.WINDOW,
        level=Level.ASK,
        footer=12,
    ),
    Action("theme", (), "colours", "Change between the night and the day colours"),
    Action(
        "suspend", ("&", "ctrl+z"), "suspend", "Back to the shell, `fg` comes back; a read-write window ends"
    ),
    Action("quit", ("q", "ctrl+q"), "quit", "Leave the console", footer=11),
)
"""The registry. Its order is the order of the help."""

BY_NAME: Final = {action.name: action for action in ACTIONS}


def refusal(action: Action, *, writable: bool, connected: bool = True) -> Safe | None:
    """Why a verb may not run now, or None: the one check that every route goes through.

    `connected` is whether the last question was answered: what is on the screen may else be long untrue.
    """
    if action.capability is Capability.WRITE and not writable:
        return own(f"read-only: {action.label} changes the store and is off; W turns changes on")
    if _needs_answers(action) and not connected:
        return own(f"{action.label}: the store does not answer; changes are off until it does (r asks now)")
    return None


def _needs_answers(action: Action) -> bool:
    """What changes the store, and what begins with what it holds; a job that runs here is handed over all the same."""
    begins = action.capability is Capability.PLAN and action.place is not Place.CARRIED
    return begins or action.capability is Capability.WRITE


def of(places: tuple[Place, ...], known: tuple[Action, ...] = ACTIONS) -> tuple[Action, ...]:
    """The verbs of a screen that names these places, in the registry's order."""
    return tuple(action for action in known if action.place in places)


def bindings(*places: Place, known: tuple[Action, ...] = ACTIONS) -> list[Binding]:
    """Textual bindings for a screen: each key once, for the place that is named first."""
    taken: dict[str, Action] = {}
    for place in places:
        for action in of((place,), known):
            for key in action.keys:
                taken.setdefault(key, action)
    return [
        Binding(textual_key(key), f"screen.verb('{action.name}')", action.label, show=False)
        for key, action in taken.items()
    ]


def textual_key(key: str) -> str:
    """Textual's name for a key: it spells characters out."""
    return _character_to_key(key) if len(key) == 1 else key


def footer(places: tuple[Place, ...], known: tuple[Action, ...] = ACTIONS) -> tuple[Action, ...]:
    """The verbs of the footer, in its order; a screen's own verb takes the place of a general one with
    its key.
    """
    shown = [action for action in of(places, known) if action.footer]
    keys = {
        action.keys[0]: action for action in sorted(shown, key=lambda action: -places.index(action.place))
    }
    return tuple(sorted(keys.values(), key=lambda action: action.footer))
