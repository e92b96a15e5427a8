"""What the form of a resolution makes of what is typed: amounts, instants, files, the effect on the books (F5)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.acting import evidence_file
from console.acting.amounts import dollars, part_of
from console.acting.decisions import decisions_of, lines_of
from console.acting.effect import Books, Effect, effect_of, most_of, phrase_of
from console.acting.model import Approved
from console.acting.observed import next_check, seen_at, utc
from console.acting.plans import Bounds
from console.acting.resolution_form import Filled, Item, Outcome, meant, offered
from console.acting.resolving import Consumed, Deferred, EvidenceKind, Released, Shows
from console.acting.second import second_eyes
from console.money_words import HoldState, Kind
from tests.console.fake import FakeGateway
from tests.console.fake_acting import audit_row
from tests.console.fake_moment import T0
from tests.console.fake_money import story_of

if TYPE_CHECKING:
    from pathlib import Path

    from console.money_model import ReservationRow

HELD = 300_000
BAD_AMOUNTS = {
    "": "an amount is needed",
    "-0.1": "not negative",
    "0.300001": "more than the 0.300000 USD",
    "1": "more than",
    "0.1200001": "7 decimals",
    "NaN": "no amount",
    "inf": "no amount",
    "1e3": "no exponent",
    "1E-3": "no exponent",
    "\uff10.\uff11\uff12": "digits 0 to 9",
    "\u0660.1": "digits 0 to 9",
    "+0.1": "no sign",
    "0. 1": "no blanks",
    " 0.1": "no blanks",
    "0.1\n": "no blanks",
    "0,12": "no separators",
    "0_1": "no amount",
    "0x1": "no amount",
    ".5": "no amount",
    "0.": "no amount",
    "0": "release: choose v",
    "0.000000": "release: choose v",
    "0" * 30: "longer than any amount",
}


@pytest.mark.parametrize(("typed", "why"), BAD_AMOUNTS.items(), ids=repr)
def test_f5_b_an_amount_is_refused_with_the_reason(typed: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        part_of(typed, HELD)


@given(st.text(alphabet="0123456789.+-eE ,\uff11", max_size=14), st.integers(1, 2**62))
@example("0.120000", HELD)
@example("300000.000001", 300_000_000_001)
def test_f5_b_what_is_accepted_is_that_very_number_of_micro_dollars(typed: str, most: int) -> None:
    try:
        micro = part_of(typed, most)
    except ValueError:
        return  # refused: only what is accepted is compared
    whole, _, decimals = typed.partition(".")
    assert set(typed) <= set("0123456789.")
    assert len(decimals) <= 6
    assert int(whole + decimals) * 10 ** (6 - len(decimals)) == micro
    assert 0 < micro <= most


@given(st.integers(1, 2**62))
def test_every_part_that_can_be_shown_can_be_typed(micro: int) -> None:
    assert part_of(dollars(micro), micro) == micro


def test_instants_are_absolute_or_relative_and_told_in_utc() -> None:
    now = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)
    assert seen_at("5m ago", now) == now - timedelta(minutes=5)
    assert seen_at("2026-05-04T16:08:10+02:00", now) == datetime(2026, 5, 4, 14, 8, 10, tzinfo=UTC)
    assert seen_at("2026-05-04T14:08:10", now) == seen_at("2026-05-04T14:08:10Z", now)
    assert seen_at("now", now) == now
    assert next_check("30m", now) == now + timedelta(minutes=30)
    assert utc(next_check("2026-05-04T16:00+01:00", now)) == "2026-05-04T15:00:00Z"
    for wrong in ("", "yesterday", "5m", "14:08", "2026-13-01T00:00Z", "999999d ago", "\uff15m ago"):
        with pytest.raises(ValueError, match="5m ago"):
            seen_at(wrong, now)
    for wrong in ("0m", "soon", "2026-05-04T14:03:22Z", "2026-05-04T14:00Z"):
        with pytest.raises(ValueError, match=r"span|after the store"):
            next_check(wrong, now)


def test_a_file_is_known_by_its_digest_and_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "provider search.json"
    path.write_bytes(b"no record\n")
    found = evidence_file.digest(str(path))
    assert (found.name, found.size) == (path.name, 10)
    assert found.sha256 == hashlib.sha256(b"no record\n").hexdigest()
    with pytest.raises(ValueError, match="no such file"):
        evidence_file.digest(str(tmp_path / "other"))
    with pytest.raises(ValueError, match="no ordinary file"):
        evidence_file.digest(str(tmp_path))
    with pytest.raises(ValueError, match=r"null|cannot"):
        evidence_file.digest("a\0b")
    monkeypatch.setattr(evidence_file, "MOST_BYTES", 9)
    with pytest.raises(ValueError, match="has 10 bytes"):
        evidence_file.digest(str(path))


# The books


def row_of(kind: Kind, *, operation: bool = False) -> ReservationRow:
    """An open one of that kind."""
    rows = FakeGateway().holds()
    return next(row for row in rows if row.address.kind is kind and row.is_operation is operation)


def test_the_effect_of_a_part_is_exact_and_the_rest_is_released() -> None:
    story = story_of(replace(row_of(Kind.DAY), micro=HELD))
    assert story.day is not None
    before = Books(story.day.reserved, story.day.settled)
    for answer, spent in ((Consumed(), HELD), (Consumed(120_000), 120_000), (Released(), 0)):
        after = Books(before.reserved - HELD, before.spent + spent)
        assert effect_of(story, answer) == Effect(before, after)
        assert before.committed - after.committed == HELD - spent
    waits = effect_of(story, Deferred(T0, "provider is down"))
    assert waits == Effect(before, before)
    assert effect_of(story, None) is None


def test_an_operation_is_consumed_at_what_its_runs_recorded() -> None:
    row = replace(row_of(Kind.DAY, operation=True), micro=HELD, recorded=200_000)
    assert most_of(row) == 200_000
    assert phrase_of(row, Consumed()) == "CONSUME 0.200000"
    found = effect_of(story_of(row), Consumed())
    assert found is not None
    assert found.before.reserved - found.after.reserved == HELD
    assert found.after.spent - found.before.spent == 200_000


def test_a_meter_moves_units_and_settles_whole() -> None:
    row = replace(row_of(Kind.METER), units=2)
    found = effect_of(story_of(row), Consumed())
    assert found is not None
    assert (found.before.reserved - found.after.reserved, found.after.spent - found.before.spent) == (2, 2)
    assert offered(row, Outcome.PART) == "a meter settles whole"
    assert phrase_of(row, Consumed()) == "CONSUME 2 UNITS"
    assert phrase_of(row, Released()) == "RELEASE 2 UNITS"


def test_the_phrase_names_deed_and_amount() -> None:
    row = replace(row_of(Kind.DAY), micro=1_234_300_000)
    assert phrase_of(row, Consumed()) == "CONSUME 1234.300000"
    assert phrase_of(row, Consumed(120_000)) == "CONSUME 0.120000"
    assert phrase_of(row, Released()) == "RELEASE 1234.300000"
    assert phrase_of(row, Deferred(T0, "wait")) == "DEFER"


def test_above_the_bound_a_second_person_is_needed_but_not_to_leave_it() -> None:
    row = replace(row_of(Kind.DAY), micro=HELD)
    assert second_eyes(row, Released(), Bounds(micro=HELD)).weight == "ok"
    refused = second_eyes(row, Released(), Bounds(micro=HELD - 1))
    assert refused.weight == "need"
    assert "source ask" in refused.text
    assert second_eyes(row, Deferred(T0, "n"), Bounds(micro=0)).weight == "ok"
    approved = second_eyes(row, Released(), Bounds(micro=HELD - 1), Approved("pln_1", "jo@laptop"))
    assert (approved.weight, "jo@laptop approved" in approved.text) == ("ok", True)
    meter = replace(row_of(Kind.METER), units=3)
    assert second_eyes(meter, Consumed(), Bounds(micro=0, units=2)).weight == "need"


# The form


def item(**more: object) -> Item:
    """One that is whole."""
    made = Item(EvidenceKind.PROVIDER_LOG, "req_1", Shows.NOT_SPENT, T0)
    return replace(made, **more)  # type: ignore[arg-type]


def test_f5_a_without_evidence_there_is_nothing_to_send() -> None:
    row = replace(row_of(Kind.DAY), micro=HELD)
    found = meant(row, Filled(Outcome.RELEASE), T0)
    assert found.wrong == ("at least one item of evidence is needed",)
    blank = Filled(Outcome.RELEASE, items=(item(reference="", observed_at=None, blank=True),))
    assert meant(row, blank, T0).wrong == ("at least one item of evidence is needed",)
    assert meant(row, Filled(Outcome.RELEASE, items=(item(),)), T0).wrong == ()


def test_evidence_that_is_half_typed_is_named() -> None:
    row = replace(row_of(Kind.DAY), micro=HELD)
    items = (item(), item(reference=" "), item(observed_at=None), item(wrong="file no such file"))
    found = meant(row, Filled(Outcome.WHOLE, items=items), T0)
    assert len(found.evidence) == 1
    assert found.wrong == (
        "evidence 2: reference is needed: where it can be looked up",
        "evidence 3: observed at is needed, such as 5m ago",
        "evidence 4: file no such file",
    )


def test_to_leave_it_needs_a_next_check_and_a_note_and_no_evidence() -> None:
    row = replace(row_of(Kind.DAY), micro=HELD)
    assert "next check" in meant(row, Filled(Outcome.LEAVE, note="wait"), T0).wrong[0]
    assert "note" in meant(row, Filled(Outcome.LEAVE, until="30m"), T0).wrong[0]
    found = meant(row, Filled(Outcome.LEAVE, until="30m", note=" wait "), T0)
    assert (found.answer, found.wrong) == (Deferred(T0 + timedelta(minutes=30), "wait"), ())


def test_what_is_settled_is_not_decided() -> None:
    row = replace(row_of(Kind.DAY), state=HoldState.SETTLED)
    assert "settled already" in meant(row, Filled(Outcome.WHOLE, items=(item(),)), T0).wrong[0]


def test_report_36_the_mild_outcomes_stand_first() -> None:
    assert list(Outcome) == [Outcome.LEAVE, Outcome.WHOLE, Outcome.PART, Outcome.RELEASE]


def test_f5_f_decisions_are_told_with_evidence_and_digests_newest_first() -> None:
    seen = {
        "kind": "provider log", "reference": "req_1 \x1b[2J", "observed_at": "2026-05-04T14:00:00+00:00",
        "shows": "no record", "covers_from": None, "file": {"name": "a.json", "sha256": "5e1b" * 16, "size": 2114},
    }  # fmt: skip
    body = {"answer": {"answer": "consumed", "figure": 120_000}, "evidence": [seen], "status": "resolved"}
    rows = [
        audit_row(
            9, phase="intent", operation="op_5", deed="resolve", body={"answer": {"answer": "released"}}
        ),
        audit_row(8, operation="op_4", deed="resolve", body=body),
        audit_row(7, operation="op_4", deed="resolve", body=body),
    ]
    found = decisions_of(rows)
    assert [each.came for each in found] == ["outcome not known", "resolved"]
    text = "\n".join("".join(cell.text for cell in line) for line in lines_of(found, 100))
    assert "consumed 0.120000 USD" in text
    assert "5e1b" * 16 in text.replace("\n  ", "")
    assert "\x1b" not in text
    assert "a correction is a new one" in text
    assert lines_of((), 100) == ()
    assert decisions_of([audit_row(n, operation=f"op_{n}") for n in range(9)])[4:] != ()
    assert len(decisions_of([audit_row(n, operation=f"op_{n}") for n in range(9)])) == 5
