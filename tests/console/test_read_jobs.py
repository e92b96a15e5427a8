"""`holdwatch jobs` and `holdwatch job` over a real store: what a script gets of jobs and of their items."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing

import pytest

import engine
from console import cli
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.command_line import Exit
from console.gateway.acting import EngineActing
from tests.support.builders import claim

MK = Person("mk", "bastion-2")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """A store with a job that is done, of which one item was skipped, and one that waits: file, done, waiting."""
    path = str(tmp_path_factory.mktemp("jobs") / "store.db")
    with engine.open_store(f"sqlite:///{path}") as store:
        tokens = {thread: claim(store, thread).token for thread in ("t1", "t2", "t3")}
        acting = EngineActing(f"sqlite:///{path}", MK)
        acting.open(_order())
        jobs = [_made(acting, ("t1", "t2")), _made(acting, ("t3",))]
        store.checkpoints.release("t2", tokens["t2"])
        acting.run_job(jobs[0], threading.Event(), {})
        acting.close("made")
    return path, jobs[0], jobs[1]


def _order() -> Order:
    return Order("release", "INC-1", Route.KEY, "holdwatch release")


def _made(acting: EngineActing, threads: tuple[str, ...]) -> str:
    plan = acting.make_plan(ReleaseWish(threads), "prod", Bounds())
    assert plan.id is not None
    return acting.execute(plan.id, _order(), plan.phrase, 0)


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code and what was printed."""
    code = cli.run(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_jobs_are_listed_newest_first_and_by_state(
    told: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, done, waiting = told
    code, out, _ = ran(capsys, "jobs", path, "--json")
    rows = json.loads(out)["rows"]
    assert (code, {row["job_id"] for row in rows}) == (Exit.OK, {done, waiting})
    code, out, _ = ran(capsys, "jobs", path, "--state", "ready")
    assert waiting in out
    assert done not in out
    code, _, err = ran(capsys, "jobs", path, "--state", "interrupted")
    assert (code, "among the running ones" in err) == (Exit.USAGE, True)
    assert (
        ran(capsys, "jobs", "list", path)[1].splitlines()[0] == ran(capsys, "jobs", path)[1].splitlines()[0]
    )


def test_one_job_is_told_with_its_items(
    told: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, done, _ = told
    code, out, _ = ran(capsys, "job", path, done, "--json")
    found = json.loads(out)
    assert (code, found["state"], found["applied"], found["skipped"]) == (Exit.OK, "done", 1, 1)
    assert [item["outcome"] for item in found["items"]["rows"]] == ["applied", "skipped"]
    code, out, _ = ran(capsys, "job", path, done, "--outcome", "skipped")
    assert code == Exit.OK
    assert "t2" in out
    assert "release on prod" in out
    assert "t1" not in out
    code, _, err = ran(capsys, "job", path, "nowhere")
    assert (code, "holdwatch jobs lists them" in err) == (Exit.REFUSED, True)


def test_F10_rows_that_an_item_has_lost_so_far_are_told(
    told: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _, waiting = told
    noted = (f"{waiting}:1:000001", "sweep", "table", "spots", "mk@bastion-2", 1, '{"removed": 1500}')
    columns = "operation_id, kind, object_kind, object_id, actor, at, result"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"INSERT INTO operation ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", noted)
        connection.commit()
    code, out, _ = ran(capsys, "job", path, waiting, "--json")
    assert (code, json.loads(out)["rows_of_item"]) == (Exit.OK, 1_500)
    assert "1,500 rows of item 1 so far" in ran(capsys, "job", path, waiting)[1]
