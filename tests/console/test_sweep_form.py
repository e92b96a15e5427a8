"""The form of a sweep: it begins empty, and each field says what it removes by itself."""

from __future__ import annotations

import pytest

from console.acting.plans import SweepPart
from console.acting.sweep_form import FIELDS, RULE, SweepError, wish_of


def test_an_empty_form_removes_nothing_and_asks_what_may_go() -> None:
    assert "each limit removes by itself" in RULE
    with pytest.raises(SweepError, match="say what may go"):
        wish_of({field.name: "" for field in FIELDS})


def test_no_label_reads_as_if_it_protected_something() -> None:
    labels = {field.name: field.label for field in FIELDS}
    for name in ("age", "checkpoints", "events", "tombstones", "lapsed", "purge"):
        assert labels[name].startswith("remove "), labels[name]
    assert all(len(label) < 50 for label in labels.values()), "a column of the form has that many cells"
    for field in FIELDS:
        assert field.hint.startswith(("no ", "none", "any ")), (
            "a hint that reads as a value reads as filled in"
        )


def test_one_field_asks_for_its_own_part_alone() -> None:
    wish = wish_of({"events": "10"})
    assert (wish.parts, wish.max_events) == (frozenset({SweepPart.THREADS}), 10)
    assert (wish.max_age, wish.max_checkpoints, wish.tombstone_age) == (None, None, None)
