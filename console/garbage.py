"""Python's search for garbage, put off while the console starts: nearly all that is made then is kept, and looking
for what is not took a sixth of the time to the first frame.
"""

from __future__ import annotations

import gc
from typing import Final

STARTED_SECONDS: Final = 2.0
"""Behind the first frame; the engine is imported and the first rows are there by then."""


def put_off() -> None:
    """Look for none, until `resume`."""
    gc.disable()


def resume() -> None:
    """Look for garbage among what is made from now on; nothing where it was not put off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
