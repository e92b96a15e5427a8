"""The console in a browser of this machine: `holdwatch serve` (console.md 4.1, "Web").

Needs the extra `web`. Nothing here is imported before that command is given.
"""

from typing import Final

USUAL: Final = "127.0.0.1:8080"
"""Where it is served, unless told otherwise."""
