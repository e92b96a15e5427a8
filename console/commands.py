"""The `:` line: what a typed command means. Parsing only; `Page` carries it out.

:quit  :refresh  ...          any verb of the registry, by name (`q` for quit)
:threads status:idle          go to a screen, with a filter; :thr /stuck is the same for short
:claims state:expired         :queue state:dead   :events kind:claimed
:incomplete tenant:acme       the threads that stopped half-way; :tombstones and :holders are lists as well
:thr:ID   :thread ID          one thread
:at 14:03:22   :at #41        a time or an event number, among the events held
:theme day
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from console import actions, filters

_SHORT: Final = {
    "q": "quit",
    "thr": "threads",
    "clm": "claims",
    "ev": "events",
    "stuck": "incomplete",
    "?": "help",
}
SCREENS: Final = ("threads", "claims", "events", "queue")
"""The screens that a command can name, as their modes are called."""
_LISTS: Final = {
    "incomplete": ("threads", filters.STUCK),
    "tombstones": ("threads", filters.TOMBSTONES),
    "holders": ("claims", filters.HOLDERS),
}
"""Lists that are a screen with a filter."""
_THREAD_WORDS: Final = ("thread", "thr")


class CommandError(ValueError):
    """A line that is no command; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Perform:
    """Run a verb of the registry."""

    name: str


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
class GoTo:
    """Move within the events held."""

    goal: str


@dataclass(frozen=True, slots=True)
class Wear:
    """Put a theme on."""

    theme: str


Command = Perform | ShowList | OpenThread | GoTo | Wear


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
        "at ",
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
    if word == "at":
        return GoTo(_needed(rest, "at needs a time (14:03:22) or a number (#41)"))
    if word == "theme" and rest:
        return Wear(rest)
    return _verb(_SHORT.get(word, word), rest.removeprefix("/"))


def _verb(name: str, rest: str) -> Command:
    if name in SCREENS:
        return ShowList(name, rest) if rest else Perform(name)
    if name in _LISTS:
        screen, text = _LISTS[name]
        return ShowList(screen, f"{text} {rest}".strip())
    if name not in actions.BY_NAME or rest:
        raise CommandError(f"no command {name!r}; ? lists the keys, tab completes")
    return Perform(name)


def _needed(value: str, message: str) -> str:
    if not value:
        raise CommandError(message)
    return value
