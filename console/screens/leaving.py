"""Leaving screens on which something was typed: one question, whichever way leads out of them (console.md F4).

Esc and Cancel, the keys of the screens, the command line, the palette, another context and the end of the console all
ask here what would be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.acting.confirmation import Asked
from console.action import Level
from console.present import Cell, Tone, own, safe
from console.screens.confirm import ConfirmScreen, Question
from console.screens.leavable import Leavable
from console.screens.paced import Paced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from textual.app import App
    from textual.screen import Screen

    from console.acting.confirmation import Confirmed
    from console.jsontext import Line

TITLE: Final = "leave the half-filled form?"
WRITING: Final = own("it is being written; its outcome comes in a moment")
MOST_NAMED: Final = 5
"""Forms that are named in the question; of more it is said that there are more."""


def leave(
    app: App[Any],
    dropped: Iterable[Screen[Any]],
    monotonic: Callable[[], float],
    go: Callable[[], object],
) -> None:
    """Do `go`, which closes the `dropped` screens: at once where nothing was typed on them, else when that is given up.

    Nothing is done while one of them waits for the answer to its change, nor while the question stands already.
    """
    front, screens = app.screen, tuple(dropped)
    if any(isinstance(each, Leavable) and each.is_writing for each in screens):
        if isinstance(front, Paced):
            front.say(WRITING, Tone.WARN)
        return
    typed = typed_on(screens)
    if not typed:
        go()
    elif not isinstance(front, ConfirmScreen):
        question = Question(own(TITLE), lines_of(typed), Asked(Level.ASK, "Drop it"))

        def answered(confirmed: Confirmed | None) -> None:
            if confirmed is not None:
                go()

        app.push_screen(ConfirmScreen(question, monotonic), answered)


def typed_on(screens: Iterable[Screen[Any]]) -> tuple[str, ...]:
    """What was typed on these and would be lost with them."""
    found = (each.typed_work for each in screens if isinstance(each, Leavable))
    return tuple(text for text in found if text)


def lines_of(typed: Sequence[str]) -> tuple[Line, ...]:
    """The same as a dialog says it."""
    named = [(Cell(safe(f"This is dropped: {text}.", 300), Tone.HEAD),) for text in typed[:MOST_NAMED]]
    more = len(typed) - len(named)
    if more:
        named.append((Cell(own(f"And {more:,} more."), Tone.HEAD),))
    return (*named, (Cell(own("Nothing of it was changed in the store."), Tone.MUTED),))


def above(app: App[Any], mode: str) -> tuple[Screen[Any], ...]:
    """What was opened over the list of a mode; nothing where it has not been looked at yet."""
    try:
        return tuple(app.get_screen_stack(mode)[1:])
    except KeyError:
        return ()


def typed_anywhere(app: App[Any], modes: Iterable[str]) -> tuple[str, ...]:
    """What was typed on any screen of these modes, in front or not."""
    return tuple(text for mode in modes for text in typed_on(above(app, mode)))
