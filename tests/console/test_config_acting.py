"""What the configuration says of changes: bounds of approval, resolvers, the fate of units (console.md F5, row 11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from console import diagnostics
from console.acting.pace import said_rate
from console.acting.planning import known
from console.acting.plans import Bounds
from console.config import ConfigError
from console.config.acting import AfterLease
from console.config.file import parsed
from console.contexts import Contexts
from tests.console.fake import make_app
from tests.console.fake_acting import plan_view

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

[jobs]
rate = 50
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
        "jobs rate",
        "at most 50/s",
        "config.toml:3",
    ):
        assert word in shown


@pytest.mark.parametrize(("text", "rate"), [("", None), ("[jobs]\nrate = 0", 0), ("[jobs]\nrate = 7", 7)])
def test_F10_the_rate_of_jobs_is_said_in_every_command_that_begins_one(text: str, rate: int | None) -> None:
    session = make_app().session
    session.contexts = Contexts(parsed(text.encode(), FILE))
    assert said_rate(session.contexts.config) == rate
    made = known(session, plan_view())
    assert made.rate == (rate or 0)
    assert (f"--rate {rate}" in made.command, "--rate" in made.command) == (rate is not None,) * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[approval]\nusd = -1", "a number of dollars"),
        ("[approval]\nrow = 1", "row"),
        ('[reconcile]\nafter_lease = "keep"', "keep"),
        ("[jobs]\nrate = -1", "a number of items a second"),
        ("[jobs]\nrate = 0.5", "a whole number"),
        ("[jobs]\nspeed = 5", "speed"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as found:
        parsed(text.encode(), FILE)
    assert "config.toml:2" in str(found.value)
