"""When a console under test has nothing left to do: its loop is calm, no call to the store is out, no frame due.

Textual's own measure is how little the whole process computes, twenty milliseconds at a time: a console that draws
a clock, or a busy machine, then waits for up to a second after each key, which was most of the time of these tests.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import textual._wait
import textual.app
import textual.pilot
from textual._context import active_app

from console.app import HoldwatchApp

if TYPE_CHECKING:
    import pytest

STEP_SECONDS: Final = 0.001
CALM_STEPS: Final = 3
MOST_STEPS: Final = 1_000
PATIENT_STEPS: Final = 150
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


def could_run() -> bool:
    """Whether anything but the asker could go on at once. asyncio tells nobody; its queue of ready calls does."""
    loop: Any = asyncio.get_running_loop()
    return bool(loop._ready)


def is_asking(app: HoldwatchApp) -> bool:
    """Whether a call to the store is out."""
    return bool(app.session.calls.running or app.session.acts.running)


def is_drawn(app: HoldwatchApp) -> bool:
    """Whether the screen in front shows what it has, and has done what it put off until then.

    Textual draws on a timer, up to a sixtieth of a second after the change.
    """
    screen = app.screen
    wanted = screen._layout_required or screen._repaint_required or screen._scroll_required
    return not (wanted or screen._dirty_widgets or screen._callbacks)


def _is_calm(step: int) -> bool:
    return not could_run() and (step > PATIENT_STEPS or not _is_due(active_app.get(None)))


def _is_due(app: object) -> bool:
    """Whether an answer or a frame is."""
    if not isinstance(app, HoldwatchApp) or not app.screen_stack:
        return False
    return is_asking(app) or not is_drawn(app)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every pilot wait like this."""
    for module in (textual._wait, textual.app, textual.pilot):
        monkeypatch.setattr(module, "wait_for_idle", wait_for_idle)
