"""The list model (console.md F2): the cursor belongs to an id, whatever a refresh does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.window import Rest, Window

ids = st.lists(st.integers(min_value=0, max_value=12).map(str), max_size=10)
steps = st.one_of(
    st.tuples(st.just("replace"), ids),
    st.tuples(st.just("step"), st.integers(min_value=-4, max_value=4)),
    st.tuples(st.just("go"), st.integers(min_value=-3, max_value=12)),
    st.tuples(st.just("rest"), st.none()),
)


def window(*rows: str, rest: Rest = Rest.TOP) -> Window[str]:
    """A window over rows that are their own ids."""
    made: Window[str] = Window(lambda row: row, rest)
    made.replace(rows)
    return made


@given(st.lists(steps, max_size=80), st.sampled_from(Rest))
def test_a_refresh_never_moves_the_cursor_to_another_id(script: list[tuple[str, object]], rest: Rest) -> None:
    held = window(rest=rest)
    for verb, value in script:
        before, pinned = held.current_id, held.pinned
        if verb == "replace":
            held.replace(value)  # type: ignore[arg-type]
            if pinned:
                assert held.current_id == before
            check_answer(held, value)  # type: ignore[arg-type]
        elif verb == "rest":
            held.rest()
            assert not held.pinned
        else:
            getattr(held, verb)(value)
        check_shape(held)


def check_answer(held: Window[str], rows: list[str]) -> None:
    """Every row of the answer is there once, in its order, and nothing but a ghost besides."""
    real = [row for index, row in enumerate(held.rows) if not held.is_ghost(index)]
    assert real == list(dict.fromkeys(rows))


def check_shape(held: Window[str]) -> None:
    """Ids are unique, the cursor lies inside, and only the row under it may be a ghost."""
    assert len(set(held.rows)) == len(held.rows)
    assert -1 <= held.cursor < max(len(held), 1)
    assert (held.cursor == -1) == (len(held) == 0)
    ghosts = [index for index in range(len(held)) if held.is_ghost(index)]
    assert ghosts in ([], [held.cursor])


def test_the_cursor_rests_on_the_newest_until_it_is_moved() -> None:
    held = window("b", "c")
    held.replace(["a", "b", "c"])
    assert held.current_id == "a"
    held.step(1)
    held.replace(["new", "a", "b", "c"])
    assert held.current_id == "b"


def test_a_tail_rests_at_its_end() -> None:
    held = window("a", "b", rest=Rest.BOTTOM)
    held.replace(["a", "b", "c"])
    assert held.current_id == "c"
    held.step(-1)
    held.replace(["a", "b", "c", "d"])
    assert held.current_id == "b"
    held.rest()
    assert held.current_id == "d"


def test_a_vanished_row_stays_as_a_ghost_until_the_operator_moves() -> None:
    held = window("a", "b", "c")
    held.go(1)
    held.replace(["a", "c"])
    assert held.rows == ("a", "b", "c")
    assert held.is_ghost(1)
    held.replace(["a", "c", "d"])
    assert held.current_id == "b"
    held.step(1)
    assert held.current_id == "c"
    assert held.rows == ("a", "c", "d")


def test_moving_up_from_a_ghost() -> None:
    held = window("a", "b", "c")
    held.go(1)
    held.replace(["a", "c"])
    held.step(-1)
    assert (held.current_id, held.rows) == ("a", ("a", "c"))


def test_a_ghost_that_comes_back_is_a_row_again() -> None:
    held = window("a", "b", "c")
    held.go(1)
    held.replace(["a", "c"])
    held.replace(["c", "b", "a"])
    assert not held.is_ghost(held.cursor)
    assert held.current_id == "b"


def test_a_ghost_may_be_all_there_is() -> None:
    held = window("a")
    held.go(0)
    held.replace([])
    assert held.current_id == "a"
    assert held.is_ghost(0)
    held.rest()
    assert len(held) == 0
