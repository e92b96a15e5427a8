"""What a console has drawn, as text: lines, and lines with their styles. Much cheaper than a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.segment import Segment
    from textual.app import App


def segments_of(app: App[Any]) -> list[list[Segment]]:
    """The lines on the screen, as they would be sent to a terminal."""
    compositor = app.screen._compositor
    return [list(line) for line in compositor.render_strips()]


def lines_of(app: App[Any]) -> list[str]:
    """The text of the lines, without what a terminal could not show."""
    return ["".join(each.text for each in line if not each.control) for line in segments_of(app)]


def picture_of(app: App[Any]) -> str:
    """The screen as text: every line between bars, and below it the styles of its parts with their cells."""
    told: list[str] = []
    for line in segments_of(app):
        shown = [each for each in line if not each.control]
        told.append(f"|{''.join(each.text for each in shown)}|")
        told.append("  " + "  ".join(_runs(shown)))
    return "\n".join(told)


def _runs(line: list[Segment]) -> list[str]:
    """`cells: style`, equal neighbours as one."""
    runs: list[tuple[int, str]] = []
    for each in line:
        style = _style(each)
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + each.cell_length, style)
        else:
            runs.append((each.cell_length, style))
    return [f"{cells}:{style}" for cells, style in runs]


def _style(segment: Segment) -> str:
    style = segment.style
    if style is None:
        return "-"
    parts = [str(style.color.name) if style.color else "-", str(style.bgcolor.name) if style.bgcolor else "-"]
    marks = "".join(
        letter
        for letter, on in zip(
            "bdiur", (style.bold, style.dim, style.italic, style.underline, style.reverse), strict=True
        )
        if on
    )
    return "/".join([*parts, marks] if marks else parts)
