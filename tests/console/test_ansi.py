"""Colours, their absence, and alphabets (console.md F12, 4.3, rows 92, 93, 95, 96, 98): computed on what is drawn."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from rich.color import ColorType
from textual.color import Color

from console import present, theme
from console.app import HoldwatchApp
from console.calls import Calls
from console.config import Settings, Valued
from console.present import HOLD_STATES, QUEUE_STATES, STATES, VERDICTS, Tone, own
from console.session import Session
from tests.console.fake import FakeGateway, make_app
from tests.console.pictures import lines_of, segments_of
from tests.console.test_present import HOSTILE
from tests.console.test_screens import settled
from tests.console.test_theme import LEAST, contrast
from tests.console.waiting import ready

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.style import Style
    from textual.pilot import Pilot

PAGES = ("0", "1", "2", "3", "4", "5", "8", "9")
OVER = {
    "help": ["?"],
    "diagnostics": ["f12"],
    "sort": ["1", "s"],
    "columns": ["1", "c"],
    "filter": ["1", "/"],
}
NAMES = {"?": "question_mark", "/": "slash"}
VGA = [
    *("#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa"),
    *("#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff"),
]
XTERM = [
    *("#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"),
    *("#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"),
]
CAMPBELL = [
    *("#0c0c0c", "#c50f1f", "#13a10e", "#c19c00", "#0037da", "#881798", "#3a96dd", "#cccccc"),
    *("#767676", "#e74856", "#16c60c", "#f9f1a5", "#3b78ff", "#b4009e", "#61d6d6", "#f2f2f2"),
]
TERMINALS = {"vga": VGA, "xterm": XTERM, "windows": CAMPBELL}
GROUNDS = {"ansi-dark": "#000000", "ansi-light": "#ffffff"}
STATE_WORDS = re.compile(
    r"[-o.=#xXT!] (RUNNING|IDLE|SUSPENDED|COMPLETED|FAILED|DELETED|LIVE|EXPIRED|OPEN|FENCED|DUE|QUEUED|LEASED)"
)


def run(
    app: HoldwatchApp, scene: Callable[[Pilot[None]], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> None:
    """Run a scene on a console that has its first rows."""

    async def play() -> None:
        async with app.run_test(size=size) as pilot:
            await ready(pilot)
            await scene(pilot)

    asyncio.run(play())


def ascii_app(gateway: FakeGateway | None = None) -> HoldwatchApp:
    """A console that was started with --ascii."""
    settings = Settings(ascii=Valued(value=True))
    return HoldwatchApp(
        Session(gateway or FakeGateway(), Calls(), monotonic=lambda: 1_000.0, settings=settings)
    )


async def all_screens(pilot: Pilot[None], look: Callable[[str], Awaitable[None]]) -> None:
    """Look at every screen, and at what opens over one."""
    for key in PAGES:
        await pilot.press(key)
        await settled(pilot)
        await look(key)
    for name, keys in OVER.items():
        for key in keys:
            await pilot.press(NAMES.get(key, key))
            await settled(pilot)
        await pilot.pause()
        await look(name)
        await pilot.press("escape")
        await pilot.pause()
    await pilot.press("1", "enter")
    await settled(pilot)
    await look("thread")


def test_report_92_ascii_draws_nothing_else() -> None:
    async def scene(pilot: Pilot[None]) -> None:
        async def look(name: str) -> None:
            odd = {letter for line in lines_of(pilot.app) for letter in line if not letter.isascii()}
            assert not odd, (name, odd)

        await all_screens(pilot, look)
        await pilot.press("semicolon")
        await pilot.pause(0.1)
        await look("palette")
        await pilot.press("escape")

    run(ascii_app(), scene)


def test_report_92_stored_text_becomes_escapes_of_the_same_meaning() -> None:
    HoldwatchApp(ascii_app().session)
    assert present.safe("caf\u00e9 \u65e5") == "caf<U+00E9> <U+65E5>"
    assert present.safe("e\u0301") == "e<U+0301>"
    assert all(present.safe(text).isascii() for text in HOSTILE)
    HoldwatchApp(make_app().session)
    assert present.safe("caf\u00e9 \u65e5") == "caf\u00e9 \u65e5"


def pair(style: Style) -> tuple[str, str]:
    """Foreground and background as they are seen, by name or hexadecimal."""
    front = (
        "default"
        if style.color is None
        else (style.color.triplet.hex if style.color.triplet else style.color.name)
    )
    back = "default"
    if style.bgcolor is not None:
        back = style.bgcolor.triplet.hex if style.bgcolor.triplet else style.bgcolor.name
    return (back, front) if style.reverse else (front, back)


def drawn(app: HoldwatchApp) -> list[tuple[str, Style]]:
    """Every piece of text on the screen that says something, and its style."""
    return [
        (each.text, each.style)
        for line in segments_of(app)
        for each in line
        if each.style is not None and any(letter.isalnum() for letter in each.text)
    ]


def check_readable(name: str, screen: str, found: list[tuple[str, Style]], *, grey: bool) -> None:
    """Every text stands out from its ground; what lies under a sheet is faded on purpose."""
    for text, style in found if screen in PAGES else []:
        front, back = pair(style)
        if name in GROUNDS:
            assert front != back or front == "default", (name, screen, text)
            assert not grey or (front, back) == ("default", "default"), (name, screen, text)
            continue
        seen = Color.parse(front)
        assert contrast(seen, Color.parse(back)) >= LEAST, (name, screen, text, style)
        assert not grey or seen.r == seen.g == seen.b, (name, screen, text)


@pytest.mark.parametrize("grey", [False, True], ids=["colour", "NO_COLOR"])
def test_report_95_every_text_on_every_screen_can_be_read(
    grey: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every theme; and by default nothing is drawn but ASCII, lines and scroll bars (row 92)."""
    if grey:
        monkeypatch.setenv("NO_COLOR", "1")
    app = make_app()
    labels: set[str] = set()

    async def look(pilot: Pilot[None], screen: str) -> None:
        odd = {letter for line in lines_of(app) for letter in line if not letter.isascii()}
        assert all("\u2500" <= letter <= "\u259f" for letter in odd), (screen, odd)
        for name in reversed(theme.NAMES):  # the first one, which is usual, is worn again in the end
            theme.wear(app, name)
            await pilot.pause()
            found = drawn(app)
            labels.update(word for text, _ in found for word in STATE_WORDS.findall(text))
            check_readable(name, screen, found, grey=grey)

    async def scene(pilot: Pilot[None]) -> None:
        await all_screens(pilot, lambda screen: look(pilot, screen))
        assert {"RUNNING", "IDLE", "FAILED", "EXPIRED", "DUE", "FENCED"} <= labels

    run(app, scene)


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("tone", Tone)
def test_report_95_ansi_tones_keep_their_contrast(name: str, terminal: str, tone: Tone) -> None:
    style = theme.look(name).tones[tone]
    assert style.color is not None
    if style.color.type is ColorType.DEFAULT:
        return  # the terminal's own text on its own ground
    assert style.color.type is ColorType.STANDARD
    hue = TERMINALS[terminal][style.color.number or 0]
    assert contrast(Color.parse(hue), Color.parse(GROUNDS[name])) >= LEAST


def test_report_95_without_colour_the_worst_is_not_the_faintest() -> None:
    for scheme in theme.SCHEMES.values():
        look = theme.look(scheme.name, grey=True)
        bad, ground = look.tones[Tone.BAD], Color.parse(scheme.ground)
        assert bad.bold
        assert bad.reverse
        assert bad.color is not None
        worst = contrast(Color.parse(bad.color.name), ground)
        for tone in (Tone.GOOD, Tone.INFO, Tone.MUTED, Tone.GONE):
            style = look.tones[tone]
            assert style.color is not None
            assert contrast(Color.parse(style.color.name).monochrome, ground.monochrome) <= worst


def test_report_96_borders_are_lines_of_their_own_ground_without_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app()

    async def scene(pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        lines = [
            (each.text, each.style)
            for line in segments_of(app)
            for each in line
            if each.style is not None and re.fullmatch(r"[\u2502\u256d-\u2570]", each.text)
        ]
        assert {text for text, _ in lines} >= {"\u2502", "\u256d", "\u2570"}
        for text, style in lines:
            front, back = (Color.parse(each) for each in pair(style))
            assert contrast(front, back) > 1.3, text

    run(app, scene)


def test_report_93_our_wrapping_is_our_own() -> None:
    text = own("the quick brown fox-jumps over_the lazy dog")
    assert present.wrap(text, 12) == ("the quick", "brown", "fox-jumps", "over_the", "lazy dog")
    assert present.wrap(own("abcdefghij klm"), 4) == ("abcd", "efgh", "ij", "klm")
    assert present.wrap(own(""), 4) == ("",)


def test_report_98_the_mode_is_a_word_in_every_theme() -> None:
    app = ascii_app()

    async def scene(pilot: Pilot[None]) -> None:
        for name in theme.NAMES:
            theme.wear(app, name)
            await pilot.pause()
            assert " RO " in lines_of(app)[0]

    run(app, scene)


def test_f12_states_are_told_apart_with_styles_removed() -> None:
    for states in (STATES, QUEUE_STATES, HOLD_STATES):
        words = [f"{mark.glyph} {state.name}" for state, mark in states.items()]
        assert len(set(words)) == len(words)
        assert all(word.isascii() for word in words)
    assert len({verdict.value for verdict in VERDICTS}) == len(VERDICTS)
    assert present.claim_state(live=True).text != present.claim_state(live=False).text


def test_no_glyph_is_of_doubtful_width() -> None:
    for states in (STATES, QUEUE_STATES, HOLD_STATES):
        for mark in states.values():
            assert unicodedata.east_asian_width(mark.glyph) == "Na"
