"""`python -m console`, and the entry point of the `holdwatch` script."""

from __future__ import annotations

import sys

from console.cli import run


def main() -> None:
    """Run the command line and leave with its exit code (api.md, "The command")."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
