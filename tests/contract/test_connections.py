"""PostgreSQL connections that the server ends, and what a URL may hold (ruling 3, api.md)."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url, text

from engine import open_store
from engine.checkpoints import ThreadQuery
from engine.errors import StoreFailure, ValidationError
from tests.support.background import background, promptly
from tests.support.builders import TTL, chain, claim, emit, fresh_id, seqs

if TYPE_CHECKING:
    from tests.support.harness import Harness

IDLE = timedelta(milliseconds=200)


def _set(harness: Harness, setting: str, value: str) -> None:
    with harness.raw() as connection:
        database = make_url(harness.url).database
        connection.execute(text(f"ALTER DATABASE {database} SET {setting} = '{value}'"))


def _let_sessions_end() -> None:
    time.sleep(3 * IDLE.total_seconds())


def test_a_session_ended_while_idle_is_replaced(postgres_harness: Harness) -> None:
    """Nothing of the call can have run: it is neither lost nor unknown, and runs on a new connection."""
    _set(postgres_harness, "idle_session_timeout", f"{IDLE.total_seconds()}s")
    checkpoints, t = postgres_harness.checkpoints, fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])

    _let_sessions_end()
    assert emit(checkpoints, t, token, "plain") == [2]
    _let_sessions_end()
    assert checkpoints.history(t)[0].id == "c1"
    _let_sessions_end()
    assert len(checkpoints.threads(ThreadQuery(None)).threads) == 1
    _let_sessions_end()
    assert claim(checkpoints, fresh_id()).token > token
    assert seqs(checkpoints, t) == [1, 2]


def test_a_waiter_outlives_the_sessions_it_listens_on(postgres_harness: Harness) -> None:
    _set(postgres_harness, "idle_session_timeout", f"{IDLE.total_seconds()}s")
    checkpoints, t = postgres_harness.checkpoints, fresh_id()
    token = claim(checkpoints, t).token
    waiter = background(checkpoints.await_events_after, t, 0, 10, timedelta(hours=1))
    _let_sessions_end()
    with postgres_harness.sibling() as other:
        emit(other.checkpoints, t, token, "late")
    assert [record.seq for record in waiter.result(3)] == [1]


def test_a_transaction_ended_for_its_length_says_so(
    postgres_harness: Harness, capfd: pytest.CaptureFixture[str]
) -> None:
    _set(postgres_harness, "idle_in_transaction_session_timeout", "0")
    t = fresh_id()
    token = claim(postgres_harness.checkpoints, t).token
    _set(postgres_harness, "transaction_timeout", "300ms")
    with postgres_harness.raw() as blocker:
        blocker.execute(text("SET LOCAL transaction_timeout = 0"))
        blocker.execute(text("SELECT 1 FROM thread FOR UPDATE"))
        store = postgres_harness.sibling()
        for call in (
            lambda: store.checkpoints.renew(t, token, TTL),
            lambda: emit(store.checkpoints, t, token, "plain"),
        ):
            with pytest.raises(StoreFailure, match="time limit"):
                promptly(call)
    assert promptly(emit, store.checkpoints, t, token, "plain") == [1]
    assert promptly(store.checkpoints.renew, t, token, timedelta(seconds=5)).token == token
    assert "Traceback" not in capfd.readouterr().err


def test_a_password_may_hold_a_blank(postgres_harness: Harness) -> None:
    url = make_url(postgres_harness.url).set(password="two words")
    with open_store(url.render_as_string(hide_password=False)) as store:
        assert claim(store, fresh_id()).token == 1
        assert "two words" not in store.url


@pytest.mark.parametrize("password", ["sec@ret", "12/34@56"])
def test_an_at_sign_too_many_is_refused_and_not_repeated(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        open_store(f"postgresql://alice:{password}@nowhere/db")
    assert password.rpartition("@")[2] not in str(refused.value)
    assert refused.value.__cause__ is None


def test_what_the_url_says_of_the_session_is_kept(postgres_harness: Harness) -> None:
    url = make_url(postgres_harness.url).update_query_dict({"options": "-c work_mem=5MB"})
    with open_store(str(url)) as store, store.engine.connect() as connection:
        assert connection.execute(text("SHOW work_mem")).scalar() == "5MB"
    with open_store(str(url), read_only=True) as store, store.engine.connect() as connection:
        assert connection.execute(text("SHOW work_mem")).scalar() == "5MB"
        assert connection.execute(text("SHOW default_transaction_read_only")).scalar() == "on"


def test_any_text_is_written_whatever_the_environment(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    store = postgres_harness.open()
    assert claim(store, "日本").thread_id == "日本"
