"""Any integer may be presented as a token, a cursor or a limit; alike on both back ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from engine.checkpoints import Commit, Fence
from engine.errors import StaleClaim, ValidationError
from tests.property.sameness import on_each
from tests.property.values import WHOLE
from tests.support.builders import TTL, chain, ck, claim, fresh_id
from tests.support.refusals import refused

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer

CHAIN = ["c1", "c2", "c3"]


def prepared(store: Checkpointer) -> tuple[str, int]:
    """A thread with three checkpoints and three events, and its token."""
    t = fresh_id()
    token = claim(store, t).token
    chain(store, t, token, CHAIN)
    return t, token


@given(token=WHOLE)
def test_a_token_that_is_not_the_current_one_is_stale(both: list[Checkpointer], token: int) -> None:
    for store in both:
        t, current = prepared(store)
        if token == current:
            continue
        stale = StaleClaim(t, token, current)
        refused(stale, store.renew, t, token, TTL)
        refused(stale, store.commit, t, Commit(token))
        refused(stale, store.commit, t, Commit(current, fence=Fence(t, token)))
        refused(stale, store.delete_thread, t, token)
        refused(stale, store.delete_thread, t, current, Fence(t, token))
        store.release(t, token)
        assert store.renew(t, current, TTL).token == current


@given(cursor=WHOLE, limit=WHOLE)
def test_a_cursor_and_a_limit_may_be_any_number(both: list[Checkpointer], cursor: int, limit: int) -> None:
    numbers = [1, 2, 3] if cursor == 0 else [seq for seq in (1, 2, 3) if seq > cursor]
    expected = numbers[: max(0, limit)]
    for store in both:
        t, _ = prepared(store)
        try:
            found = [record.seq for record in store.events_after(t, cursor, limit)]
        except ValidationError:
            assert cursor < 0
        else:
            assert cursor >= 0
            assert found == expected
        pages = [each.id for each in store.history(t, limit=limit)]
        assert pages == CHAIN[::-1][: max(0, limit)]


@given(before=WHOLE)
def test_compaction_goes_as_far_as_there_are_numbers(both: list[Checkpointer], before: int) -> None:
    floor = min(max(1, before), 4)
    for store in both:
        t, _ = prepared(store)
        store.compact_events(t, before)
        assert [record.seq for record in store.events_after(t, floor - 1, 10)] == [*range(floor, 4)]


@given(token=WHOLE, version=WHOLE)
def test_numbers_in_a_checkpoint_come_back_or_are_refused(
    both: list[Checkpointer], token: int, version: int
) -> None:
    def write_and_read(store: Checkpointer) -> object:
        t, current = prepared(store)
        made = ck("c4", "c3", t=t, fencing_token=token, format_version=version)
        store.commit(t, Commit(current, checkpoint=made))
        found = store.checkpoint(t, "c4")
        return found == made

    found = on_each(both, write_and_read)
    assert found is True or isinstance(found, Exception), found
    if version == 1 and abs(token) < 2**63:
        assert found is True
