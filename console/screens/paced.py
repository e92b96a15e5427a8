"""A screen's pace: how often it asks the store, slower and faster, paused, at once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from console.calls import LONG_SECONDS
from console.present import Safe, Tone, own
from console.refresh import faster, slower
from console.screens.leavable import Leavable

if TYPE_CHECKING:
    from console.refresh import Freshness, Poll
    from console.session import Session


class Paced(Leavable[None]):
    """What the verbs of pace do; the interval that was chosen last holds on all screens."""

    session: Session
    freshness: Freshness

    @abstractmethod
    def polls(self) -> tuple[Poll[Any], ...]:
        """The reading loops; the first one's freshness is the screen's."""

    @abstractmethod
    def say(self, text: Safe, tone: Tone = Tone.INFO) -> None:
        """Tell the operator something; it stays until the next verb."""

    @property
    def connected(self) -> bool:
        """Whether the store has answered, and answered the last question."""
        return self.freshness.since is not None and self.freshness.cause is None

    @property
    def seconds(self) -> float:
        """The operator's interval."""
        return self.session.every or self.session.settings.refresh.value

    def keep_pace(self) -> None:
        """Let every loop keep to the operator's interval, which may have been changed on another screen."""
        for poll in self.polls():
            poll.keep_to(self.seconds)

    def terminal_focus(self, has_focus: bool) -> None:
        """The terminal gained or lost the focus."""
        for poll in self.polls():
            poll.focus(has_focus)

    def do_slower(self) -> None:
        self._change_pace(slower(self.seconds))

    def do_faster(self) -> None:
        self._change_pace(faster(self.seconds))

    def do_pause(self) -> None:
        pausing = not self.polls()[0].paused
        for poll in self.polls():
            if pausing:
                poll.pause()
            else:
                poll.resume()

    def do_refresh(self) -> None:
        for poll in self.polls():
            poll.ask_now()

    def stop_asking(self) -> bool:
        """End what has been asked of the store for long, and ask nothing more; False where nothing has."""
        if self.session.calls.longest < LONG_SECONDS:
            return False
        for poll in self.polls():
            poll.give_up()
        self.session.gateway.interrupt()
        self.say(own("stopped what the store was asked, and paused; p goes on, r asks once"), Tone.WARN)
        return True

    def _change_pace(self, seconds: float) -> None:
        self.session.every = seconds
        self.keep_pace()
        first = self.polls()[0]
        self.freshness = first.freshness
        slowed = (
            f"; this screen no faster than every {first.pace.base:g} s" if first.pace.base > seconds else ""
        )
        self.say(own(f"refresh every {seconds:g} s{slowed}"))
