"""Themes of the terminal's own sixteen colours, on its own ground (console.md F12, row 95).

What those look like is the terminal's business; on the common palettes every colour used here keeps 4.5:1 on its
ground, which `tests/console/test_ansi.py` computes for three of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from console.present import TAGS, Tone

_TAGGED: Final = {
    Tone.TAG_RED: Tone.BAD,
    Tone.TAG_AMBER: Tone.WARN,
    Tone.TAG_GREEN: Tone.GOOD,
    Tone.TAG_CYAN: Tone.INFO,
    Tone.TAG_BLUE: Tone.ACCENT,
    Tone.TAG_VIOLET: Tone.GONE,
    Tone.TAG_GREY: Tone.MUTED,
}
_BOLD: Final = frozenset({Tone.STRONG, Tone.HEAD, Tone.BAD, Tone.WARN})


@dataclass(frozen=True, slots=True)
class Palette:
    """Names of the terminal's colours by tone, as Rich has them; a tone that is not named has the usual one."""

    name: str
    dark: bool
    hues: dict[Tone, str]

    def style(self, tone: Tone) -> Style:
        """The style of a tone, to be laid on a ground; a tag is turned."""
        hue = self.hue(tone)
        return Style(color=hue, bold=tone in _BOLD or None, reverse=True if tone in TAGS else None)

    def hue(self, tone: Tone) -> str:
        """The name of a tone's colour."""
        return self.hues.get(_TAGGED.get(tone, tone), "default")

    def textual_theme(self) -> Theme:
        """The palette as Textual knows it, with our own names as CSS variables."""
        accent = f"ansi_{self.hue(Tone.ACCENT)}"
        rule = "ansi_bright_black" if self.dark else "ansi_black"
        return Theme(
            name=self.name,
            ansi=True,
            dark=self.dark,
            primary=accent,
            secondary=f"ansi_{self.hue(Tone.INFO)}",
            accent=accent,
            success=f"ansi_{self.hue(Tone.GOOD)}",
            warning=f"ansi_{self.hue(Tone.WARN)}",
            error=f"ansi_{self.hue(Tone.BAD)}",
            foreground="ansi_default",
            background="ansi_default",
            surface="ansi_default",
            panel="ansi_default",
            boost="ansi_default",
            variables={
                **BUILTIN_THEMES[self.name].variables,
                "muted": "ansi_default",
                "strong": "ansi_default",
                "rule": rule,
                "cursor": rule,
                "block-cursor-foreground": "ansi_bright_white",
                "block-cursor-background": "ansi_blue",
                "block-cursor-text-style": "none",
                "input-cursor-background": "ansi_white" if self.dark else "ansi_black",
                "input-cursor-foreground": "ansi_black" if self.dark else "ansi_bright_white",
                "input-cursor-text-style": "none",
                "scrollbar": rule,
                "scrollbar-hover": rule,
                "scrollbar-active": rule,
                "scrollbar-background": "ansi_default",
                "scrollbar-background-hover": "ansi_default",
                "scrollbar-background-active": "ansi_default",
                "scrollbar-corner-color": "ansi_default",
            },
        )


PALETTES: Final = {
    palette.name: palette
    for palette in (
        Palette(
            "ansi-dark",
            dark=True,
            hues={
                Tone.STRONG: "bright_white",
                Tone.HEAD: "bright_white",
                Tone.ACCENT: "bright_cyan",
                Tone.GOOD: "bright_green",
                Tone.INFO: "bright_cyan",
                Tone.WARN: "bright_yellow",
                Tone.BAD: "bright_red",
            },
        ),
        Palette(
            "ansi-light",
            dark=False,
            hues={Tone.ACCENT: "blue", Tone.BAD: "red", Tone.GONE: "magenta"},
        ),
    )
}
