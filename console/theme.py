"""The console's own colour schemes, and the styles that lists draw with.

A scheme is calm on purpose: one background, two greys, one accent, and a colour for each tone that means
something. Every tone keeps a contrast of 4.5:1 on every ground it is drawn on, in colour and in the greys of
NO_COLOR (console.md F12, 4.3): `tests/console/test_theme.py` computes it. Two more themes use the terminal's own
sixteen colours, for whoever has chosen those with care.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from rich.style import Style
from textual.filter import Monochrome, NoColor
from textual.theme import Theme

from console import ansi
from console.present import TAGS, Tone

if TYPE_CHECKING:
    from textual.app import App
    from textual.filter import LineFilter


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of one theme, as hexadecimal RGB."""

    name: str
    dark: bool
    ground: str
    band: str
    raised: str
    cursor: str
    text: str
    strong: str
    muted: str
    line: str
    accent: str
    good: str
    info: str
    warn: str
    bad: str
    gone: str


NIGHT: Final = Scheme(
    name="night",
    dark=True,
    ground="#10151b",
    band="#1a222b",
    raised="#151c24",
    cursor="#263442",
    text="#c9d1da",
    strong="#f2f5f8",
    muted="#93a1b0",
    line="#33404d",
    accent="#86b6de",
    good="#83c795",
    info="#7cc0cf",
    warn="#e0b667",
    bad="#f28b8b",
    gone="#c3a4ea",
)
DAY: Final = Scheme(
    name="day",
    dark=False,
    ground="#fbfaf7",
    band="#ece9e2",
    raised="#f4f2ed",
    cursor="#dfe7ee",
    text="#2b3138",
    strong="#0b0f13",
    muted="#56606b",
    line="#c3c0b8",
    accent="#1d5688",
    good="#1d6534",
    info="#0f5f70",
    warn="#7d4f00",
    bad="#a32020",
    gone="#6a3aa0",
)
SCHEMES: Final = {scheme.name: scheme for scheme in (NIGHT, DAY)}
NAMES: Final = (*SCHEMES, *ansi.PALETTES)
"""All that can be worn, in the order in which the verb goes through them."""


@dataclass(frozen=True, slots=True)
class Look:
    """Rich styles for drawing line by line: one for each tone, and the grounds of a list."""

    tones: dict[Tone, Style]
    ground: Style
    band: Style
    raised: Style
    cursor: Style
    faded_cursor: Style

    def style(self, tone: Tone, ground: Style) -> Style:
        """The style of a tone on a ground."""
        return ground + self.tones[tone]


def tone_colours(scheme: Scheme) -> dict[Tone, str]:
    """The foreground of each tone."""
    return {
        Tone.PLAIN: scheme.text,
        Tone.MUTED: scheme.muted,
        Tone.STRONG: scheme.strong,
        Tone.HEAD: scheme.strong,
        Tone.ACCENT: scheme.accent,
        Tone.GOOD: scheme.good,
        Tone.INFO: scheme.info,
        Tone.WARN: scheme.warn,
        Tone.BAD: scheme.bad,
        Tone.GONE: scheme.gone,
        Tone.TAG_RED: scheme.bad,
        Tone.TAG_AMBER: scheme.warn,
        Tone.TAG_GREEN: scheme.good,
        Tone.TAG_CYAN: scheme.info,
        Tone.TAG_BLUE: scheme.accent,
        Tone.TAG_VIOLET: scheme.gone,
        Tone.TAG_GREY: scheme.muted,
    }


def grounds(scheme: Scheme) -> tuple[str, ...]:
    """Every background that text is drawn on."""
    return (scheme.ground, scheme.band, scheme.raised, scheme.cursor)


def _style(tone: Tone, hue: str) -> Style:
    """A tag is drawn the other way round, with the same contrast."""
    return Style(color=hue, bold=tone is Tone.HEAD, reverse=tone in TAGS)


def _grey(tone: Tone, scheme: Scheme) -> Style:
    """Without colours the worst word must not be the faintest grey: it stands out by weight and by being turned."""
    if tone not in {Tone.BAD, Tone.WARN}:
        return _style(tone, tone_colours(scheme)[tone])
    return Style(color=scheme.strong, bold=True, reverse=tone is Tone.BAD)


def look_of(app: App[Any]) -> Look:
    """The styles that an application draws with now."""
    return look(app.theme, grey=app.no_color)


@lru_cache(maxsize=8)
def look(name: str, *, grey: bool = False) -> Look:
    """The styles of a theme by name, `grey` those for NO_COLOR; those of `night` for a theme that is not ours."""
    if name in ansi.PALETTES:
        return _terminal_look(ansi.PALETTES[name])
    scheme = SCHEMES.get(name, NIGHT)
    return Look(
        tones={
            tone: _grey(tone, scheme) if grey else _style(tone, hue)
            for tone, hue in tone_colours(scheme).items()
        },
        ground=Style(color=scheme.text, bgcolor=scheme.ground),
        band=Style(color=scheme.text, bgcolor=scheme.band),
        raised=Style(color=scheme.text, bgcolor=scheme.raised),
        cursor=Style(color=scheme.strong, bgcolor=scheme.cursor),
        faded_cursor=Style(color=scheme.text, bgcolor=scheme.band),
    )


def _terminal_look(palette: ansi.Palette) -> Look:
    """On the terminal's own ground everywhere; the cursor's line is turned, which keeps every contrast."""
    plain = Style(color="default", bgcolor="default")
    return Look(
        tones={tone: palette.style(tone) for tone in Tone},
        ground=plain,
        band=plain,
        raised=plain,
        cursor=plain + Style(reverse=True),
        faded_cursor=plain + Style(underline=True),
    )


def textual_theme(scheme: Scheme) -> Theme:
    """The scheme as Textual knows it, with our own names as CSS variables."""
    return Theme(
        name=scheme.name,
        dark=scheme.dark,
        primary=scheme.accent,
        secondary=scheme.info,
        accent=scheme.accent,
        success=scheme.good,
        warning=scheme.warn,
        error=scheme.bad,
        foreground=scheme.text,
        background=scheme.ground,
        surface=scheme.raised,
        panel=scheme.band,
        variables={
            "muted": scheme.muted,
            "strong": scheme.strong,
            "rule": scheme.line,
            "cursor": scheme.cursor,
            "scrollbar": scheme.line,
            "scrollbar-hover": scheme.muted,
            "scrollbar-active": scheme.muted,
            "scrollbar-background": scheme.ground,
            "scrollbar-background-hover": scheme.ground,
            "scrollbar-background-active": scheme.ground,
            "scrollbar-corner-color": scheme.ground,
        },
    )


def install(app: App[None]) -> None:
    """Register our themes and put the first one on."""
    for scheme in SCHEMES.values():
        app.register_theme(textual_theme(scheme))
    for palette in ansi.PALETTES.values():
        app.register_theme(palette.textual_theme())
    app.theme = NIGHT.name


def following(name: str) -> str:
    """The theme that comes after one."""
    return NAMES[(NAMES.index(name) + 1) % len(NAMES)] if name in NAMES else NAMES[0]


def wear(app: App[None], name: str) -> None:
    """Put a theme on. Under NO_COLOR the terminal's own colours are left out, not turned to grey: the toolkit knows
    no grey of theirs and would draw black on black (console.md 4.3).
    """
    if app.no_color:
        wanted: LineFilter = NoColor() if name in ansi.PALETTES else Monochrome()
        filters = app._filters  # noqa: SLF001 - chosen by the toolkit once, for the first theme
        filters[:] = [wanted if isinstance(each, Monochrome | NoColor) else each for each in filters]
    app.theme = name
