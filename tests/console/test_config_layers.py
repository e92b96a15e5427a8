"""Who overrides whom, and the operator's keys (console.md 3.1, row 11; 5.2)."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from console import actions
from console.actions import ACTIONS, Capability
from console.config import DEFAULT, Asked, Config, ConfigError, Layer, Settings, Valued, settled
from console.config.file import parsed
from console.config.settings import READ_ONLY_VARIABLE, REFRESH_VARIABLE, TENANT_VARIABLE
from console.registry import HARMLESS_CAPITALS, Registry, registry_of
from console.screens.listed import TALLY_SECONDS
from tests.console.fake import make_app
from tests.console.waiting import ready

if TYPE_CHECKING:
    from console.config import Context

SPEAKERS = (Layer.COMMAND_LINE, Layer.ENVIRONMENT, Layer.CONTEXT, Layer.GLOBAL)
"""From the one who is heard first to the last."""


def config_of(text: str) -> Config:
    """What a file with this text says."""
    return parsed(text.encode(), Path("config.toml"))


def said_by(values: dict[Layer, str], key: str) -> tuple[Config, Context]:
    """A configuration in which the file's layers say these values."""
    lines = [f"{key} = {values[Layer.GLOBAL]}"] if Layer.GLOBAL in values else []
    lines += ["[contexts.a]", 'url = "postgresql://h/d"']
    lines += [f"{key} = {values[Layer.CONTEXT]}"] if Layer.CONTEXT in values else []
    config = config_of("\n".join(lines))
    return config, config.contexts["a"]


EVERY_CHOICE = [
    tuple(layer for layer, speaks in zip(SPEAKERS, choice, strict=True) if speaks)
    for choice in itertools.product([True, False], repeat=4)
]


@pytest.mark.parametrize("speaking", EVERY_CHOICE, ids=lambda layers: "+".join(layers) or "nobody")
def test_report_11_command_line_over_environment_over_context_over_file(speaking: tuple[Layer, ...]) -> None:
    seconds = {layer: str(10 + SPEAKERS.index(layer)) for layer in speaking}
    config, context = said_by(seconds, "refresh")
    environ = {REFRESH_VARIABLE: seconds[Layer.ENVIRONMENT]} if Layer.ENVIRONMENT in speaking else {}
    asked = Asked(refresh=10.0 if Layer.COMMAND_LINE in speaking else None)
    refresh = settled(config, context, asked, environ).refresh
    first = speaking[0] if speaking else Layer.DEFAULT
    assert refresh.source.layer is first
    assert refresh.value == (float(seconds[first]) if speaking else 2.0)


@pytest.mark.parametrize(
    "said", itertools.product([True, False, None], repeat=4), ids=lambda said: " ".join(map(str, said))
)
def test_report_11_read_only_wins_whoever_says_so(said: tuple[bool | None, ...]) -> None:
    values = {
        layer: str(value).lower() for layer, value in zip(SPEAKERS, said, strict=True) if value is not None
    }
    config, context = said_by(values, "read_only")
    environ = {READ_ONLY_VARIABLE: values[Layer.ENVIRONMENT]} if Layer.ENVIRONMENT in values else {}
    # The command line can only ask for read-only, never against it.
    asked = Asked(read_only=said[0] is True)
    found = settled(config, context, asked, environ).read_only
    strict = [layer for layer, value in zip(SPEAKERS, said, strict=True) if value]
    assert found.value is bool(strict)
    if strict:
        assert found.source.layer is strict[0]


def test_report_11_what_is_said_of_a_context_is_for_that_context_alone() -> None:
    config = config_of('tenant = "t"\n[contexts.a]\nurl = "postgresql://h/d"\ntenant = "acme"\n')
    assert settled(config, config.contexts["a"], environ={}).tenant.value == "acme"
    assert settled(config, None, environ={}).tenant.value == "t"
    assert settled(Config(), None, environ={TENANT_VARIABLE: "x"}).tenant.value == "x"
    assert settled(Config(), None, environ={}).tenant.source == DEFAULT


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (REFRESH_VARIABLE, "fast"),
        (REFRESH_VARIABLE, "0.1"),
        (REFRESH_VARIABLE, "nan"),
        (READ_ONLY_VARIABLE, "si"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^{variable}: must be"):
        settled(Config(), None, environ={variable: value})


def test_a_key_is_changed_everywhere_it_is_shown_and_named_keys_stay() -> None:
    registry = registry_of(config_of('[keys]\nup = "w"\nquit = "b"\n'))
    assert registry.named("up").keys == ("w", "up")
    assert registry.named("quit").keys == ("b", "ctrl+q")
    places = (actions.Place.LIST, actions.Place.EVERYWHERE)
    bound = {binding.key: binding.action for binding in registry.bindings(places)}
    assert bound["w"] == "screen.verb('up')"
    assert "k" not in bound
    assert "q" not in bound
    assert [action.key for action in registry.footer(places) if action.name == "quit"] == ["b"]


def test_two_keys_may_be_exchanged() -> None:
    registry = registry_of(config_of('[keys]\ndetail = "p"\npause = "i"\n'))
    assert (registry.named("detail").keys, registry.named("pause").keys) == (("p",), ("i",))


def test_without_a_configuration_the_registry_is_the_declaration() -> None:
    assert Registry().actions is ACTIONS
    assert registry_of(Config()).actions == ACTIONS


def test_verbs_that_change_the_store_keep_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = actions.Action(
        "sweep", ("S",), "Sweep", "Sweep", capability=Capability.WRITE, level=actions.Level.PHRASE
    )
    monkeypatch.setattr("console.registry.ACTIONS", (*ACTIONS, sweep))
    monkeypatch.setitem(actions.BY_NAME, "sweep", sweep)
    with pytest.raises(
        ConfigError, match=r"config.toml:2: \[keys\] sweep: cannot be 'b': .* needs a capital"
    ):
        registry_of(config_of('[keys]\nsweep = "b"\n'))
    assert registry_of(config_of('[keys]\nsweep = "X"\n')).named("sweep").keys == ("X",)


@pytest.mark.parametrize("capital", sorted(HARMLESS_CAPITALS))
def test_ruling_52_the_harmless_capitals_may_look(capital: str) -> None:
    config = config_of(f'[keys]\ndetail = "{capital}"\n')
    if any(capital in action.keys for action in ACTIONS):
        with pytest.raises(ConfigError, match=f"'{capital}' is taken by"):
            registry_of(config)
    else:
        assert registry_of(config).named("detail").keys == (capital,)


def test_the_interval_holds_for_every_view_and_slows_those_that_are_faster_by_themselves() -> None:
    async def play() -> None:
        app = make_app()
        app.session.settings = Settings(refresh=Valued(7.0))
        async with app.run_test(size=(80, 24)) as pilot:
            page = await ready(pilot)
            assert [poll.pace.base for poll in page.polls()] == [7.0, TALLY_SECONDS]
            await pilot.press("5")
            tail = (await ready(pilot)).polls()[0]
            assert (tail.pace.base, tail.pace.interval) == (7.0, 7.0)

    asyncio.run(play())
