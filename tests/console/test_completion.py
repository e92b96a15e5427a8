"""What Tab completes: fields, values of closed sets, commands and what they take; never from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.events import Paste
from textual.widgets import Input

from console import command_completion, overview_filters, vocabularies
from console.actions import ACTIONS
from console.completion import NO_OFFER, Offer, Vocabulary, filter_offer, last_word
from console.lists import questions
from console.screens import modes
from console.widgets.band import Band
from console.widgets.prompt import Prompt
from tests.console.test_contexts import session_on
from tests.console.test_pilot import drive
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.console.fake import FakeGateway

WORDS = Vocabulary(("status:", "tenant:", "stuck", "!status:"), {"status": ("idle", "running", "failed")})


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("", ("status:", "tenant:", "stuck")),
        ("st", ("status:", "stuck")),
        ("tenant:a st", ("status:", "stuck")),
        ("!s", ("!status:",)),
        ("status:", ("status:failed", "status:idle", "status:running")),
        ("status:idle,r", ("status:idle,running",)),
        ("!status=i", ("!status=idle",)),
        ("tenant:", ()),
        ('tenant:"a b" status:f', ("status:failed",)),
        ("nothing", ()),
    ],
)
def test_filters_complete(text: str, offered: tuple[str, ...]) -> None:
    assert filter_offer(text, WORDS).words == offered


def test_values_that_were_read_already_are_offered_as_they_must_be_typed() -> None:
    held = WORDS.with_values({"tenant": ("acme", "a corp"), "status": ("never",)})
    assert filter_offer("tenant:a", held).words == ('tenant:"a corp"', "tenant:acme")
    assert filter_offer('tenant:"a', held).words == ('tenant:"a corp"', "tenant:acme")
    assert "status:never" not in filter_offer("status:", held).words


@given(st.text(alphabet='abst:=!," ', max_size=20))
@settings(max_examples=150, deadline=None)
def test_completion_only_ever_goes_on(text: str) -> None:
    offer = filter_offer(text, WORDS)
    assert offer.start == last_word(text)
    made = offer.taken(text)
    assert made.startswith(text) or len(made) >= len(text)
    assert all(
        offer.with_word(text, place).startswith(text[: offer.start]) for place in range(len(offer.words))
    )


def test_one_word_is_left_behind_and_many_only_as_far_as_they_agree() -> None:
    assert Offer(2, ("status:idle",)).taken("x status:i") == "x status:idle "
    assert Offer(0, ("status:", "stuck")).taken("s") == "st"
    assert Offer(0, ("status:",)).taken("sta") == "status:"
    assert NO_OFFER.taken("x") == "x"


@pytest.mark.parametrize("mode", modes.MODES)
def test_every_screens_words_are_taken_by_its_filter(mode: str) -> None:
    """A word that is offered and refused would be a lie."""
    asks: dict[str, Callable[[str], object]] = {
        "overview": overview_filters.overview,
        "threads": questions.of_threads,
        "claims": questions.of_claims,
        "reservations": questions.of_reservations,
        "fences": questions.of_fences,
        "events": questions.of_events,
        "queue": questions.of_queue,
        "budgets": lambda text: questions.of_budgets(text, None),
    }
    if mode not in asks:
        pytest.skip("no filter here")
    known = vocabularies.of_screen(mode)
    assert known.words
    for word in known.words:
        name = word.removeprefix("!").rstrip(":")
        values = known.values.get(name, ("x",)) if word.endswith(":") else ("",)
        for value in ("2026-05-04",) if name == "day" else values:
            asks[mode](f"{word}{value}")
    for name, values in known.values.items():
        assert any(word.startswith(f"{name}:") for word in known.words)
        for value in values:
            asks[mode](f"{name}:{value}")


def offered(text: str) -> tuple[str, ...]:
    """What the command line offers, of a console with contexts."""
    return command_completion.completer(
        session_on("prod", None), ("AGE", "LEASE LEFT"), {"tenant": ("acme",)}
    )(text).words


def test_commands_complete_with_what_they_take() -> None:
    assert {action.name for action in ACTIONS} <= set(offered(""))
    assert offered("thre") == ("threads", "thread ")
    assert offered("ctx ") == ("prod", "acme", "staging")
    assert offered("ctx st") == ("staging",)
    assert offered("sort L") == ("LEASE LEFT",)
    assert offered("export ") == ("csv", "jsonl")
    assert "day" in offered("theme ")
    assert offered("thr /stuck ten") == ("tenant:",)
    assert offered("thr tenant=a") == ("tenant=acme",)
    assert "status:idle" in offered("threads status:")
    assert 'sort:"LEASE LEFT"' in offered("threads sort:L")
    assert "sort:-AGE" in offered("threads sort:-")
    assert "state:due" in offered("fnc state:d")
    assert "events" in offered("thr:thr_1 e")
    assert offered("reservation m") == ("meter ",)
    assert offered("quit ") == ()


def line(pilot: Pilot[None]) -> str:
    """What is typed."""
    return pilot.app.screen.query_one(Input).value


def told(pilot: Pilot[None]) -> str:
    """The line of words above it."""
    return pilot.app.screen.query_one("#offers", Band).text


def test_tab_types_what_is_sure_and_then_one_word_after_the_other() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        asked = list(gateway.asked)
        await pilot.press("p", "slash", *"stat")
        assert "state:" in told(pilot)
        assert "status:" in told(pilot)
        await pilot.press("tab")
        assert line(pilot) == "state:"
        await pilot.press("tab")
        assert line(pilot) == "status:"
        await pilot.press("shift+tab", *"fa")
        assert line(pilot) == "state:fa"
        await pilot.press("tab")
        assert line(pilot) == "state:failed "
        await pilot.press(*"tenant:a", "tab")
        assert line(pilot) == "state:failed tenant:acme "
        assert gateway.asked == asked, "completion asks nobody"
        await pilot.press("enter")
        await until(pilot, lambda: not pilot.app.screen.query_one(Prompt).is_open)
        assert pilot.app.screen.filter.strip() == "state:failed tenant:acme"  # type: ignore[attr-defined]

    drive(scene)


def test_pasted_text_completes_and_is_taken() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("colon")
        pilot.app.screen.query_one(Input).post_message(Paste("clm state:ex\n"))
        await until(pilot, lambda: line(pilot) == "clm state:ex")
        assert "state:expired" in told(pilot)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: getattr(pilot.app.screen, "filter", "") == "state:expired")

    drive(scene)
