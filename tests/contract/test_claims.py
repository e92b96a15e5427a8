"""Claims and fencing tokens: cases 18 to 42 of checkpoints.md 4.2."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import BusyHolder, ClaimRequest, Commit
from engine.errors import StaleClaim, ThreadBusy, ValidationError
from tests.support.builders import (
    STEP,
    TTL,
    chain,
    ck,
    claim,
    emit,
    ev,
    fresh_id,
    latest_id,
    seqs,
    task_ids,
    wr,
)
from tests.support.refusals import UNNAMED, busy, named, refused
from tests.support.rows import rows_of
from tests.support.together import errors, together, values

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer, RunClaim
    from tests.support.harness import Harness

CONTENDERS = 16
PAIRS = [("A", "A"), ("A", "B"), ("A", None), (None, "A"), (None, None)]
"""The tenant of the stored claim, and the tenant of the request."""
WALK = 120
"""Steps of the random walk of case 36."""
SPANS = {"half": TTL / 2, "lapse": TTL}
"""How far time passes in it."""


def taken_over(harness: Harness, t: str) -> tuple[RunClaim, RunClaim]:
    """The state of case 22: "first" wrote c1 and event 1 and lapsed, "second" took over; both claims."""
    store = harness.checkpoints
    first = claim(store, t)
    chain(store, t, first.token, ["c1"])
    harness.advance(TTL)
    return first, claim(store, t, "second")


def race(store: Checkpointer, t: str) -> tuple[RunClaim, list[Exception]]:
    """Many claims at one moment: the one that was granted, and all the refusals."""
    contenders = [partial(claim, store, t, f"run-{n}") for n in range(CONTENDERS)]
    outcomes = together(*contenders)
    (winner,) = values(outcomes)
    return winner, errors(outcomes)


def test_core_18_claim_on_a_new_thread(harness_any_clock: Harness) -> None:
    t = fresh_id()
    granted = claim(harness_any_clock.checkpoints, t)
    assert (granted.thread_id, granted.holder, granted.taken_over_from) == (t, "first", None)
    assert granted.token >= 1
    harness_any_clock.check_expiry(granted, after=TTL)


def test_core_19_live_claim_refuses_everybody(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    claim(store, t)
    busy(t, None, named("first"), claim, store, t, "second")
    busy(t, None, named("first"), claim, store, t, "first")


def test_core_20_refusal_names_the_latest_checkpoint(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t)
    harness_any_clock.advance_to_just_before(TTL)
    busy(t, None, named("first"), claim, store, t, "second")
    store.commit(t, Commit(first.token, checkpoint=ck("c1", t=t)))
    busy(t, "c1", named("first"), claim, store, t, "second")
    assert claim(store, fresh_id(), "second").holder == "second"


def test_core_21_claim_lapses_at_its_expiry(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    claim(store, t)
    harness_any_clock.advance(TTL)
    assert claim(store, t, "second").taken_over_from == "first"


def test_core_21_claim_lives_until_the_step_before(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    claim(store, t)
    harness_any_clock.advance_to_just_before(TTL)
    busy(t, None, named("first"), claim, store, t, "second")


def test_core_22_takeover(harness_any_clock: Harness) -> None:
    first, second = taken_over(harness_any_clock, fresh_id())
    assert second.holder == "second"
    assert second.token > first.token
    assert second.taken_over_from == "first"
    harness_any_clock.check_expiry(second, after=2 * TTL, later_than=first)


def test_core_23_replaced_holder_changes_nothing(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first, second = taken_over(harness_any_clock, t)
    stale = StaleClaim(t, first.token, second.token)

    checkpoint, writes, events = ck("stale", "c1", t=t), [wr("stale", "0.0")], [ev("stale")]
    whole = Commit(first.token, checkpoint=checkpoint, writes=writes, events=events)
    refused(stale, store.commit, t, whole)
    refused(stale, store.commit, t, Commit(first.token, writes=[wr("c1", "0.0")]))
    refused(stale, store.commit, t, Commit(first.token, events=events))
    refused(stale, store.renew, t, first.token, TTL)
    store.release(t, first.token)

    busy(t, "c1", named("second"), claim, store, t, "third")
    assert latest_id(store, t) == "c1"
    assert task_ids(store, t) == []
    assert emit(store, t, second.token, "next") == [2]


def test_core_24_token_is_judged_before_the_parent(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first, second = taken_over(harness_any_clock, t)
    chain(store, t, second.token, ["c2"])
    for parent in ("c1", "c2"):
        stale = StaleClaim(t, first.token, second.token)
        refused(stale, store.commit, t, Commit(first.token, checkpoint=ck("x", parent, t=t)))
    assert latest_id(store, t) == "c2"


def test_core_25_commit_without_the_claim(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    unclaimed = Commit(1, checkpoint=ck("c1", t=t), events=[ev("a")])
    refused(StaleClaim(t, 1, None), store.commit, t, unclaimed)
    token = claim(store, t).token
    wrong = Commit(token + 1000, checkpoint=ck("c1", t=t))
    refused(StaleClaim(t, token + 1000, token), store.commit, t, wrong)
    assert store.latest(t) is None
    assert seqs(store, t) == []


def test_core_26_lapsed_but_unreplaced_holder_goes_on(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t)
    harness_any_clock.advance(timedelta(seconds=35))
    late = Commit(first.token, checkpoint=ck("c1", t=t), events=[ev("late")])
    assert [record.seq for record in store.commit(t, late)] == [1]
    renewed = store.renew(t, first.token, TTL)
    assert (renewed.thread_id, renewed.token, renewed.holder) == (t, first.token, "first")
    assert renewed.taken_over_from is None
    harness_any_clock.check_expiry(renewed, after=timedelta(seconds=65), later_than=first)
    busy(t, "c1", named("first"), claim, store, t, "second")


def test_core_27_renewal_extends_from_now(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t)
    harness_any_clock.advance(timedelta(seconds=20))
    renewed = store.renew(t, first.token, TTL)
    harness_any_clock.check_expiry(renewed, after=timedelta(seconds=50), later_than=first)
    harness_any_clock.advance(timedelta(seconds=20))
    busy(t, None, named("first"), claim, store, t, "second")
    harness_any_clock.advance(timedelta(seconds=10))
    assert claim(store, t, "second").token > first.token


def test_core_27_renewal_may_shorten(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t)
    store.renew(t, first.token, TTL / 3)
    harness_any_clock.advance(TTL / 3)
    assert claim(store, t, "second").taken_over_from == "first"


def test_core_28_release_ends_the_claim_for_good(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t).token
    store.commit(t, Commit(first, checkpoint=ck("c1", t=t)))
    store.release(t, first)

    refused(StaleClaim(t, first, None), store.commit, t, Commit(first, events=[ev("a")]))
    refused(StaleClaim(t, first, None), store.renew, t, first, TTL)
    store.release(t, first)
    second = claim(store, t, "second")
    assert second.token > first
    assert second.taken_over_from is None
    store.release(t, first)
    busy(t, "c1", named("second"), claim, store, t, "third")
    assert latest_id(store, t) == "c1"
    assert seqs(store, t) == []


def test_core_29_tokens_only_rise(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    tokens: list[int] = []
    for round_number in range(6):
        token = claim(store, t, f"run-{round_number}").token
        tokens.append(token)
        if round_number % 3 == 0:
            store.release(t, token)
        elif round_number % 3 == 1:
            harness_any_clock.advance(TTL)
        else:
            store.delete_thread(t, token)
    assert tokens == sorted(set(tokens))


def test_core_30_one_of_many_claims_a_new_thread(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    winner, refusals = race(store, t)
    assert winner.taken_over_from is None
    assert refusals == [ThreadBusy(t, None, named(winner.holder))] * (CONTENDERS - 1)


def test_core_31_one_of_many_takes_over(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t).token
    store.commit(t, Commit(first, checkpoint=ck("c1", t=t)))
    harness_any_clock.advance(TTL)
    winner, refusals = race(store, t)

    assert winner.token > first
    assert winner.taken_over_from == "first"
    assert refusals == [ThreadBusy(t, "c1", named(winner.holder))] * (CONTENDERS - 1)
    refused(StaleClaim(t, first, winner.token), store.commit, t, Commit(first, events=[ev("a")]))
    assert emit(store, t, winner.token, "a") == [1]


@pytest.mark.parametrize(("live", "request_tenant"), PAIRS)
def test_core_32_refusal_names_only_to_its_tenant(
    harness_any_clock: Harness, live: str | None, request_tenant: str | None
) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t, tenant=live)
    store.commit(t, Commit(first.token, checkpoint=ck("c1", t=t)))
    holder = named("first") if live == request_tenant else UNNAMED
    busy(t, "c1", holder, claim, store, t, "second", tenant=request_tenant)
    assert latest_id(store, t) == "c1"
    assert emit(store, t, first.token, "still its own") == [1]


@pytest.mark.parametrize(("lapsed", "request_tenant"), PAIRS)
def test_core_33_takeover_names_only_to_its_tenant(
    harness_any_clock: Harness, lapsed: str | None, request_tenant: str | None
) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t, tenant=lapsed)
    harness_any_clock.advance(TTL)
    second = claim(store, t, "second", tenant=request_tenant)
    assert second.token > first.token
    assert second.taken_over_from == ("first" if lapsed == request_tenant else None)


@pytest.mark.parametrize("request_tenant", ["A", None])
def test_core_34_claim_without_a_recorded_tenant(
    harness_any_clock: Harness, request_tenant: str | None
) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t)
    forget_tenant(harness_any_clock, t)
    busy(t, None, UNNAMED, claim, store, t, "second", tenant=request_tenant)
    harness_any_clock.advance(TTL)
    second = claim(store, t, "second", tenant=request_tenant)
    assert second.token > first.token
    assert second.taken_over_from is None


def test_core_35_same_run_claims_again_after_its_lapse(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t, tenant="A")
    harness_any_clock.advance(TTL)
    again = claim(store, t, tenant="A")
    assert again.token > first.token
    assert again.taken_over_from == "first"


def test_core_36_no_store_ever_says_lapsed(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    chance, seen = random.Random(36), set[BusyHolder]()
    held, recorded = claim(store, t, "one"), Recorded("one", None)
    for _ in range(WALK):
        move = chance.choice(["claim", "claim", "claim", "half", "lapse", "renew", "release", "forget"])
        if move == "claim":
            wanted = Recorded(chance.choice(["one", "two"]), chance.choice(["A", None]))
            answer = asked(store, t, wanted)
            if isinstance(answer, BusyHolder):
                assert answer == recorded.shown_to(wanted)
                seen.add(answer)
            else:
                held, recorded = answer, wanted
        elif move == "forget":
            forget_tenant(harness_any_clock, t)
            recorded = Recorded(recorded.holder, "nobody's")
        else:
            step(harness_any_clock, held, move)
    assert seen == {named("one"), named("two"), UNNAMED}


def test_core_37_a_released_claim_leaves_nothing(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    first = claim(store, t, tenant="A").token
    with harness_any_clock.raw() as connection:
        assert rows_of(connection, t) == {"thread": 1}
    store.release(t, first)
    with harness_any_clock.raw() as connection:
        assert rows_of(connection, t) == {}
    assert claim(store, t).token > first


@pytest.mark.parametrize("ttl", [timedelta(0), -STEP, timedelta(days=-1)])
def test_core_38_request_needs_a_positive_ttl(ttl: timedelta) -> None:
    with pytest.raises(ValueError, match="ttl") as caught:
        ClaimRequest(holder="first", ttl=ttl)
    assert isinstance(caught.value, ValidationError)
    assert caught.value.field == "claim"


def test_core_38_smallest_ttl_is_granted(harness: Harness) -> None:
    granted = claim(harness.checkpoints, fresh_id(), ttl=STEP)
    harness.check_expiry(granted, after=STEP)


@pytest.mark.parametrize("ttl", [timedelta(0), -STEP])
def test_core_38_renewal_needs_a_positive_ttl(harness_any_clock: Harness, ttl: timedelta) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    with pytest.raises(ValidationError, match="ttl"):
        store.renew(t, token, ttl)
    busy(t, None, named("first"), claim, store, t, "second")


def test_core_39_claims_outlive_the_store(harness_any_clock: Harness) -> None:
    t = fresh_id()
    first = claim(harness_any_clock.checkpoints, t)
    chain(harness_any_clock.checkpoints, t, first.token, ["c1"])

    store = harness_any_clock.reopen().checkpoints
    busy(t, "c1", named("first"), claim, store, t, "second")
    assert emit(store, t, first.token, "b") == [2]
    assert store.renew(t, first.token, TTL).token == first.token
    store.release(t, first.token)

    store = harness_any_clock.reopen().checkpoints
    assert claim(store, t, "second").token > first.token
    assert seqs(store, t) == [1, 2]


def test_core_40_takeovers_outlive_the_store(harness_any_clock: Harness) -> None:
    t = fresh_id()
    first, second = reopened_after_takeover(harness_any_clock, t)
    store, stale = harness_any_clock.checkpoints, StaleClaim(t, first, second)
    late = Commit(first, checkpoint=ck("stale", "c1", t=t), events=[ev("stale")])
    refused(stale, store.commit, t, late)
    refused(stale, store.renew, t, first, TTL)
    store.release(t, first)
    busy(t, "c1", named("second"), claim, store, t, "third")
    assert emit(store, t, second, "a") == [1]


def test_core_41_tokens_outlive_deletion_and_the_store(harness_any_clock: Harness) -> None:
    t = fresh_id()
    _, second = reopened_after_takeover(harness_any_clock, t)
    harness_any_clock.checkpoints.delete_thread(t, second)
    store = harness_any_clock.reopen().checkpoints
    third = claim(store, t, "again")
    assert third.taken_over_from is None
    assert third.token > second
    assert claim(store, fresh_id()).token > third.token


def test_core_42_renew_and_release_of_an_unknown_thread(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    refused(StaleClaim(t, 5, None), store.renew, t, 5, TTL)
    store.release(t, 5)
    with harness.raw() as connection:
        assert rows_of(connection, t) == {}


def reopened_after_takeover(harness: Harness, t: str) -> tuple[int, int]:
    """The state of case 40: a checkpoint without events, a takeover, the store opened again; both tokens."""
    store = harness.checkpoints
    first = claim(store, t).token
    store.commit(t, Commit(first, checkpoint=ck("c1", t=t)))
    harness.advance(TTL)
    second = claim(store, t, "second").token
    harness.reopen()
    return first, second


def forget_tenant(harness: Harness, t: str) -> None:
    """Make the stored claim one that a schema without tenants wrote: no tenant, and none recorded either."""
    with harness.raw() as connection:
        connection.execute(
            text(
                "UPDATE thread SET claim_tenant_recorded = (1 = 0), claim_tenant = NULL"
                " WHERE thread_id = :t AND claim_token IS NOT NULL"
            ),
            {"t": t},
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a claim remembers of its request."""

    holder: str
    tenant: str | None

    def shown_to(self, request: Recorded) -> BusyHolder:
        """How the refusal of a request names this claim."""
        return named(self.holder) if self.tenant == request.tenant else UNNAMED


def asked(store: Checkpointer, t: str, request: Recorded) -> RunClaim | BusyHolder:
    """The claim, or how the refusal names its holder."""
    try:
        return claim(store, t, request.holder, tenant=request.tenant)
    except ThreadBusy as refusal:
        return refusal.holder


def step(harness: Harness, held: RunClaim, move: str) -> None:
    """Let time pass, or do what the last holder may still try: a stale renewal or release changes nothing."""
    store = harness.checkpoints
    if move in SPANS:
        harness.advance(SPANS[move])
    elif move == "release":
        store.release(held.thread_id, held.token)
    else:
        with suppress(StaleClaim):  # What it may have changed is looked at afterwards.
            store.renew(held.thread_id, held.token, TTL)
