"""A process of its own that waits for one thread's events: `python -m tests.bench.waiter URL THREAD`.

Says "ready" once its store is open, then for each event its number and the time it was read (nanoseconds since 1970),
until its standard output is closed or it is ended.
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta

from engine import open_store

WAIT = timedelta(seconds=60)
MOST = 1000


def main(url: str, thread_id: str) -> None:
    """Wait, read, tell, for ever."""
    with open_store(url, ensure_schema=False) as store:
        _say("ready")
        seq = 0
        while True:
            for record in store.checkpoints.await_events_after(thread_id, seq, MOST, WAIT):
                seq = record.seq
                _say(f"{seq} {time.time_ns()}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
