"""What a console wrote to its terminal, taken apart: sequences that Textual's driver makes, text, and nothing else."""

from __future__ import annotations

import base64
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from textual.drivers.headless_driver import HeadlessDriver
from wcwidth import wcwidth

if TYPE_CHECKING:
    import pytest

ESCAPED: Final = re.compile(
    r"""
    \x1b\[ [\d;:]* [mHABCDKJ]                     # colours, the cursor, clearing
  | \x1b\[ \?(?:25|47|1000|1002|1003|1004|1006|1015|1049|2004|2026|2048) [hl]
  | \x1b\[ \?\d+\$p | \x1b\[ [<>]\d*u             # questions about modes, and the keyboard's
  | \x1b\]22;\w*\x07                              # the mouse pointer's shape
    """,
    re.VERBOSE,
)
COPIED: Final = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
_CONTROLS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Tape:
    """Everything written since it began."""

    def __init__(self) -> None:
        self._written: list[str] = []

    def write(self, data: str) -> None:
        """One write of the driver."""
        self._written.append(data)

    @property
    def raw(self) -> str:
        """All of it."""
        return "".join(self._written)

    @property
    def text(self) -> str:
        """Without the sequences."""
        return ESCAPED.sub("", COPIED.sub("", self.raw))

    @property
    def copied(self) -> list[str]:
        """What the terminal was asked to keep."""
        return [base64.b64decode(found).decode() for found in COPIED.findall(self.raw)]

    def strange(self) -> set[str]:
        """Characters that a terminal would obey, hide or reorder, other than the driver's own line ends."""
        return strange(self.text)


def strange(text: str) -> set[str]:
    """The characters of a text that are more than something to look at."""
    return {
        f"U+{ord(each):04X} in {text[max(0, at - 30) : at + 30]!r}"
        for at, each in enumerate(text)
        if each not in "\r\n" and (unicodedata.category(each) in _CONTROLS or wcwidth(each) < 0)
    }


def taped(monkeypatch: pytest.MonkeyPatch) -> Tape:
    """From now on every console of this test writes on the tape."""
    tape = Tape()
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
    monkeypatch.setattr(HeadlessDriver, "write", lambda _driver, data: tape.write(data))
    monkeypatch.setattr(HeadlessDriver, "is_headless", property(lambda _driver: False))
    return tape
