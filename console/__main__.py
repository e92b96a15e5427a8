"""`python -m console`, and the entry point of the `holdwatch` script."""

from __future__ import annotations

import os
import sys

from console import garbage, plain


def main() -> None:
    """Run the command line and leave with its exit code (api.md, "The command")."""
    # A program may be started without them: what it would say then goes nowhere.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: PTH123, SIM115 - open to the end
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    garbage.put_off()
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    if plain.is_plain(arguments):
        return plain.run(arguments)
    from console.cli import run

    return run(arguments)


if __name__ == "__main__":
    main()
