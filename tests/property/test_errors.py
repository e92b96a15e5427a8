"""Every error carries its fields through printing, comparing, hashing, copying and another process."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import errors
from engine.checkpoints import BusyHolder, HolderKind
from engine.errors import EngineError, StoreFailure
from tests.property.values import ANY_CHARACTER, THOROUGHLY

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

ERRORS = [
    found
    for _, found in inspect.getmembers(errors, inspect.isclass)
    if issubclass(found, EngineError) and found is not EngineError
]
NOT_COMPARED = "sqlstate"
"""Which is to be looked at."""
TEXT = st.text(ANY_CHARACTER, max_size=20)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "str | None": st.none() | TEXT,
    "int": st.integers(),
    "int | None": st.none() | st.integers(),
    "float": st.floats(allow_nan=False),
    "BusyHolder": st.builds(BusyHolder, st.sampled_from(HolderKind), st.none() | TEXT),
    "tuple[str, ...]": st.lists(TEXT).map(tuple),
}


@st.composite
def failures(draw: DrawFn) -> EngineError:
    """Any error with any fields; a field of a kind not listed above makes the test fail."""
    kind: Any = draw(st.sampled_from(ERRORS))
    made: EngineError = kind(**draw(arguments_of(kind)))
    return made


def arguments_of(kind: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Values for every field of the class."""
    fields = dataclasses.fields(kind)
    return st.fixed_dictionaries({field.name: VALUES[str(field.type)] for field in fields})


def fields_of(error: EngineError) -> dict[str, Any]:
    """Its fields as they stand."""
    return {name: getattr(error, name) for name in names_of(type(error))}


def names_of(kind: Any) -> list[str]:
    """The names of its fields."""
    return [field.name for field in dataclasses.fields(kind)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_a_record_with_a_code_of_its_own(kind: type[EngineError]) -> None:
    assert names_of(kind)
    assert [other for other in ERRORS if other.code == kind.code] == [kind]
    assert kind.__doc__


@THOROUGHLY
@given(error=failures())
def test_nothing_is_lost_on_the_way_to_another_process(error: EngineError) -> None:
    copies = [
        pickle.loads(pickle.dumps(error, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ]
    for twin in (*copies, copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert fields_of(twin) == fields_of(error)
        assert twin == error
        assert hash(twin) == hash(error)
        assert (str(twin), repr(twin)) == (str(error), repr(error))


@THOROUGHLY
@given(error=failures())
def test_the_text_shows_every_field(error: EngineError) -> None:
    for name, value in fields_of(error).items():
        assert f"{name}={value!r}" in str(error)
        assert f"{name}={value!r}" in repr(error)
    assert error.code in str(error)


@THOROUGHLY
@given(first=failures(), second=failures())
def test_two_errors_are_equal_when_their_fields_are(first: EngineError, second: EngineError) -> None:
    alike = type(first) is type(second) and all(
        getattr(first, name) == getattr(second, name)
        for name in names_of(type(first))
        if name != NOT_COMPARED
    )
    assert (first == second) is alike
    assert first != Exception(str(first))


@THOROUGHLY
@given(data=st.data(), kind=st.sampled_from(ERRORS))
def test_one_changed_field_makes_another_error(data: st.DataObject, kind: Any) -> None:
    fields = data.draw(arguments_of(kind))
    name = data.draw(st.sampled_from(sorted(fields)))
    changed = fields | {name: data.draw(arguments_of(kind))[name]}
    same = fields[name] == changed[name] or name == NOT_COMPARED
    assert (kind(**fields) == kind(**changed)) is same


def test_the_state_of_the_database_is_printed_but_not_compared() -> None:
    assert StoreFailure("commit", "full", sqlstate="53100") == StoreFailure("commit", "full")
    assert "53100" in str(StoreFailure("commit", "full", sqlstate="53100"))
