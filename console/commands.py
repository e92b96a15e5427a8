"""The `:` line: what a typed command means. Parsing only; `Page` carries it out.

:quit  :refresh  ...          any verb of the registry, by name (`q` for quit)
:threads status:idle          go to a screen, with a filter; :thr /stuck is the same for short
:claims state:expired         :queue state:dead   :events kind:claimed
:incomplete tenant:acme       the threads that stopped half-way; :tombstones and :holders are lists as well
:overview tenant:acme         the store at a glance, of one tenant
:changed   :changed 1h        what changed in the last five minutes, or another span
:thr:ID   :thread ID          one thread
:res kind:meter   :fences state:due   :budgets days
:reservation KIND SOURCE ID   one reservation; `-` is the day store's source
:cap 60   :cap none           dollars that a day may commit, for the bars of this console
:at 14:03:22   :at #41        a time or an event number, among the events held
:ctx staging   :contexts      another store in place of this one; which there are
:theme day
:sort AGE   :export jsonl     the list in front: another order of its window; its window to a file
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console import actions, addresses, filters, money
from console.spans import LATELY

if TYPE_CHECKING:
    from console.money_model import Address

_SHORT: Final = {
    "q": "quit",
    "ovr": "overview",
    "thr": "threads",
    "clm": "claims",
    "res": "reservations",
    "fnc": "fences",
    "ev": "events",
    "bud": "budgets",
    "stuck": "incomplete",
    "?": "help",
}
SCREENS: Final = (
    "overview",
    "threads",
    "claims",
    "reservations",
    "fences",
    "events",
    "queue",
    "budgets",
)
"""The screens that a command can name, as their modes are called."""
_LISTS: Final = {
    "incomplete": ("threads", filters.STUCK),
    "tombstones": ("threads", filters.TOMBSTONES),
    "holders": ("claims", filters.HOLDERS),
    "days": ("budgets", "days"),
}
"""Lists that are a screen with a filter."""
_THREAD_WORDS: Final = ("thread", "thr")
_WITH_A_WORD: Final = ("sort", "export")
"""Verbs that may be told of what."""
CHANGED: Final = "changed"
CAP: Final = "cap"
NO_CAP: Final = "none"


class CommandError(ValueError):
    """A line that is no command; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Perform:
    """Run a verb of the registry, some of which take a word."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class ShowList:
    """Go to a list with this filter."""

    screen: str
    filter: str


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Open one thread."""

    thread: str


@dataclass(frozen=True, slots=True)
class OpenReservation:
    """Open one reservation."""

    address: Address


@dataclass(frozen=True, slots=True)
class SetCap:
    """Compare days with a cap, in micro-dollars; None takes it away."""

    micro: int | None


@dataclass(frozen=True, slots=True)
class GoTo:
    """Move within the events held."""

    goal: str


@dataclass(frozen=True, slots=True)
class Wear:
    """Put a theme on."""

    theme: str


@dataclass(frozen=True, slots=True)
class Switch:
    """Open another context's store in place of this one."""

    context: str


Command = Perform | ShowList | OpenThread | OpenReservation | SetCap | GoTo | Wear | Switch
CONTEXT: Final = "ctx"
RESERVED: Final = frozenset(
    {*_SHORT, *SCREENS, *_LISTS, *_THREAD_WORDS, addresses.RESERVATION, CAP, CHANGED, CONTEXT, "at", "theme"}
)
"""Words that already mean something here."""


def words() -> tuple[str, ...]:
    """What the command line completes."""
    return (
        *(action.name for action in actions.ACTIONS),
        "thread ",
        "thr:",
        "events kind:",
        "threads status:",
        "claims state:",
        "queue state:",
        "reservations state:",
        "fences state:",
        "budgets days",
        f"{addresses.RESERVATION} ",
        f"{CAP} ",
        f"{CHANGED} ",
        f"{CONTEXT} ",
        "at ",
        "sort ",
        "export jsonl",
    )


def parse(line: str) -> Command:
    """The command that a line stands for; `CommandError` if none."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    name, colon, inline = word.partition(":")
    if colon and name in _THREAD_WORDS and inline:
        return OpenThread(inline)
    if word in _THREAD_WORDS and rest and not rest.startswith("/"):
        return OpenThread(rest)
    if word == addresses.RESERVATION:
        return OpenReservation(_address(rest))
    if word == CAP and rest:
        return SetCap(None if rest == NO_CAP else _micro(rest))
    if word == CHANGED:
        return changed_since(rest or LATELY)
    if word == CONTEXT:
        return Switch(rest) if rest else Perform("contexts")
    if word == "at":
        return GoTo(_needed(rest, "at needs a time (14:03:22) or a number (#41)"))
    if word == "theme" and rest:
        return Wear(rest)
    return _verb(_SHORT.get(word, word), rest.removeprefix("/"))


def changed_since(span: str) -> ShowList:
    """What changed within a span, as a command."""
    return ShowList("overview", f"since:{span}")


def _verb(name: str, rest: str) -> Command:
    if name in SCREENS:
        return ShowList(name, rest) if rest else Perform(name)
    if name in _LISTS:
        screen, text = _LISTS[name]
        return ShowList(screen, f"{text} {rest}".strip())
    if name in _WITH_A_WORD and rest:
        return Perform(name, rest)
    if name not in actions.BY_NAME or rest:
        raise CommandError(f"no command {name!r}; ? lists the keys, tab completes")
    return Perform(name)


def _address(rest: str) -> Address:
    try:
        return addresses.read(rest)
    except addresses.AddressError as error:
        raise CommandError(str(error)) from error


def _micro(text: str) -> int:
    try:
        return money.micro_of(text)
    except ValueError as error:
        raise CommandError(f"cap: {error}; cap none takes it away") from error


def _needed(value: str, message: str) -> str:
    if not value:
        raise CommandError(message)
    return value
