"""Contrast of every tone on every ground, in colour and in the greys of NO_COLOR (console.md F12, 4.3)."""

from __future__ import annotations

import itertools

import pytest
from textual.color import Color

from console.present import STATES, Tone
from console.theme import SCHEMES, Scheme, grounds, tone_colours

LEAST = 4.5


def luminance(colour: Color) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    channels = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (colour.r / 255, colour.g / 255, colour.b / 255)
    ]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("tone", Tone)
@pytest.mark.parametrize("grey", [False, True], ids=["colour", "NO_COLOR"])
def test_every_tone_can_be_read_on_every_ground(scheme: Scheme, tone: Tone, grey: bool) -> None:
    for ground in grounds(scheme):
        front, back = Color.parse(tone_colours(scheme)[tone]), Color.parse(ground)
        if grey:
            front, back = front.monochrome, back.monochrome
        assert contrast(front, back) >= LEAST, (tone, ground)


def test_states_are_told_apart_without_colour() -> None:
    for one, other in itertools.combinations(STATES.values(), 2):
        assert one.glyph != other.glyph
