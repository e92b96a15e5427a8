"""`holdwatch overview` and `holdwatch changed` on real stores, and the lists behind what changed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from console.cli import Exit
from engine.errors import StoreFailure
from tests.console.test_read_lists import holdwatch, store, work

__all__ = ["holdwatch", "store"]

if TYPE_CHECKING:
    import pytest

    from engine import Store
    from tests.support.commands import Command
    from tests.support.harness import Harness

LAPSED = timedelta(milliseconds=1)
PARTS = {
    "threads",
    "incomplete",
    "cascades",
    "claims",
    "sweep",
    "fences",
    "money",
    "queue",
    "tombstones",
    "events",
}


def test_the_overview_has_every_part_and_its_moment(
    harness: Harness, store: Store, holdwatch: Command
) -> None:
    work(store, "stuck", tenant="acme", ttl=LAPSED)
    work(store, "running")
    found = holdwatch.json("overview", harness.url)
    assert set(found) == PARTS
    assert found["threads"]["by_status"]["idle"] == {"count": 1, "more": False}
    assert (
        found["incomplete"]["oldest"]["thread_id"]
        == found["claims"]["oldest_expired"]["thread_id"]
        == "stuck"
    )
    assert (found["sweep"]["lease"], found["money"]["expired_for_seconds"]) == (None, {})
    assert found["events"]["last_minute"]["count"] > 0
    assert found["threads"]["as_of"].endswith("Z")
    of_tenant = holdwatch.json("overview", harness.url, "--tenant", "acme")
    assert {name for name, part in of_tenant.items() if part is not None} == {
        "threads",
        "incomplete",
        "cascades",
    }


def test_the_overview_as_text(harness: Harness, store: Store, holdwatch: Command) -> None:
    work(store, "stuck\x1b[2J", tenant="acme", ttl=LAPSED)
    said = holdwatch("overview", harness.url)
    assert said.code == Exit.OK
    told = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in said.lines}
    assert told["claims expired"] == told["incomplete count"] == "1"
    assert told["incomplete oldest thread id"] == "stuck<U+001B>[2J"
    assert told["money totals held micro"] == "0"
    assert told["sweep lease"] == "-"
    assert "not kept by tenant" in holdwatch("overview", harness.url, "--no-tenant").out


def test_report_49_a_part_that_fails_is_told_and_is_the_exit_code(
    harness: Harness, store: Store, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(store, "a")

    def lost(*_given: Any) -> Any:
        raise StoreFailure("desk.overview", "statement timeout")

    monkeypatch.setattr("engine.desk.overview.survey", lost)
    said = holdwatch("overview", harness.url, "--json")
    assert said.code == Exit.STORE_FAILURE
    assert set(said.document) == PARTS
    assert "statement timeout" in said.document["money"]["failed"]["message"]
    assert said.document["claims"]["live"] == {"count": 1, "more": False}
    assert "NOT READ: " in holdwatch("overview", harness.url).out


def test_what_changed_and_the_lists_behind_it(harness: Harness, store: Store, holdwatch: Command) -> None:
    work(store, "lapsed", tenant="acme", ttl=LAPSED)
    store.checkpoints.delete_thread("gone", work(store, "gone"))
    found = holdwatch.json("changed", harness.url)
    assert [found[name]["count"] for name in ("threads", "claims_expired", "deleted")] == [1, 1, 1]
    assert holdwatch.json("changed", harness.url, "1h", "--tenant", "acme")["claims_expired"] is None
    assert [row["thread_id"] for row in holdwatch.json("threads", harness.url, "--since", "5m")["rows"]] == [
        "lapsed"
    ]
    claims = holdwatch.json("claims", harness.url, "--expired-since", "5m")
    assert [row["thread_id"] for row in claims["rows"]] == ["lapsed"]
    gone = holdwatch.json("tombstones", harness.url, "--since", "5m")
    assert [row["thread_id"] for row in gone["rows"]] == ["gone"]
    text = holdwatch("changed", harness.url).lines
    assert [line.split() for line in text[:3]] == [
        ["threads", "1"],
        ["claims", "expired", "1"],
        ["deleted", "1"],
    ]


def test_a_span_that_is_none_is_a_usage_error(harness: Harness, holdwatch: Command) -> None:
    for arguments in (
        ("changed", harness.url, "5x"),
        ("claims", harness.url, "--expired-since", "x"),
        ("tombstones", harness.url, "--since", "0s"),
    ):
        said = holdwatch(*arguments)
        assert (said.code, said.out) == (Exit.USAGE, "")
        assert "is no span of time" in said.err
    alone = holdwatch("claims", harness.url, "--state", "live", "--expired-since", "5m")
    assert alone.code == Exit.REFUSED
    assert "has not expired" in alone.err
