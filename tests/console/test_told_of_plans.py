"""What a tired operator reads off a plan: who decides, what is in the way, sums that add up, words in one piece."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from console.acting import plan_facts
from console.acting.deeds import Deed
from console.acting.model import Person
from console.acting.names import asked_about
from console.acting.planning import Made
from console.acting.plans import PlanItem, PlanLine, PlanState
from console.completion import Vocabulary, filter_offer
from console.present import width
from console.screens.sort import SortScreen
from tests.console.fake_acting import FakeActing, plan_view
from tests.console.fake_moment import T0
from tests.console.plan_play import by_hand, facts, meant, opened, settle
from tests.console.test_acting_window import Time, play
from tests.console.waiting import until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.acting.plans import PlanView
    from console.app import HoldwatchApp

WHO = Person("mk", "bastion-2")
CHARGE = PlanItem(
    1,
    "reservation",
    "day:ch_1",
    {"expires_at": 1_780_000_000_000_000_000},
    {"micro": 300_000, "figure": 300_000, "owner": "call", "becomes": "as desk:ask answers"},
)


def said(view: PlanView, *, room: int = 78, **more: object) -> list[str]:
    """The lines of a plan at a width."""
    made = Made(view, (CHARGE,), "holdwatch execute STORE pln_1", **more)  # type: ignore[arg-type]
    told = plan_facts.lines(made, WHO, T0 + timedelta(seconds=1), room)
    return ["".join(cell.text for cell in line) for line in told]


def asking(source: str = "resolver", **more: object) -> PlanView:
    """A reconcile pass."""
    lines = (PlanLine("day reservation", 6, None, ""), PlanLine("meter reservation", 6, None, ""))
    params = {"source": source, "resolver": "desk:ask"}
    return plan_view(deed=Deed.RECONCILE, lines=lines, rows=12, params=params, warnings=(), **more)


def test_a_pass_says_who_decides() -> None:
    assert any("who decides: desk:ask, asked row by row" in line for line in said(asking()))
    assert any("who decides: you, row by row" in line for line in said(asking("ask")))
    assert any("who decides: the default, nobody is asked" in line for line in said(asking("default")))


def test_F10_a_plan_says_how_the_limit_of_jobs_stretches_it() -> None:
    many = plan_view(items=3_000)
    told = "\n".join(said(many, rate=50))
    assert "its job: 50 items a second at most, as [jobs] rate says, so 60 s or longer" in told
    assert not any("its job" in line for line in said(many))
    assert not any("its job" in line for line in said(plan_view(state=PlanState.EXECUTED), rate=50))


def test_a_pass_that_asks_nobody_warns_before_it_is_executed() -> None:
    told = "\n".join(said(asking(), unanswered=("meter:calls",)))
    assert "[warn] no resolver is configured here for meter:calls" in told
    assert "no blocker and no warning" not in told
    assert "no blocker and no warning" in "\n".join(said(asking()))


def test_what_answers_is_named_as_the_configuration_names_it() -> None:
    assert asked_about("day:ch_1") == "day"
    assert asked_about("meter:calls:op/1") == "meter:calls"
    assert asked_about("thr_1") == ""


def test_figures_stand_under_their_head_however_long_a_kind_is() -> None:
    lines = said(asking())
    head = next(line for line in lines if line.startswith(" kind"))
    ends = {line.index(" 6") + 2 for line in lines if line.startswith((" day", " meter"))}
    assert ends == {head.index("rows") + len("rows")}


def test_the_total_is_the_sum_of_what_stands_above_it() -> None:
    lines = (
        PlanLine("thread", 4, 0, ""),
        PlanLine("event", 8, 0, ""),
        PlanLine("claim", 4, None, "none live"),
    )
    told = said(plan_view(lines=lines, rows=12))
    total = next(place for place, line in enumerate(told) if line.startswith(" TOTAL"))
    assert any(line.startswith(" event") for line in told[:total])
    assert not any(line.startswith(" claim") for line in told[:total])
    assert told[total + 1].startswith(" claim")


def test_warnings_stand_above_the_table_and_the_rest_of_them_is_announced() -> None:
    told = said(plan_view(warnings=tuple(f"w{number}" for number in range(5))))
    table = next(place for place, line in enumerate(told) if line.startswith(" kind"))
    assert [line for line in told[:table] if "[warn]" in line] == [
        f" [warn] w{number}" for number in range(3)
    ]
    assert any("and 2 more warnings, below the table" in line for line in told[:table])
    assert [line for line in told[table:] if "[warn]" in line] == [" [warn] w3", " [warn] w4"]


def test_no_line_is_wider_than_its_room_and_an_item_says_first_what_it_becomes() -> None:
    lines = said(asking(), room=60)
    assert all(width(line) <= 60 for line in lines if not line.startswith((" plan", " hash")))  # type: ignore[arg-type]
    item = lines.index("  day:ch_1")
    assert lines[item + 1].strip().startswith("becomes as desk:ask answers  held 0.300000 USD")
    assert not any("recorded" in line for line in lines)  # it is what is held


def test_a_character_that_is_no_key_begins_the_reason_and_one_that_is_does_what_it_does() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        form = screen.query_one("PlanForm")
        await by_hand(pilot, time, *"INC-4")
        assert form.reason == "INC-4"  # type: ignore[attr-defined]
        await by_hand(pilot, time, "down", "down")
        await by_hand(pilot, time, "j")
        assert form.reason == "INC-4"  # type: ignore[attr-defined]
        assert "WHAT WILL BE DELETED" in facts(screen)

    play(FakeActing(), scene)


def test_marks_that_became_a_job_are_dropped() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("space", "space")
        listing = app.screen.main_widget()  # type: ignore[attr-defined]
        assert len(listing.window.marks) == 2
        await opened(pilot, app, time)
        assert len(listing.window.marks) == 2
        await meant(pilot, time)
        await until(pilot, lambda: any(call[0] == "execute" for call in acting.changes))
        await until(pilot, lambda: not listing.window.marks)

    play(acting, scene)


def test_esc_leaves_the_letters_of_a_sort_as_a_terminal_sends_it() -> None:
    """A terminal's esc comes with a character, a test's without one."""

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        from textual.events import Key

        front = app.screen
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SortScreen))
        await settle(pilot, time)
        app.post_message(Key("escape", "\x1b"))
        await until(pilot, lambda: app.screen is front)

    play(FakeActing(), scene)


def test_values_are_offered_only_of_fields_that_the_list_takes() -> None:
    words = Vocabulary(("state:expired", "holder:"), {"id": ("thr_1",), "holder": ("run-1",)})
    assert filter_offer("id:thr", words).words == ()
    assert filter_offer("holder:r", words).words == ("holder:run-1",)
