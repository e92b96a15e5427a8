"""Copying through the terminal (OSC 52): the one door, with a ceiling, and words that claim no more than was done.

No terminal says whether it took a text, so nothing here is ever called copied (console.md 3.4, rows 88 and 89).
"""

from __future__ import annotations

import base64
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from console.present import Safe, own, safe

if TYPE_CHECKING:
    from textual.app import App

LIMIT: Final = 74_994
"""Encoded bytes that a terminal takes."""
SHOWN: Final = 600
"""Characters of a text that the line about it shows."""


class Sent(StrEnum):
    """What became of a text."""

    WHOLE = "sent to terminal"
    ESCAPED = "sent to terminal, escaped"
    NOT = "not sent, it is more than a terminal takes; select it here"


def send(app: App[Any], *lines: str) -> Sent:
    """Ask the terminal to keep these lines; whatever a shell might obey when they are pasted is escaped.

    A pasted text could end the terminal's bracketed paste and go on as if it were typed.
    """
    text = "\n".join(lines)
    if len(text) > LIMIT:
        return Sent.NOT
    kept = "\n".join(safe(line, LIMIT) for line in lines)
    if len(base64.b64encode(kept.encode())) > LIMIT:
        return Sent.NOT
    app.copy_to_clipboard(kept)
    return Sent.WHOLE if kept == text else Sent.ESCAPED


def told(sent: Sent, text: str) -> Safe:
    """The line that says which way was used, and shows the text so that it can be selected as well."""
    way = "" if sent is Sent.NOT else " (OSC 52)"
    return own(f"{sent.value}{way}: {safe(text, SHOWN)}")
