"""Evidence in the form of a resolution: what the store would refuse holds the deed back, an item can be taken away, and
a decision that was wrong is named by the one that puts it right (console.md F5).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.widgets import Input

from console.acting.confirmation import QUIET_SECONDS
from console.acting.resolving import Check
from console.widgets.evidence import EvidenceBox
from console.widgets.phrase import PhraseField
from tests.console.fake_acting import FakeActing
from tests.console.resolve_play import NARROW, Play, play
from tests.console.test_resolving import sent
from tests.console.waiting import until

if TYPE_CHECKING:
    import pytest

    from console.screens.resolve import ResolveScreen

AHEAD = "evidence 1 was observed in the future, by the store's clock: say when it was seen"


def references(form: ResolveScreen) -> list[str]:
    """What stands in the items, in their order."""
    return [item.reference for item in form.form.filled.items]


def test_what_the_store_would_refuse_of_the_evidence_holds_the_deed_back() -> None:
    async def scene(here: Play) -> None:
        here.gateway.doubts = (Check("need", AHEAD),)
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        assert f"[need] {AHEAD}" in here.checks
        assert here.told == AHEAD
        assert not here.deed_is_on
        here.gateway.doubts = (Check("warn", "evidence 1 is weak"),)
        here.form._look.ask_anew()
        await until(here.pilot, lambda: here.deed_is_on)

    assert play(scene).changes == []


def test_what_was_typed_since_the_store_looked_at_it_waits_for_its_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.at_the_end()
        closing = here.form.form.closing
        closing.query_one("#reason", Input).value = "INC-7"
        phrase = closing.query_one(PhraseField)
        phrase._typing.text = "RELEASE 0.300000"
        phrase._changed()
        await until(here.pilot, lambda: here.deed_is_on)
        weigh, goes_on = here.gateway.weigh, threading.Event()
        monkeypatch.setattr(here.gateway, "weigh", lambda *given: (goes_on.wait(20.0), weigh(*given))[1])
        here.form.query_one(EvidenceBox)._reference.line.value = "req_10"
        await until(here.pilot, lambda: "looked at by the store" in here.told)
        assert not here.deed_is_on
        goes_on.set()
        await until(here.pilot, lambda: here.deed_is_on)

    play(scene)


def test_an_item_is_taken_away_by_its_key_and_said() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence("wrong")
        await here.keys("tab", "tab", "minus")  # within a text it is a character
        box = here.form.query_one(EvidenceBox)
        here.app.set_focus(here.form.query_one("#more"))
        await here.keys("minus", "plus")  # and on none of them it takes nothing away
        await until(here.pilot, lambda: len(references(here.form)) == 2)
        await here.evidence("right")
        here.app.set_focus(box._kind)
        await here.keys("minus", "minus", "minus")
        assert references(here.form) == ["right"]
        assert here.form.focused is here.form.query_one("#more")
        assert "evidence 1 was taken away: provider log, wrong" in here.said().replace("\n", " ")
        assert here.form.query_one(EvidenceBox)._title.startswith(" 1 kind")
        await here.confirm("RELEASE 0.300000")

    assert [each.reference for each in sent(play(scene))[2]] == ["right"]


def test_the_last_item_leaves_an_empty_one_behind_and_the_form_asks_for_evidence_again() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence("wrong")
        here.app.set_focus(here.form.query_one(EvidenceBox)._shows)
        await here.keys("minus")
        await until(here.pilot, lambda: references(here.form) == [""])
        await until(here.pilot, lambda: "at least one item of evidence is needed" in here.form.meant.wrong)
        await here.evidence("right")
        assert references(here.form) == ["right"]

    play(scene, size=NARROW)


def test_a_decision_that_was_wrong_is_named_by_the_one_that_puts_it_right() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        here.app.set_focus(here.form.form._corrects.line)
        await here.text("op_1")
        assert here.form.meant.corrects == "op_1"
        await here.confirm("RELEASE 0.300000")
        here.time.now += QUIET_SECONDS
        await until(here.pilot, lambda: bool(door.changes))

    door = FakeActing()
    order = sent(play(scene, acting=door))[3]
    assert door.corrected == "op_1"
    assert "--corrects op_1 " in order.command
