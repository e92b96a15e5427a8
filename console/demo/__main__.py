"""The fleet's process: reads the store's URL and the demo's folder, works until its standard input ends.

Then it removes the folder: the console may have been killed.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from typing import Final

from console.demo import READY
from console.demo.agents import Agent, Fleet, furnish
from console.demo.bookkeeper import Bookkeeper
from console.demo.opening import Opening
from console.demo.operator import Operator
from engine import open_store
from engine.errors import EngineError

AGENTS: Final = 7


def main() -> int:
    """Run the fleet; 1 with the reason on standard error if the store cannot be used."""
    threads, seed = int(sys.argv[1]), int(sys.argv[2])
    url, folder = json.loads(sys.stdin.readline())
    try:
        with open_store(url, pool_size=AGENTS + 1, application_name="holdwatch-demo") as store:
            fleet = Fleet(store, threads=threads, seed=seed)
            furnish(fleet)
            Opening(fleet, store.clock.now()).write()
            Operator(store).act(fleet.subjects)
            print(READY, flush=True)  # noqa: T201 - the word the other process waits for
            _work(fleet)
    except EngineError as error:
        print(error.explain(), file=sys.stderr)  # noqa: T201 - shown by the other process
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _work(fleet: Fleet) -> None:
    workers: list[threading.Thread] = [Agent(fleet, number) for number in range(1, AGENTS + 1)]
    workers.append(Bookkeeper(fleet))
    for worker in workers:
        worker.start()
    watcher = threading.Thread(target=_until_told, args=(fleet,), daemon=True)
    watcher.start()
    for worker in workers:
        worker.join()


def _until_told(fleet: Fleet) -> None:
    """The pipe ends when the console does, however it ends."""
    while sys.stdin.read(4096):
        pass
    fleet.stop.set()


if __name__ == "__main__":
    sys.exit(main())
