"""When a console under test has nothing left to do: its loop is calm, no call to the store is out, no frame due.

Textual's own measure is how little the whole process computes, twenty milliseconds at a time: a console that draws
a clock, or a busy machine, then waits for up to a second after each key, which was most of the time of these tests.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import textual._wait
import textual.app
import textual.pilot
from textual._context import active_app

if TYPE_CHECKING:
    import pytest

STEP_SECONDS = 0.001
CALM_STEPS = 3
MOST_STEPS = 1_000
PATIENT_STEPS = 150
"""So long a call that is out or a frame that is due is waited for; what a test holds back is not idle's affair.
In steps, which take longer where the machine is busy.
"""


async def wait_for_idle(min_sleep: float = 0.0) -> None:
    """Let the loop run until it is calm; takes the place of Textual's function of that name."""
    await asyncio.sleep(min_sleep)
    calm = 0
    for step in range(MOST_STEPS):
        await asyncio.sleep(STEP_SECONDS)
        calm = calm + 1 if _is_calm(step) else 0
        if calm == CALM_STEPS:
            return


def _is_calm(step: int) -> bool:
    loop: Any = asyncio.get_running_loop()
    app: Any = active_app.get(None)
    return not loop._ready and (step > PATIENT_STEPS or not (_asks(app) or _paints(app)))


def _asks(app: Any) -> bool:
    session = getattr(app, "session", None)
    return session is not None and bool(session.calls.running or session.acts.running)


def _paints(app: Any) -> bool:
    """Whether a frame is due: Textual draws on a timer, up to a sixtieth of a second after the change."""
    if app is None or not app._screen_stack:
        return False
    screen = app.screen
    return bool(
        screen._dirty_widgets
        or screen._callbacks
        or screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
    )


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every pilot wait like this."""
    for module in (textual._wait, textual.app, textual.pilot):
        monkeypatch.setattr(module, "wait_for_idle", wait_for_idle)
