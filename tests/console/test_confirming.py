"""A yes counts only when it was meant: nothing typed ahead, held down, pasted or clicked does (console.md F4)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from textual.app import App
from textual.events import Paste
from textual.widgets import Label

from console import theme
from console.acting.confirmation import QUIET_SECONDS, Asked, Confirmed
from console.actions import Level
from console.present import Cell, own
from console.screens.confirm import ConfirmScreen, Question
from console.widgets.band import Band
from console.widgets.choice import Choice
from console.widgets.confirming import Confirming

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

PHRASE = "DELETE 9562 ON PROD"
BY_HAND = 0.12
HELD = 1 / 30
ASKS = Asked(Level.ASK, "Pause")
PHRASED = Asked(Level.PHRASE, "Release", "VOID 0.300000", reasoned=True)
REASONED = Asked(Level.REASON, "Delete", PHRASE, reasoned=True)


class Watch:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Host(App[None]):
    """Opens the dialog by D, and keeps what it gave."""

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        theme.install(self)
        self.time = Watch()
        self.given: list[Confirmed | None] = []
        self._asked = asked

    def key_d(self) -> None:
        question = Question(own("Delete"), ((Cell(own("three threads")),),), self._asked)
        self.push_screen(ConfirmScreen(question, self.time), self.given.append)


def play(asked: Asked, scene: Callable[[Pilot[None], Host], Awaitable[None]]) -> list[Confirmed | None]:
    """What the dialog gave in a scene that begins with it open."""
    host = Host(asked)

    async def run() -> None:
        async with host.run_test(size=(80, 24)) as pilot:
            await pilot.press("d")
            await pilot.pause()
            await scene(pilot, host)
            await pilot.pause()

    asyncio.run(run())
    return host.given


async def by_hand(pilot: Pilot[None], host: Host, *keys: str) -> None:
    """Press each key in its own time."""
    for key in keys:
        host.time.now += BY_HAND
        await pilot.press(key)


async def settle(pilot: Pilot[None], host: Host) -> None:
    """Wait as a reader does."""
    host.time.now += 2 * QUIET_SECONDS
    await pilot.pause()


def keys_of(text: str) -> list[str]:
    """The keys that type it."""
    return ["space" if each == " " else "full_stop" if each == "." else each for each in text]


@pytest.mark.parametrize("asked", [ASKS, PHRASED, REASONED], ids=lambda asked: asked.verb)
def test_report_17_the_opening_key_held_down_and_a_burst_confirm_nothing(asked: Asked) -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        for _ in range(30):
            host.time.now += HELD
            await pilot.press("D")
        await pilot.press(*["enter"] * 20, *["y"] * 20, *keys_of(asked.phrase), "enter", "tab", "enter")

    assert not [each for each in play(asked, scene) if each is not None]


@pytest.mark.parametrize("asked", [PHRASED, REASONED], ids=lambda asked: asked.verb)
def test_report_19_enter_and_enter_again_only_cancel(asked: Asked) -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "enter", "enter", "enter")

    assert play(asked, scene) == [None]


@pytest.mark.parametrize("asked", [PHRASED, REASONED], ids=lambda asked: asked.verb)
def test_a_deliberate_run_gives_one_yes(asked: Asked) -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(
            pilot, host, "up", "up", *keys_of("INC 7"), "enter", *keys_of(asked.phrase), "down", "down"
        )
        await by_hand(pilot, host, "enter", "enter")

    assert play(asked, scene) == [Confirmed(asked.phrase, "INC 7")]


def test_at_level_one_y_does_it_and_n_does_not() -> None:
    async def agrees(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "y")

    async def declines(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "n")

    assert play(ASKS, agrees) == [Confirmed("", "")]
    assert play(ASKS, declines) == [None]


def test_what_is_typed_before_the_reason_has_the_focus_is_the_reason() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, *"nanny", "enter", *keys_of(PHRASE), "enter", "enter")

    assert play(REASONED, scene) == [Confirmed(PHRASE, "nanny")]


def test_no_letter_of_a_reason_is_an_answer_however_fast_it_comes() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await pilot.press(*keys_of("nightly yes"))
        assert host.given == []
        assert host.screen.query_one(Confirming).reason == "nightly yes"

    assert play(Asked(Level.ASK, "Turn on", reasoned=True), scene) == []


def test_a_pasted_phrase_is_refused_and_said() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "up", "up", *"why", "down")
        focused = host.focused
        assert focused is not None
        focused.post_message(Paste(PHRASE))
        await pilot.pause()
        assert told(host) == "paste is refused here: type the phrase"
        await by_hand(pilot, host, "down", "down", "enter")

    assert play(REASONED, scene) == []


def test_a_phrase_that_comes_too_fast_for_hands_is_refused() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "up", "up", *"why", "down")
        await pilot.press(*keys_of(PHRASE))
        assert "faster than hands" in told(host)
        await by_hand(pilot, host, "down", "down", "enter")

    assert play(REASONED, scene) == []


def test_the_mouse_does_not_do_it_at_levels_two_and_three() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "up", "up", *"why", "down", *keys_of(PHRASE))
        await pilot.click("#deed")
        assert "mouse" in told(host)

    assert play(REASONED, scene) == []


def test_report_101_nothing_above_level_one_goes_without_a_reason() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        await by_hand(pilot, host, "up", *keys_of(PHRASE), "down", "down", "enter")
        assert told(host).startswith("a reason is needed")

    assert play(REASONED, scene) == []


def test_report_3_the_dialog_itself_says_what_to_type_and_press() -> None:
    async def scene(pilot: Pilot[None], host: Host) -> None:
        await settle(pilot, host)
        label = host.screen.query("Confirming Label").last(Label)
        assert str(label.visual) == f"  Type {PHRASE} : "
        answers = [choice.text for choice in host.screen.query(Choice)]
        assert answers == ["> [ Cancel ]", "  [ Delete (not yet) ]"]
        await by_hand(pilot, host, "up", "up", *"x", "down", *keys_of(PHRASE))
        assert told(host) == "ready: Enter on the deed does it"

    assert play(REASONED, scene) == []


def told(host: Host) -> str:
    """The line that says what is missing."""
    return host.screen.query_one(Confirming).query_one("#told", Band).text.strip()
