"""The README's tour: its ten questions, answered by its own keys and its own commands, on both sizes of terminal."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.session import Session
from engine import open_store
from engine.checkpoints import Checkpoint, CheckpointStatus, ClaimRequest, Commit, EventDraft
from engine.desk.maintenance import MAINTENANCE_THREAD
from tests.console.waiting import ready, until
from tests.support.commands import Command
from tests.tidy.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from engine import Store

HOUR: Final = timedelta(hours=1)
OVER: Final = timedelta(milliseconds=1)
CAP: Final = 60_000_000
HELD, STUCK, TENANT, OTHER = "thr_held", "thr_stuck", "acme", "globex"
ANSWERS: Final = {
    "Who holds": (("HOLDER MAY BE ALIVE", "worker-7"), ("worker-7", "live, ")),
    "Which threads are stuck": (("thr_stuck", "IDLE"), ("thr_stuck",)),
    "What did this thread do last": (("tool.returned", HELD), ("tool.returned",)),
    "Which reservations expired": (("EXPIRED", "session", HELD), ("expired", "session")),
    "Which fences are due": (("DUE", "ch_0042"), ("due", "ch_0042")),
    "How much money": (("2.000000 USD held",), ("2.000000",)),
    "Is a sweep": (("sweeper-1",), ("sweeper-1",)),
    "Is the queue": (("1 leased", "1 queued", "worker-9"), ("worker-9",)),
    "What arrives": (("tool.returned", "following"), ("tool.returned",)),
    "What changed": (("2 threads committed",), ("2",)),
}
"""What stands on the screen, and in the command's answer."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One row of the tour."""

    question: str
    keys: tuple[str, ...]
    command: tuple[str, ...]

    @property
    def answers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is to be seen, and what is to be printed."""
        (found,) = [answer for start, answer in ANSWERS.items() if self.question.startswith(start)]
        return found


def stops() -> list[Stop]:
    """The tour as the README has it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| you ask |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1:4] for row in table.splitlines()[2:]]
    return [Stop(row[0].strip(), _words(row[1]), tuple(_words(row[2])[0].split())) for row in rows]


def _words(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A store in which each of the ten has an answer."""
    found = f"sqlite:///{tmp_path / 'night.db'}"
    with open_store(found) as store:
        _threads(store)
        _money(store)
        for _ in range(2):
            store.queue.enqueue(HELD, {})
        assert store.queue.lease("worker-9", HOUR) is not None
        store.checkpoints.claim(MAINTENANCE_THREAD, ClaimRequest("sweeper-1", HOUR))
        yield found


def _threads(store: Store) -> None:
    for thread, ttl, tenant in ((HELD, HOUR, TENANT), (STUCK, OVER, OTHER)):
        token = store.checkpoints.claim(thread, ClaimRequest("worker-7", HOUR, tenant)).token
        run = Checkpoint(f"ck-{thread}", thread, "run-1", CheckpointStatus.RUNNING, {}, tenant=tenant)
        kinds = ("tool.called", "tool.returned") if thread == HELD else ("begun",)
        events = [EventDraft(kind, {"tool": "search"}, "run-1") for kind in kinds]
        store.checkpoints.commit(thread, Commit(token, run, events=events))
        store.checkpoints.renew(thread, token, ttl)


def _money(store: Store) -> None:
    now = datetime.now(UTC)
    ago = now - timedelta(seconds=1)
    for kind, micro, fenced in (("session", 1_250_000, False), ("charge", 750_000, True)):
        made = store.days.reserve(
            kind=kind, micro=micro, at=ago, expires=now, cap_micro=CAP, require_fence=fenced, thread_id=HELD
        )
        if fenced:
            store.days.defer(made, now, {"charge": "ch_0042"})


def test_the_tour_has_ten_questions() -> None:
    assert len(stops()) == len(ANSWERS) == 10
    assert all(stop.answers for stop in stops())


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_each_question_is_answered_by_its_keys(url: str, size: tuple[int, int]) -> None:
    async def play() -> None:
        session = Session(EngineGateway(url), Calls(), time.monotonic)
        async with HoldwatchApp(session).run_test(size=size) as pilot:
            await ready(pilot)
            for stop in stops():
                await _press(pilot, stop)
                await until(pilot, partial(_shows, pilot, stop.answers[0]))
                await pilot.press("escape", "escape")

    asyncio.run(play())


async def _press(pilot: Pilot[None], stop: Stop) -> None:
    for typed in stop.keys:
        await pilot.press(*map(_key, _named(typed)), *(("enter",) if len(typed) > 1 else ()))
        await pilot.pause()
        await ready(pilot)


def _named(text: str) -> str:
    return (
        text.replace("thread:ID", f"thread:{HELD}")
        .replace("thr:ID", f"thr:{HELD}")
        .replace(":X", f":{TENANT}")
    )


def _key(character: str) -> str:
    return {" ": "space", ":": "colon", "/": "slash", "_": "underscore"}.get(character, character)


def _shows(pilot: Pilot[None], words: tuple[str, ...]) -> bool:
    strips = pilot.app.screen._compositor.render_strips()
    drawn = "\n".join(strip.text for strip in strips)
    return all(word in drawn for word in words)


def test_each_question_is_answered_by_its_command(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = Command(capsys)
    for stop in stops():
        holdwatch, *words = (word for word in stop.command if word != "--follow")
        assert holdwatch == "holdwatch"
        asked = [{"STORE": url, "ID": HELD, "X": TENANT}.get(word, word) for word in words]
        said = run(*asked)
        assert (said.code, said.err) == (0, ""), (stop, said.err)
        assert [word for word in stop.answers[1] if word not in said.out] == [], (stop.question, said.out)
