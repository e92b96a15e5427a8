"""What the configuration says of changes: bounds of approval, resolvers, the fate of units (console.md F5, row 11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from console import diagnostics
from console.acting.plans import Bounds
from console.config import ConfigError
from console.config.acting import AfterLease
from console.config.file import parsed
from console.contexts import Contexts
from tests.console.fake import make_app

FILE = Path("config.toml")
WHOLE = """
[approval]
usd = 5.25
units = 100
rows = 1000

[reconcile]
after_lease = "release"

[resolvers]
day = "ours:ask"
"""


def test_bounds_are_whole_numbers_and_dollars_exact_to_the_micro() -> None:
    config = parsed(WHOLE.encode(), FILE)
    assert (config.approval.micro, config.after_lease and config.after_lease.value) == (
        5_250_000,
        AfterLease.RELEASE,
    )
    session = make_app().session
    assert session.bounds == Bounds()
    session.contexts = Contexts(config)
    assert session.bounds == Bounds(5_250_000, 100, 1000)


def test_f12_shows_them_with_their_places() -> None:
    session = make_app().session
    session.contexts = Contexts(parsed(WHOLE.encode(), FILE))
    shown = diagnostics.text([diagnostics.configuration(session, {})])
    for word in (
        "approval above usd",
        "5.25",
        "units after their lease",
        "resolver day",
        "ours:ask",
        "config.toml:3",
    ):
        assert word in shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[approval]\nusd = -1", "a number of dollars"),
        ("[approval]\nrow = 1", "row"),
        ('[reconcile]\nafter_lease = "keep"', "keep"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as found:
        parsed(text.encode(), FILE)
    assert "config.toml:2" in str(found.value)
