"""Contexts: what the header says of them, and that one leaves nothing to the next (console.md 3.1, 12 to 15)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from console import cli, header, stores, targets
from console.app import HoldwatchApp
from console.calls import Calls
from console.config import Asked, Colour, ConfigError, settled
from console.config.file import default_path
from console.contexts import Contexts
from console.gateway import EngineGateway
from console.identity import Identity, Seen, Standing, Trust, standing_of
from console.lists import catalogue
from console.memory import Memory, default_memory
from console.model import GatewayError, StoreLabel, ThreadQuery
from console.opening import Opener
from console.present import TAGS
from console.screens.contexts import ContextsScreen
from console.session import Session
from console.targets import Target, of_context, target_of
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway
from tests.console.test_config_layers import config_of
from tests.console.test_pilot import said
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from console.screens.threads import ThreadsScreen
    from tests.support.harness import Harness

FILE = """
[contexts.prod]
url = "postgresql://ops_ro@ledger-prod/agents"
label = "Ledger"
environment = "PROD"
colour = "red"
tenant = "acme"
read_only = true

[contexts.acme]
url = "postgresql://acme_ro@ledger-prod/agents"
environment = "PROD"

[contexts.staging]
url = "postgresql://mk@ledger-staging/agents"
environment = "STAGING"
colour = "amber"
"""
CONFIG = config_of(FILE)
PROD, ACME, STAGING = (CONFIG.contexts[name] for name in ("prod", "acme", "staging"))
AT_PROD = Identity("7421", "agents", "ops_ro", "ops_ro", "PostgreSQL 16.4")
AT_STAGING = Identity("9900", "agents", "mk", "mk", "PostgreSQL 16.4")
T0 = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)


def seen(identity: Identity) -> Seen:
    """An identity as it is remembered."""
    return Seen(identity.server, identity.database, identity.role, T0)


def text_of(session: Session, room: int = 80) -> str:
    """The header's left part."""
    return "".join(cell.text for cell in header.store(session, room))


def session_on(
    name: str | None, identity: Identity | None, remembered: dict[str, Seen] | None = None
) -> Session:
    """A session opened by a context's name, that has reached this."""
    context = None if name is None else CONFIG.contexts[name]
    gateway = FakeGateway() if context is None else FakeGateway(label=stores.label_of(context.url.value))
    return Session(
        gateway,
        Calls(),
        lambda: 0.0,
        settings=settled(CONFIG, context, environ={}),
        contexts=Contexts(CONFIG, context, seen=remembered or {}),
        identity=identity,
    )


BOTH = {"prod": seen(AT_PROD), "staging": seen(AT_STAGING)}


@pytest.mark.parametrize(
    ("identity", "opened", "remembered", "standing"),
    [
        (AT_PROD, PROD, {}, Standing(Trust.CONFIRMED, PROD)),
        (AT_PROD, PROD, BOTH, Standing(Trust.CONFIRMED, PROD)),
        (AT_PROD, ACME, BOTH, Standing(Trust.CONFIRMED, ACME)),
        (AT_PROD, STAGING, BOTH, Standing(Trust.OTHER, PROD)),
        (AT_PROD, STAGING, {"prod": seen(AT_PROD)}, Standing(Trust.OTHER, PROD)),
        (AT_STAGING, PROD, {"prod": seen(AT_PROD)}, Standing(Trust.OTHER, None)),
        (replace(AT_PROD, database="x"), PROD, BOTH, Standing(Trust.OTHER, None)),
        (replace(AT_PROD, role="other"), PROD, BOTH, Standing(Trust.CONFIRMED, PROD)),
        (AT_PROD, None, BOTH, Standing(Trust.CONFIRMED, PROD)),
        (AT_PROD, None, {}, Standing(Trust.CONFIRMED, None)),
    ],
)
def test_report_12_a_context_is_known_by_server_and_database(
    identity: Identity, opened: object, remembered: dict[str, Seen], standing: Standing
) -> None:
    found = standing_of(identity, opened, CONFIG.contexts, remembered)  # type: ignore[arg-type]
    assert (found.trust, found.context) == (standing.trust, standing.context)


def test_report_12_the_header_says_an_environment_only_of_a_live_connection() -> None:
    assert text_of(session_on("prod", None)) == " Ledger?  RO  postgresql  "
    assert text_of(session_on("prod", AT_PROD)) == "  PROD  Ledger  RO  as ops_ro  postgresql  "
    assert session_on("prod", None).environment is None
    assert session_on("prod", AT_PROD).environment == "PROD"


def test_report_12_a_name_that_leads_elsewhere_never_shows_its_environment() -> None:
    wrong = session_on("staging", AT_PROD, BOTH)
    assert text_of(wrong) == "  PROD  NOT staging: agents  RO  as ops_ro  postgresql  "
    assert "STAGING" not in text_of(wrong, 120)
    assert wrong.environment is None
    assert wrong.forbids_writing is not None
    stranger = session_on("prod", AT_STAGING, {"prod": seen(AT_PROD)})
    assert text_of(stranger) == " NOT Ledger: agents  RO  as mk  postgresql  "


def test_report_12_an_address_is_named_as_the_context_that_it_leads_to() -> None:
    plain = session_on(None, AT_PROD, BOTH)
    assert text_of(plain).startswith("  PROD  Ledger  RO  as ops_ro")
    assert text_of(session_on(None, replace(AT_PROD, database="spare"))).startswith(
        " ledger-prod is spare  RO"
    )


def test_report_15_a_role_that_was_put_on_is_shown_with_its_login() -> None:
    session = session_on("prod", replace(AT_PROD, role="ops_rw", login="mk"))
    assert "as ops_rw (mk logged in)" in text_of(session)


def test_every_colour_has_a_tag() -> None:
    assert set(header.TAG_TONES) == set(Colour)
    assert set(header.TAG_TONES.values()) == TAGS


def test_a_policy_forbids_writing_and_says_who_set_it() -> None:
    assert session_on("prod", AT_PROD).forbids_writing == "read-only by context config.toml:8 [contexts.prod]"
    assert session_on("staging", AT_STAGING).forbids_writing is None


def test_the_model_lists_all_contexts_without_passwords() -> None:
    rows = Contexts(CONFIG, PROD, seen=BOTH).rows()
    assert [(row.name, row.environment, row.here) for row in rows] == [
        ("prod", "PROD", True),
        ("acme", "PROD", False),
        ("staging", "STAGING", False),
    ]
    assert rows[0].address == "postgresql://ops_ro@ledger-prod/agents"
    assert rows[0].seen == seen(AT_PROD)
    assert rows[1].seen is None


def test_what_was_seen_is_kept_for_the_next_console(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state" / "contexts.json")
    assert memory.read() == {}
    memory.note("prod", seen(AT_PROD))
    memory.note("staging", seen(AT_STAGING))
    assert Memory(memory.file).read() == BOTH
    assert [path.name for path in memory.file.parent.iterdir()] == ["contexts.json"]


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": {"at": "x"}}', "\x00"])
def test_a_memory_that_is_none_of_ours_is_empty(tmp_path: Path, content: str) -> None:
    (tmp_path / "contexts.json").write_text(content)
    assert Memory(tmp_path / "contexts.json").read() == {}


# Which store a word means (ruling 62)


def test_ruling_62_a_word_is_a_path_or_the_name_of_a_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.db").touch()
    assert target_of("prod", CONFIG) == Target("postgresql://ops_ro@ledger-prod/agents", PROD)
    assert target_of("agents.db", CONFIG) == Target("sqlite:///agents.db")
    with pytest.raises(stores.NoStoreError, match="contexts are prod, acme, staging"):
        target_of("nope", CONFIG)
    (tmp_path / "prod").touch()
    with pytest.raises(stores.NoStoreError, match="a context and also a file"):
        target_of("prod", CONFIG)
    assert target_of("./prod", CONFIG) == Target("sqlite:///prod")


def test_ruling_62_a_contexts_missing_file_is_never_made(tmp_path: Path) -> None:
    config = config_of(f'[contexts.a]\nurl = "sqlite:///{tmp_path}/none.db"\n')
    with pytest.raises(stores.NoStoreError, match=r"context a: .*migrate"):
        of_context(config.contexts["a"])
    assert list(tmp_path.iterdir()) == []


def test_ruling_62_every_command_takes_a_context(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/agents.db"
    assert cli.run(["migrate", url]) == cli.Exit.OK
    default_path().parent.mkdir(parents=True)
    default_path().write_text(f'[contexts.here]\nurl = "{url}"\n')
    for arguments in (["threads", "here"], ["doctor", "here"], ["maintain", "here", "--once"]):
        assert cli.run(arguments) == cli.Exit.OK, arguments
    assert cli.run(["here"]) == cli.Exit.USAGE
    assert "needs a terminal" in capsys.readouterr().err


def test_a_context_with_the_name_of_a_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    default_path().parent.mkdir(parents=True)
    default_path().write_text('[contexts.demo]\nurl = "postgresql://h/d"\n')
    assert cli.run(["./none.db"]) == cli.Exit.USAGE
    assert "config.toml:2: [contexts.demo]: is the name of a command" in capsys.readouterr().err


def test_without_a_store_the_configurations_context_is_opened(capsys: pytest.CaptureFixture[str]) -> None:
    default_path().parent.mkdir(parents=True)
    default_path().write_text('context = "a"\n[contexts.a]\nurl = "sqlite:////no/such/file.db"\n')
    assert cli.run([]) == cli.Exit.STORE_FAILURE
    assert "context a: there is no store at '/no/such/file.db'" in capsys.readouterr().err


def test_an_opener_applies_all_that_the_configuration_says() -> None:
    text = FILE + '[keys]\ndetail = "b"\n[columns]\nthreads = ["THREAD", "AGE"]\n'
    opener = Opener(config_of(text), Asked(refresh=7.0))
    session = opener.session(target_of("prod", opener.config))
    assert session.settings.refresh.value == 7.0
    assert session.settings.tenant.value == "acme"
    assert session.settings.read_only.value
    assert session.registry.named("detail").keys == ("b",)
    titles = catalogue.titles()["threads"]
    assert session.columns == {"threads": (titles.index("THREAD"), titles.index("AGE"))}
    assert opener.switched("staging").settings.tenant.value is None
    with pytest.raises(ValueError, match="no context 'stagin'; did you mean staging"):
        opener.switched("stagin")
    with pytest.raises(ConfigError):
        Opener(config_of('[keys]\ndetail = "p"\n'), Asked()).session(Target("sqlite:///x"))


# Switching


@dataclass
class Stores:
    """Made-up stores by context, and the sessions that were opened on them."""

    opened: list[Session] = field(default_factory=list)
    identities: dict[str, Identity] = field(default_factory=lambda: {"prod": AT_PROD, "staging": AT_STAGING})
    memory: Memory = field(default_factory=default_memory)

    def session(self, name: str) -> Session:
        """A session as the opener makes one."""
        context = CONFIG.contexts[name]
        gateway = FakeGateway(label=stores.label_of(context.url.value), who=self.identities[name])
        contexts = Contexts(CONFIG, context, self.memory, opens=self.session)
        contexts.learn()
        made = Session(
            gateway,
            Calls(),
            lambda: 0.0,
            settings=settled(CONFIG, context, environ={}),
            contexts=contexts,
        )
        self.opened.append(made)
        return made


def drive(scene: Callable[[Pilot[None], Stores], Awaitable[None]], given: Stores | None = None) -> None:
    """Run a scene on a console that was opened as prod."""
    made = given or Stores()

    async def play() -> None:
        async with HoldwatchApp(made.session("prod")).run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await until(pilot, lambda: session_of(pilot).identity is not None)
            await scene(pilot, made)

    asyncio.run(play())


def session_of(pilot: Pilot[None]) -> Session:
    """The session that the console is in."""
    assert isinstance(pilot.app, HoldwatchApp)
    return pilot.app.session


def head(pilot: Pilot[None]) -> str:
    """The header as it is drawn."""
    return pilot.app.screen.query_one("#status").text  # type: ignore[attr-defined, no-any-return]


def threads(pilot: Pilot[None]) -> ThreadsScreen:
    """The screen in front."""
    return pilot.app.screen  # type: ignore[return-value]


async def switch(pilot: Pilot[None], name: str) -> None:
    """Give the command and wait until the other store has answered."""
    before = session_of(pilot)
    await pilot.press("colon", *f"ctx {name}", "enter")
    await until(pilot, lambda: session_of(pilot) is not before)
    await ready(pilot)
    await until(pilot, lambda: session_of(pilot).identity is not None)


def test_report_14_a_switch_leaves_nothing_of_the_context_before() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        await pilot.press("j", "space", "space", "slash", *"status:idle", "enter")
        await ready(pilot)
        assert threads(pilot).main_widget().window.marks
        session_of(pilot).arrangements.choose("threads", (0, 1))
        await pilot.press("enter")
        await ready(pilot)
        session_of(pilot).window.open("a test")
        session_of(pilot).cap = 60
        first = pilot.app.screen
        await switch(pilot, "staging")
        session = session_of(pilot)
        assert session is made.opened[1]
        assert made.opened[0].gateway.closed  # type: ignore[attr-defined]
        assert (session.writable, session.cap, session.settings.tenant.value) == (False, None, None)
        assert threads(pilot).filter == ""
        window = threads(pilot).main_widget().window
        assert window.cursor == 0
        assert not window.pinned
        assert not window.marks
        assert session.arrangements.of("threads").columns is None
        assert [len(stack) for mode, stack in pilot.app._screen_stacks.items() if mode == "threads"] == [1]
        assert set(pilot.app._screen_stacks) <= {"_default", "between", "threads"}
        assert not first.is_attached
        asked = list(made.opened[0].gateway.asked)  # type: ignore[attr-defined]
        await refreshed(pilot)
        await pilot.press("5")
        await ready(pilot)
        assert made.opened[0].gateway.asked == asked  # type: ignore[attr-defined]
        assert "newest" in made.opened[1].gateway.asked  # type: ignore[attr-defined]

    drive(scene)


def test_report_15_role_and_identity_are_read_anew_after_a_switch() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        assert head(pilot).startswith("  PROD  Ledger  RO  as ops_ro")
        await switch(pilot, "staging")
        assert head(pilot).startswith("  STAGING  staging  RO  as mk")
        await switch(pilot, "prod")
        assert head(pilot).startswith("  PROD  Ledger  RO  as ops_ro")
        assert len(made.opened) == 3

    drive(scene)


def test_report_14_a_switch_comes_out_of_any_depth_and_any_screen() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        for name, keys in (("staging", ("5",)), ("prod", ("2", "9", "8")), ("staging", ("enter", "tab"))):
            for key in keys:
                await pilot.press(key)
                await ready(pilot)
            await switch(pilot, name)
            assert session_of(pilot).contexts.current is CONFIG.contexts[name]

    drive(scene)


def test_report_12_a_context_that_leads_elsewhere_is_said_and_can_be_accepted() -> None:
    made = Stores()
    made.memory.note("prod", seen(AT_PROD))
    made.identities["staging"] = AT_PROD

    async def scene(pilot: Pilot[None], made: Stores) -> None:
        await switch(pilot, "staging")
        assert head(pilot).startswith("  PROD  NOT staging: agents")
        assert "staging" not in made.memory.read()
        await pilot.press("colon", *"trust", "enter")
        await until(pilot, lambda: "staging" in made.memory.read())
        await until(pilot, lambda: head(pilot).startswith("  STAGING  staging"))

    drive(scene, made)


def test_report_12_another_store_behind_the_same_address_is_seen_when_the_connection_comes_back() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        gateway = made.opened[0].gateway
        assert isinstance(gateway, FakeGateway)
        gateway.down = GatewayError("gone", code="store_failure", retryable=True)
        await pilot.press("r")
        await until(pilot, lambda: threads(pilot).freshness.cause is not None)
        gateway.down, gateway.who = None, AT_STAGING
        await pilot.press("r")
        await until(pilot, lambda: "NOT Ledger: agents" in head(pilot))

    drive(scene)


def test_a_context_that_cannot_be_opened_leaves_the_present_one() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        def fails(_name: str) -> Session:
            raise stores.NoStoreError("context staging: no such file")

        session_of(pilot).contexts.opens = fails
        await pilot.press("colon", *"ctx staging", "enter")
        await until(pilot, lambda: "no such file" in said(pilot))
        assert session_of(pilot) is made.opened[0]
        await pilot.press("colon", *"ctx", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextsScreen))
        sheet = pilot.app.screen.query_one(Pane).text
        assert all(name in sheet for name in ("prod", "acme", "staging"))

    drive(scene)


def test_a_contexts_tenant_is_a_filter_that_can_be_seen_and_cleared() -> None:
    async def scene(pilot: Pilot[None], made: Stores) -> None:
        assert threads(pilot).filter == "tenant:acme"
        rows = threads(pilot).main_widget().window.rows
        assert {row.tenant for row in rows} == {"acme"}
        for key in ("2", "8", "5"):
            await pilot.press(key)
            await ready(pilot)
            assert threads(pilot).filter == "tenant:acme"
        await pilot.press("3")
        await ready(pilot)
        assert threads(pilot).filter == ""

    drive(scene)


# Over real stores


def test_the_identity_is_what_the_connection_says(harness: Harness) -> None:
    gateway = EngineGateway(harness.url)
    found = gateway.identity()
    gateway.close()
    if harness.kind == "sqlite":
        assert found.server == "sqlite"
        assert harness.url.endswith(found.database)
    else:
        with harness.raw() as connection:
            row = connection.exec_driver_sql(
                "SELECT system_identifier, current_database(), current_user FROM pg_control_system()"
            ).one()
        assert (found.server, found.database, found.role) == (str(row[0]), row[1], row[2])
        assert found.login == found.role
    assert not found.standby


def test_report_15_a_role_put_on_by_the_address_is_found(postgres_harness: Harness) -> None:
    with postgres_harness.raw() as connection:
        connection.exec_driver_sql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    sign = "&" if "?" in postgres_harness.url else "?"
    gateway = EngineGateway(f"{postgres_harness.url}{sign}options=-c%20role%3Dpg_read_all_data")
    found = gateway.identity()
    gateway.close()
    assert (found.role, found.login != found.role) == ("pg_read_all_data", True)
    assert ":" in found.server


def test_a_password_that_a_command_prints_opens_the_store(postgres_harness: Harness) -> None:
    text = f'[contexts.a]\nurl = "{postgres_harness.url}"\npassword_command = ["echo", "canary"]\n'
    target = target_of("a", config_of(text))
    gateway = EngineGateway(target.url, secret=target.secret)
    assert gateway.threads(ThreadQuery(), None, 10).rows == ()
    gateway.close()
    assert "canary" not in target.url
    assert "canary" not in gateway.label.address
    assert isinstance(gateway.label, StoreLabel)
    assert targets.url_of(postgres_harness.url) == postgres_harness.url
