"""What the console's lists ask of the store, filter by filter as an operator types them, and what each answer takes.

A call is one question to the store, of one statement or of a few that see the same moment.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from console import money_filters
from console.chrome import REFUSED
from console.gateway import EngineGateway
from console.lists import questions
from console.model import ANY, EventQuery, GatewayError, ThreadQuery
from console.money_model import AccountQuery, ReservationQuery
from console.money_words import Kind
from console.pager import QUERY
from console.tail import FRAME
from engine.checkpoints.places import Place, place_of
from engine.clock import to_ns
from engine.paging import encode_cursor
from tests.bench.console_clock import stopwatch
from tests.bench.measuring import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from console.lists.view import Question
    from tests.bench.console_clock import Stopwatch

    Call = tuple[str, Callable[[], object]]

REPEATS: Final = 5
PAGES: Final = 25
"""Pages that each list is walked down."""
WHOLE: Final = "overview as a whole"
LATELY: Final = timedelta(minutes=5)
_LISTS: Final[dict[str, tuple[Callable[[str], Question[Any]], tuple[str, ...]]]] = {
    "threads": (
        questions.of_threads,
        (
            "", "status:running", "status:idle", "status:suspended", "status:completed", "status:failed",
            "status:deleted", "status:failed,suspended", "!status:completed", "tenant:{tenant}", "tenant:-",
            "tenant:{tenant} status:failed", "tenant:{tenant} status:running", "since:5m", "since:7d",
            "tenant:{tenant} since:7d", "holder:{holder}", "id:{thread}", "thread-1", "meta.title:x",
            "tenant:{tenant} meta.title:x", "stuck", "stuck tenant:{tenant}", "state:tombstone",
            "state:tombstone since:5m", "state:claim-only",
        ),
    ),
    "claims": (
        questions.of_claims,
        (
            "", "state:live", "state:expired", "state:expired since:7d", "holder:{holder}", "tenant:{tenant}",
            "tenant:{tenant} state:expired", "holder:{holder} state:live", "by:holder",
        ),
    ),
    "queue": (
        questions.of_queue,
        (
            "", "state:queued", "state:leased", "state:done", "state:dead", "state:cancelled", "tenant:{tenant}",
            "state:queued tenant:{tenant}", "thread:{thread}",
        ),
    ),
    "reservations": (
        questions.of_reservations,
        (
            "", "state:open", "state:expired", "state:due", "state:fenced", "state:settled", "kind:day", "kind:meter",
            "kind:tentative", "owner:{owner}", "day:{day}", "thread:{thread}", "meter:{meter}", "leased",
            "state:expired kind:day", "state:settled kind:day", "state:settled kind:meter",
        ),
    ),
    "fences": (
        questions.of_fences,
        (
            "", "state:due", "state:fenced", "kind:day", "kind:meter", "owner:{owner}", "thread:{thread}",
            "meter:{meter}", "deferred:yes", "deferred:no",
        ),
    ),
    "budgets": (lambda text: questions.of_budgets(text, None), ("", "meter:{meter}", "days")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Took:
    """The slowest of some calls: which it was, its seconds, and how many calls there were."""

    what: str
    seconds: Spread
    calls: int


def timed(watch: Stopwatch, call: Callable[[], object]) -> Spread:
    """Seconds of the database in a few calls, after one that nobody counts."""
    answered(call)
    return Spread.of([_once(watch, call) for _ in range(REPEATS)])


def _once(watch: Stopwatch, call: Callable[[], object]) -> float:
    watch.seconds = 0.0
    answered(call)
    return watch.seconds


def answered(call: Callable[[], object]) -> None:
    """Call it; that the store refuses a filter for what it would cost is an answer as well."""
    try:
        call()
    except GatewayError as error:
        if error.code != REFUSED:
            raise


def slowest(url: str) -> Iterator[tuple[str, Took]]:
    """Of every screen the slowest page, count or filter."""
    gateway = EngineGateway(url)
    try:
        samples = _samples(gateway)
        with stopwatch() as watch:
            for name, calls in _all(gateway, samples):
                took = [(timed(watch, call), what) for what, call in calls]
                seconds, what = max(took, key=lambda pair: pair[0].middle)
                yield name, Took(what, seconds, len(took))
    finally:
        gateway.close()


def _all(gateway: EngineGateway, samples: dict[str, str]) -> Iterator[tuple[str, list[Call]]]:
    for name, (ask, texts) in _LISTS.items():
        yield name, [call for text in texts for call in _of_list(gateway, ask, text.format(**samples))]
    yield "events", _events(gateway, samples)
    yield "overview", [*_parts(gateway), ("what changed", partial(gateway.changes, LATELY, ANY))]
    yield WHOLE, [("ten questions in one snapshot", partial(gateway.overview, ANY))]
    yield "one thread", [("its story", partial(gateway.story, samples["thread"]))]


def _parts(gateway: EngineGateway) -> Iterator[Call]:
    """The overview's cards, each by itself."""
    desk = gateway._store._opened().desk
    for name in dir(desk):
        if name.startswith("overview_"):
            yield name.removeprefix("overview_"), getattr(desk, name)


def _of_list(gateway: EngineGateway, ask: Callable[[str], Question[Any]], text: str) -> Iterator[Call]:
    question, shown = ask(text), text or "no filter"
    yield shown, partial(question.page, gateway, None, QUERY)
    yield from _numbers(gateway, ask, question, text)
    deep = _after_pages(gateway, question)
    if deep is not None:
        yield f"deep in {shown}", partial(question.page, gateway, deep, QUERY)
    if ask is questions.of_threads and not text:
        yield "the store's last page", partial(question.page, gateway, _near_the_end(gateway), QUERY)


def _numbers(
    gateway: EngineGateway, ask: Callable[[str], Question[Any]], question: Question[Any], text: str
) -> Iterator[Call]:
    """How many rows there are; what stands above the reservations is two questions, one behind the other."""
    if ask is not questions.of_reservations:
        yield f"tally of {text or 'no filter'}", partial(question.tally, gateway)
    elif text:
        yield f"count of {text}", partial(gateway.count_reservations, money_filters.reservations(text))
    else:
        yield "totals of all states", gateway.reservation_totals


def _after_pages(gateway: EngineGateway, question: Question[Any]) -> str | None:
    """A cursor some pages down; None where the list is shorter than two."""
    found: str | None = None
    with suppress(GatewayError):  # a question that is refused is reported where it is measured
        for _ in range(PAGES):
            following = question.page(gateway, found, QUERY).next
            if following is None:
                break
            found = following
    return found


def _near_the_end(gateway: EngineGateway) -> str:
    """The cursor before a page of the longest untouched threads, newest first: page 5,000 of a million."""
    last = gateway.threads_from_end(ThreadQuery(), None, QUERY).rows[-1]
    assert last.updated_at is not None
    return encode_cursor(to_ns(last.updated_at), last.id)


def _events(gateway: EngineGateway, samples: dict[str, str]) -> list[Call]:
    newest = gateway.newest_events(EventQuery(), FRAME)
    middle = Place(place_of(newest.position).done // 2).text
    queries = {
        "no filter": EventQuery(),
        "kind": EventQuery(kinds=frozenset({"step.done"})),
        "a kind that nobody has": EventQuery(kinds=frozenset({"nothing"})),
        "tenant": EventQuery(tenant=samples["tenant"]),
        "tenant and kind": EventQuery(tenant=samples["tenant"], kinds=frozenset({"step.done"})),
        "thread": EventQuery(thread=samples["thread"]),
    }
    calls: list[Call] = []
    for name, query in queries.items():
        calls.append((f"newest, {name}", partial(gateway.newest_events, query, FRAME)))
        if query.thread is None:
            calls.append((f"before the middle, {name}", partial(gateway.older_events, query, middle, FRAME)))
            calls.append(
                (f"after the newest, {name}", partial(gateway.events, query, newest.position, FRAME))
            )
    return calls


def _samples(gateway: EngineGateway) -> dict[str, str]:
    """Values that the store has, for filters to ask for."""
    threads = gateway.threads(ThreadQuery(), None, QUERY).rows
    accounts = gateway.accounts(AccountQuery(), None, QUERY).rows
    holders = gateway.holders(None, QUERY).rows
    money = gateway.reservations(ReservationQuery(), None, QUERY).rows
    return {
        "thread": threads[0].id,
        "tenant": next((row.tenant for row in threads if row.tenant), "nobody"),
        "holder": holders[0].holder if holders else "nobody",
        "meter": accounts[0].meter if accounts else "nothing",
        "owner": next((row.owner for row in money if row.owner), "nobody"),
        "day": next(
            (row.period for row in money if row.address.kind is Kind.DAY and row.period), "2026-01-01"
        ),
    }
