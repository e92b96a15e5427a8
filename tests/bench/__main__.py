"""`python -m tests.bench commit read tail`: the table of speeds, every ratio taken within one run."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tests.bench.commit import commit
from tests.bench.console import console
from tests.bench.growth import growth
from tests.bench.meter import meter, reconcile, sweeper
from tests.bench.places import places
from tests.bench.read import read
from tests.bench.registry import registry
from tests.bench.report import table
from tests.bench.sweep import sweep
from tests.bench.tail import tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.places import Places
    from tests.bench.report import Row

WORKS: dict[str, Callable[[Places, float], list[Row]]] = {
    "commit": commit,
    "read": read,
    "tail": tail,
    "registry": registry,
    "sweep": sweep,
    "growth": growth,
    "meter": meter,
    "reconcile": reconcile,
    "sweeper": sweeper,
    "console": console,
}
SECONDS = 45.0


def main() -> int:
    """Run the works named on the command line; 1 when a row does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("works", nargs="*", choices=[*WORKS, []], help="default: all of them")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="about how long each work may take")
    parser.add_argument(
        "--threads", type=int, default=1_000_000, help="threads of the registry's and the console's store"
    )
    parser.add_argument("--events", type=int, default=5_000_000, help="events of the console's store")
    parser.add_argument(
        "--store", action="append", default=[], metavar="URL", help="for the console, instead of new ones"
    )
    chosen = parser.parse_args()
    rows: list[Row] = []
    with places(chosen.threads, chosen.events, tuple(chosen.store)) as where:
        for name in chosen.works or WORKS:
            rows += WORKS[name](where, chosen.seconds)
    print(table(rows))
    print(f"load average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
