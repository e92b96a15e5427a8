"""Which characters the console draws: any with a width that terminals agree on, or ASCII alone (`--ascii`, row 92)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class Alphabet:
    """The one of this console: `ascii_only` makes stored text that is not ASCII visible escapes."""

    ascii_only: bool = False


DRAWN: Final = Alphabet()
