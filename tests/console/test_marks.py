"""Marks and what actions work on: ids that the operator has seen, whatever a refresh brought (console.md F2)."""

from __future__ import annotations

from random import Random

import pytest

from console.widgets import marks as marking
from console.widgets.aim import NOT_DRAWN, RANGE_OPEN, Chosen, Refused
from console.widgets.marks import Marks
from console.widgets.picking import Picking
from tests.console.list_play import Play

STEPS = 10_000
WEIGHTS = {
    "insert": 2,
    "delete": 2,
    "update": 2,
    "refresh": 3,
    "turn": 1,
    "key": 6,
    "draw": 5,
    "act": 4,
}


@pytest.mark.parametrize("seed", range(3))
def test_report_04_an_action_gets_only_what_was_drawn(seed: int) -> None:
    chance = Random(seed)
    play = Play(chance)
    for _ in range(40):
        play.insert()
    for step in chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=STEPS):
        getattr(play, step)()
        play.check()
    assert play.acted > STEPS / 100
    assert play.refused > STEPS / 100


def window(*rows: str, marks: Marks[str] | None = None) -> Picking[str]:
    """A drawn window over rows that are their own ids."""
    made: Picking[str] = Picking(lambda row: row, marks=marks)
    made.replace(rows)
    made.drawn()
    return made


def press(held: Picking[str], *verbs: str) -> None:
    """Verbs, each followed by a frame."""
    for verb in verbs:
        getattr(held, verb)()
        held.drawn()


def ghosts(held: Picking[str]) -> list[str]:
    """The ids that stand as ghosts."""
    return [held.id_at(index) for index in range(len(held)) if held.is_ghost(index)]


def test_space_marks_and_moves_down_and_takes_the_mark_away_again() -> None:
    held = window("a", "b", "c")
    press(held, "mark", "mark")
    assert list(held.marks) == ["a", "b"]
    assert held.current_id == "c"
    held.go(0)
    press(held, "mark")
    assert list(held.marks) == ["b"]
    assert held.current_id == "b"


def test_a_range_marks_what_lies_between_either_way() -> None:
    held = window(*"abcdef")
    held.go(4)
    held.drawn()
    press(held, "open_range")
    assert held.targets() is RANGE_OPEN
    held.go(1)
    held.drawn()
    assert held.ranged == range(1, 5)
    assert held.close_range() == 4
    assert set(held.marks) == set("bcde")
    held.drawn()
    assert held.targets() == Chosen(("b", "c", "d", "e"), marked=True)


def test_a_range_whose_beginning_has_left_the_list_marks_nothing() -> None:
    held = window(*"abcd")
    press(held, "open_range")
    held.go(3)
    held.turn(list("bcdef"))
    held.drawn()
    assert not held.ranged
    assert held.close_range() == 0
    assert not held.marks.holding


def test_while_anything_is_marked_rows_keep_their_places() -> None:
    held = window(*"abcde")
    press(held, "mark")
    held.replace([*"ecab", "new"])
    assert held.rows == tuple("abcde")
    assert ghosts(held) == ["d"]
    assert (held.held_back, held.pushed) == (1, 0)
    held.replace(["new", *"ecab"])
    assert (held.held_back, held.pushed) == (1, 1)
    press(held, "drop_marks")
    assert held.rows == ("new", *"ecab")
    assert held.current_id == "b"
    assert held.held_back == 0


def test_rows_read_further_on_come_in_behind_and_before() -> None:
    held = window(*"cde")
    press(held, "mark")
    held.turn(list("cdefg"))
    assert held.rows == tuple("cdefg")
    held.turn(list("abcd"))
    assert held.rows == tuple("abcd")
    assert held.marks_shown == 1
    held.turn(list("bcde"))
    assert held.rows == tuple("bcde")


def test_a_vanished_marked_row_is_a_ghost_until_the_operator_moves_and_hidden_then() -> None:
    held = window(*"abc")
    press(held, "mark")
    held.replace(list("bc"))
    held.drawn()
    assert ghosts(held) == ["a"]
    assert held.targets() == Chosen(("a",), marked=True)
    held.step(1)
    held.drawn()
    assert held.rows == tuple("bc")
    refusal = held.targets()
    assert isinstance(refusal, Refused)
    assert refusal.hidden == ("a",)


def test_a_ghost_is_not_marked() -> None:
    held = window(*"abc")
    held.go(1)
    held.replace(list("ac"))
    held.drawn()
    assert not held.mark()
    assert not held.open_range()


def test_keys_that_were_not_drawn_are_refused() -> None:
    held = window(*"abc")
    held.step(1)
    assert held.target == "b"
    assert held.targets() is NOT_DRAWN
    held.drawn()
    assert held.targets() == Chosen(("b",))


def test_what_came_since_the_frame_is_no_target() -> None:
    held = window(*"abc")
    held.replace(list("xabc"))
    assert held.current_id == "x"
    assert held.targets() == Chosen(("a",))
    assert not held.mark()
    assert held.target == "a"


def test_only_marked_rows_are_shown_also_those_that_are_elsewhere() -> None:
    held = window(*"abcd")
    press(held, "mark", "mark", "show_only_marked")
    held.replace(list("bcd"))
    held.drawn()
    assert held.rows == tuple("ab")
    assert ghosts(held) == ["a"]
    assert held.targets() == Chosen(("a", "b"), marked=True)
    held.go(1)
    held.drawn()
    press(held, "mark")
    assert held.rows == ("a",)
    press(held, "mark")
    assert not held.only_marked
    assert held.rows == tuple("bcd")


def test_marks_outlive_another_question() -> None:
    marks: Marks[str] = Marks()
    held = window(*"abc", marks=marks)
    press(held, "mark", "mark")
    other = window(*"bx", marks=marks)
    assert other.is_marked(0)
    refusal = other.targets()
    assert isinstance(refusal, Refused)
    assert refusal.hidden == ("a",)
    assert "1 of 2 marks are hidden: a; m shows them, M drops all marks" in refusal.reason


def test_a_refusal_names_a_few_and_counts_the_rest() -> None:
    marks: Marks[str] = Marks()
    held = window(*(f"id{number}" for number in range(12)), marks=marks)
    press(held, *["mark"] * 12)
    refusal = window("other", marks=marks).targets()
    assert isinstance(refusal, Refused)
    assert len(refusal.hidden) == 12
    assert "12 of 12 marks are hidden: id0, id1, id2, id3, id4 and 7 more" in refusal.reason


def test_marks_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking, "MOST", 3)
    held = window(*"abcdef")
    press(held, "open_range")
    held.go(5)
    assert held.close_range() == 3
    held.go(4)
    held.drawn()
    assert not held.mark()
    assert len(held.marks) == 3


def test_the_order_of_the_window_is_kept_through_refreshes() -> None:
    held = window(*"abc")
    held.go(1)
    held.arrange(lambda rows: sorted(rows, reverse=True))
    assert (held.rows, held.current_id) == (tuple("cba"), "b")
    held.replace(list("abcd"))
    assert (held.rows, held.current_id) == (tuple("dcba"), "b")
