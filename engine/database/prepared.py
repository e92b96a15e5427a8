"""A hot PostgreSQL statement, written once for every connection that prepares it (see `hot`)."""

from __future__ import annotations

import re
from itertools import count
from typing import Final

_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_numbers: Final = count(1)


class Prepared:
    """A statement with `%(name)s` parameters, texts and whole numbers, that answers one number or no row.

    The server must know each parameter's type from its place; where it does not, the text says it with a cast.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.name = f"holdwatch_{next(_numbers)}".encode()
        self.parameters = tuple(dict.fromkeys(_PARAMETER.findall(text)))
        places = {name: f"${place}" for place, name in enumerate(self.parameters, 1)}
        self.numbered = _PARAMETER.sub(lambda found: places[found[1]], text).encode()
