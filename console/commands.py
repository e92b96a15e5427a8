"""The `:` line: what a typed command means. Parsing only; `Page` carries it out.

:quit  :refresh  ...          any verb of the registry, by name (`q` for quit)
:threads status:idle          go to a screen, with a filter; :thr /stuck is the same for short
:claims state:expired         :queue state:dead   :events kind:claimed
:incomplete tenant:acme       the threads that stopped half-way; :tombstones and :holders are lists as well
:overview tenant:acme         the store at a glance, of one tenant
:changed   :changed 1h        what changed in the last five minutes, or another span
:threads tenant:acme sort:-AGE   the same in an order of its window, `-` falling; sort:store is the store's own
:thr:ID   :thread ID          one thread; :thr:ID events is one of its tabs
:res kind:meter   :fences state:due   :budgets days
:reservation KIND SOURCE ID   one reservation; `-` is the day store's source
:audit mine   :audit thread:ID   :audit unfinished   what operators did
:jobs state:paused   :plans   :job ID outcome:failed   :plan ID   :operation ID
:cap 60   :cap none           dollars that a day may commit, for the bars of this console
:at 14:03:22   :at #41        a time or a thread's event number, anywhere in the log
:find TEXT                    among the events held; n and N go on
:ctx staging   :contexts      another store in place of this one; which there are
:theme day
:sort AGE   :export jsonl     the list in front: another order of its window; its window to a file
:delete filter                a plan of all that the filter means, whatever the window shows; :release filter
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console import actions, addresses, filters, money
from console.filter_words import nearest, retyped, words_of
from console.spans import LATELY

if TYPE_CHECKING:
    from console.money_words import Address

SHORT: Final = {
    "q": "quit",
    "ovr": "overview",
    "thr": "threads",
    "clm": "claims",
    "res": "reservations",
    "fnc": "fences",
    "ev": "events",
    "bud": "budgets",
    "job": "jobs",
    "aud": "audit",
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
    "jobs",
    "audit",
    "queue",
    "budgets",
)
"""The screens that a command can name, as their modes are called."""
LISTS: Final = {
    "incomplete": ("threads", filters.STUCK),
    "tombstones": ("threads", filters.TOMBSTONES),
    "holders": ("claims", filters.HOLDERS),
    "days": ("budgets", "days"),
    "plans": ("jobs", "plans"),
}
"""Lists that are a screen with a filter."""
THREAD_WORDS: Final = ("thread", "thr")
_BY_ID: Final = ("job", "plan", "operation")
"""Words behind which an id stands."""
_WITH_A_WORD: Final = ("sort", "export", "find", "delete", "release", "reconcile")
"""Verbs that may be told of what."""
SORT: Final = "sort:"
"""What the order of a list's rows stands behind in its address."""
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
    """Go to a list with this filter. `sort` is a column, with `-` before it the other way round, or the store's own
    order; None leaves the order as it is there.
    """

    screen: str
    filter: str
    sort: str | None = None


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Open one thread, at a tab."""

    thread: str
    tab: str = ""


@dataclass(frozen=True, slots=True)
class OpenReservation:
    """Open one reservation."""

    address: Address


@dataclass(frozen=True, slots=True)
class OpenJob:
    """Open one job, with a filter for its items."""

    job: str
    filter: str = ""


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """Open one stored plan."""

    plan: str


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """Open what the audit says of one operation."""

    operation: str


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


Opening = OpenThread | OpenReservation | OpenJob | OpenPlan | OpenOperation
Command = Perform | ShowList | Opening | SetCap | GoTo | Wear | Switch
CONTEXT: Final = "ctx"
RESERVED: Final = frozenset(
    {
        *SHORT,
        *SCREENS,
        *LISTS,
        *THREAD_WORDS,
        *_BY_ID,
        addresses.RESERVATION,
        CAP,
        CHANGED,
        CONTEXT,
        "at",
        "theme",
    }
)
"""Words that already mean something here."""


def parse(line: str) -> Command:
    """The command that a line stands for; `CommandError` if none."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    name, colon, inline = line.strip().partition(":")
    if colon and name in THREAD_WORDS and inline:
        return _thread(inline)
    if word in THREAD_WORDS and rest and not rest.startswith("/"):
        return OpenThread(rest)
    if word == addresses.RESERVATION:
        return OpenReservation(_address(rest))
    if word in _BY_ID and rest:
        return _by_id(word, rest)
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
    return _verb(SHORT.get(word, word), rest)


def changed_since(span: str) -> ShowList:
    """What changed within a span, as a command."""
    return ShowList("overview", f"since:{span}")


def _verb(name: str, rest: str) -> Command:
    if name in SCREENS:
        return _list(name, rest.removeprefix("/")) if rest else Perform(name)
    if name in LISTS:
        screen, text = LISTS[name]
        return _list(screen, f"{text} {rest.removeprefix('/')}".strip())
    if name in _WITH_A_WORD and rest:
        return Perform(name, rest)
    if name not in actions.BY_NAME or rest:
        known = (*actions.BY_NAME, *RESERVED)
        raise CommandError(
            f"{name} takes nothing behind it, not {rest!r}"
            if name in actions.BY_NAME
            else f"no command {name!r}; {nearest(name, known)}? lists the keys, tab completes"
        )
    return Perform(name)


def _list(screen: str, text: str) -> ShowList:
    """A list with its filter, and its order where the text names one."""
    if SORT not in text:
        return ShowList(screen, text.strip())
    words = _words(text)
    sorts = [word.removeprefix(SORT) for word in words if word.startswith(SORT)]
    if len(sorts) > 1:
        raise CommandError("one sort: at a time")
    rest = " ".join(retyped(word) for word in words if not word.startswith(SORT))
    return ShowList(screen, rest, sorts[0] if sorts else None)


def _thread(text: str) -> OpenThread:
    """A thread and perhaps one of its tabs."""
    words = _words(text)
    if len(words) > 2:
        raise CommandError('thr:ID TAB; an id with blanks stands in quotation marks: thr:"run 7" events')
    return OpenThread(*words)


def _by_id(word: str, rest: str) -> Command:
    """What is opened by its id; behind a job's, a filter for its items."""
    if word == "job":
        found, *more = _words(rest)
        return OpenJob(found, " ".join(map(retyped, more)))
    return OpenPlan(rest) if word == "plan" else OpenOperation(rest)


def _words(text: str) -> list[str]:
    try:
        return words_of(text)
    except ValueError as error:
        raise CommandError(str(error)) from error


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
