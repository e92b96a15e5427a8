"""F12: what it shows, that it can be copied, and that no password is shown anywhere (console.md F12, 5.2)."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from console import VERSION, cli, diagnostics, stores
from console.app import HoldwatchApp
from console.config import Asked
from console.config.file import CONFIG_VARIABLE
from console.diagnostics import Latency, Terminal
from console.gateway import EngineGateway
from console.model import GatewayError, ThreadQuery
from console.opening import Opener
from console.screens.diagnostics import DiagnosticsScreen
from console.targets import target_of
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, make_app
from tests.console.test_config_layers import config_of
from tests.console.test_contexts import AT_STAGING, BOTH, session_on
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from console.session import Session
    from tests.support.harness import Harness

CANARY = "canary-9f3a"
SIZE = (120, 40)


def drive(session: Session, scene: Callable[[Pilot[None]], Awaitable[None]]) -> None:
    """Run a scene on a console in this session."""

    async def play() -> None:
        async with HoldwatchApp(session).run_test(size=SIZE) as pilot:
            await scene(pilot)

    asyncio.run(play())


async def sheet(pilot: Pilot[None]) -> str:
    """The diagnostics once all of them are there."""
    await pilot.press("f12")
    await until(pilot, lambda: isinstance(pilot.app.screen, DiagnosticsScreen))
    pane = pilot.app.screen.query_one(Pane)
    await until(pilot, lambda: "VERSIONS" in pane.text and "asking ..." not in pane.text)
    return pane.text


def facts(session: Session) -> dict[str, tuple[str, str]]:
    """The configuration's facts: value and source by name."""
    found = diagnostics.configuration(session, {})
    return {fact.name: (fact.value, fact.source) for fact in found.facts}


def test_f12_shows_versions_settings_store_terminal_and_queries() -> None:
    async def scene(pilot: Pilot[None]) -> None:
        await ready(pilot)
        text = await sheet(pilot)
        for word in ("VERSIONS", "CONFIGURATION", "STORE", "TERMINAL", "QUERIES"):
            assert word in text
        assert VERSION in text
        assert "120x40" in text
        assert "7421993306011" in text
        assert "ms now" in text
        assert "in flight         0/2" in text
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, DiagnosticsScreen)

    drive(make_app().session, scene)


def test_every_value_has_its_source() -> None:
    found = facts(session_on("prod", None))
    assert found["environment"] == ("PROD", "context config.toml:5 [contexts.prod]")
    assert found["tenant"] == ("acme", "context config.toml:7 [contexts.prod]")
    assert found["refresh"] == ("2 s", "default")
    assert found["read_only"] == ("yes", "context config.toml:8 [contexts.prod]")
    opened = Opener(config_of('[keys]\ndetail = "b"\n'), Asked(refresh=9.0, read_only=True))
    told = facts(opened.session(target_of("postgresql://h/d", opened.config)))
    assert told["refresh"] == ("9 s", "command line --refresh")
    assert told["read_only"] == ("yes", "command line --read-only")
    assert told["key detail"] == ("b", "configuration file config.toml:2 [keys]")


def test_a_store_that_is_another_one_is_told_with_the_one_it_was() -> None:
    session = session_on("prod", replace(AT_STAGING, database="spare"), BOTH)
    text = diagnostics.text([diagnostics.store(session)])
    assert "prod: another store" in text
    assert "agents on 7421, 2026-05-04 14:03:22.000Z" in text
    assert "has not answered yet" in diagnostics.text([diagnostics.store(session_on("prod", None))])


def test_the_terminal_is_told_as_it_is() -> None:
    environ = {"TERM": "screen-256color", "TMUX": "/tmp/x", "NO_COLOR": "1", "SSH_CONNECTION": "10.0.0.1 1"}
    text = diagnostics.text([diagnostics.terminal(Terminal(80, 24, "256"), environ)])
    for word in ("screen-256color", "NO_COLOR", "tmux", "80x24", "yes"):
        assert word in text
    assert "10.0.0.1" not in text
    hostile = diagnostics.text([diagnostics.terminal(Terminal(80, 24, "256"), {"TERM": "x\x1b[2J"})])
    assert "\x1b" not in hostile


def test_where_a_password_comes_from_is_told_and_never_the_password() -> None:
    session = session_on("prod", None)
    for variable in ("PGPASSWORD", "PGPASSFILE"):
        section = diagnostics.configuration(session, {variable: CANARY})
        text = diagnostics.text([section])
        assert f"from {variable}" in text
        assert CANARY not in text


def test_no_answer_is_told_with_its_reason() -> None:
    assert "no answer: gone" in diagnostics.text(
        [diagnostics.queries(make_app().session, Latency(trouble="gone"))]
    )


def test_f12_can_be_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(HoldwatchApp, "copy_to_clipboard", lambda _app, text: copied.append(text))

    async def scene(pilot: Pilot[None]) -> None:
        await ready(pilot)
        await sheet(pilot)
        await pilot.press("y")
        assert "lines sent to terminal" in str(pilot.app.screen.query_one(Pane).border_subtitle)

    drive(make_app().session, scene)
    assert "QUERIES" in copied[0]
    assert copied[0].count("\n") > 30
    assert all(character.isprintable() for character in copied[0].replace("\n", ""))


def test_f12_works_while_the_store_does_not_answer() -> None:
    async def scene(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: pilot.app.screen.freshness.cause is not None)  # type: ignore[attr-defined]
        text = await sheet(pilot)
        assert "no answer: connection refused" in text
        assert "has not answered yet" in text

    down = GatewayError("connection refused", code="store_failure", retryable=True)
    drive(make_app(FakeGateway(down=down)).session, scene)


# A password through every door


def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that the console will have sent to its terminal."""
    sent: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda _driver, data: sent.append(data))
    monkeypatch.setattr(HeadlessDriver, "is_headless", property(lambda _driver: False))
    return sent


async def walk(pilot: Pilot[None], screens: list[str]) -> None:
    """Through every screen, its help, its prompts and its copies; what each of them says is kept."""
    for key in (*"2345890", "f12", "y", "escape", "question_mark", "escape", "Y"):
        await pilot.press(key)
        screens.append("\n".join(pane.text for pane in pilot.app.screen.query(Pane)))
        screens.append("\n".join(str(getattr(each, "text", "")) for each in pilot.app.screen.query("Band")))
    for line in ("ctx nope", "trust"):
        await pilot.press("colon", *line, "enter", "escape")
        screens.append("\n".join(str(getattr(each, "text", "")) for each in pilot.app.screen.query("Band")))


def check(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """No canary on any screen, on the line to the terminal, in a copy, or in what a crash would print."""
    sent = written(monkeypatch)
    screens: list[str] = []

    async def scene(pilot: Pilot[None]) -> None:
        await pilot.pause(0.2)
        await walk(pilot, screens)

    drive(session, scene)
    encoded = base64.b64encode(CANARY.encode()).decode().rstrip("=")
    assert len(screens) > 20
    assert any(screens)
    for text in (*screens, *sent, repr(session), repr(session.gateway), repr(session.contexts)):
        assert CANARY not in text
        assert encoded not in text


def unreachable(query: str = "") -> str:
    """A server that is not there."""
    return f"postgresql://ops@127.0.0.1:1/agents{query}"


def test_no_password_is_shown_that_stood_in_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in (unreachable().replace("ops@", f"ops:{CANARY}@"), unreachable(f"?pass%77ord={CANARY}")):
        opener = Opener(config_of(""), Asked())
        check(opener.session(target_of(url, opener.config)), monkeypatch)


def test_no_password_is_shown_that_a_command_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'[contexts.a]\nurl = "{unreachable()}"\npassword_command = ["echo", "{CANARY}"]\n'
    opener = Opener(config_of(text), Asked())
    check(opener.session(target_of("a", opener.config)), monkeypatch)


def test_no_password_is_shown_of_a_store_that_answers(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", CANARY)
    text = f'[contexts.a]\nurl = "{postgres_harness.url}"\npassword_command = ["echo", "{CANARY}"]\n'
    opener = Opener(config_of(text), Asked())
    check(opener.session(target_of("a", opener.config)), monkeypatch)


def test_no_password_is_in_an_error_or_its_causes() -> None:
    for url in (unreachable().replace("ops@", f"ops:{CANARY}@"), unreachable(f"?password={CANARY}")):
        gateway = EngineGateway(url)
        with pytest.raises(GatewayError) as caught:
            gateway.threads(ThreadQuery(), None, 1)
        gateway.close()
        error: BaseException | None = caught.value
        while error is not None:
            assert CANARY not in f"{error} {error!r}"
            error = error.__cause__
        assert CANARY not in repr(stores.label_of(url))


@pytest.mark.parametrize("word", [f"postgresql://u:{CANARY}@127.0.0.1:1/d", "a"])
def test_no_command_says_a_password(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[contexts.a]\nurl = "{unreachable()}"\npassword_command = ["echo", "{CANARY}"]\n')
    monkeypatch.setenv(CONFIG_VARIABLE, str(file))
    for command in ("threads", "doctor", "claims", "console"):
        cli.run([command, word])
        told = capsys.readouterr()
        assert CANARY not in told.out + told.err
        assert told.out + told.err
