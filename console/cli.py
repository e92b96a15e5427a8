"""The `holdwatch` command: the console by default, and the verbs that a script needs (api.md, "The command").

Nothing heavy is imported before a command is chosen: `--help` answers without Textual and without SQLAlchemy.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from console import VERSION, cli_maintain, cli_serve, command_names, garbage, stores
from console.act import registration as changing
from console.command_line import AsciiOnly, ConfigFile, ContextOrStore, Exit
from console.config import Asked, ConfigError
from console.model import GatewayError
from console.read import registration
from console.read.options import Cap, Tenant, cap_of
from console.starting import CannotStartError, check_terminal, open_console, opener_of, start
from console.stores import STORE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STORE_VARIABLE", "Exit", "app", "run", "told", "with_command"]

app = typer.Typer(
    name="holdwatch",
    help="A terminal console for agent threads and the store beneath it: holdwatch STORE opens it, "
    "holdwatch demo shows one at work.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"holdwatch {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """What every command shares."""


@app.command()
def console(
    store: ContextOrStore = None,
    cap: Cap = None,
    tenant: Tenant = None,
    refresh: Annotated[
        float | None, typer.Option(min=0.5, max=60, metavar="SECONDS", help="Between two looks at the store.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Never open a read-write window.")] = False,
    ascii_only: AsciiOnly = False,
    config: ConfigFile = None,
) -> None:
    """Open the console on a store; it only looks until W turns changes on."""
    micro = cap_of(cap)
    raise typer.Exit(start(store, opener_of(config, Asked(refresh, tenant, read_only, ascii_only)), micro))


@app.command()
def demo(
    threads: Annotated[int, typer.Option(min=1, max=10_000, help="Threads the agents work on.")] = 24,
    seed: Annotated[int, typer.Option(help="What the agents' dice begin with.")] = 1,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="A store to work on instead of a private one.")
    ] = None,
    ascii_only: AsciiOnly = False,
) -> None:
    """Watch a fleet of simulated agents at work."""
    from console.demo import DAILY_CAP, fleet
    from console.targets import Target

    if store is not None:
        store = stores.new_url_of(store)
        stores.check_shared(store)
    opener = opener_of(asked=Asked(ascii=ascii_only))
    check_terminal()
    with fleet(store, threads=threads, seed=seed) as url:
        code = open_console(opener.session(Target(url), DAILY_CAP))
    raise typer.Exit(code)


@app.command()
def migrate(
    url: Annotated[str, typer.Argument(metavar="URL", help="A path, sqlite:///path or postgresql://...")],
) -> None:
    """Create a store's tables, or bring them up to this version."""
    from console import gateway

    url = stores.new_url_of(url)
    stores.check_shared(url)
    gateway.migrate(url)
    typer.echo(f"{stores.label_of(url).address} is ready")


cli_maintain.register(app)
cli_serve.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; its exit code. What went wrong is said on standard error."""
    words = with_command(list(arguments))
    if words[:1] != ["console"] and not _commands() >= registration.COMMANDS.keys():
        registration.register(app)
        changing.register(app)
    if words[:1] != ["console"]:
        garbage.resume()
    try:
        code = app(args=words, prog_name="holdwatch", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - raised again where it is none of ours
        return told(error, arguments)
    return code if isinstance(code, int) else Exit.OK


def told(error: BaseException, arguments: Sequence[str]) -> int:
    """The exit code of what went wrong, told on standard error; what nobody foresaw is raised again."""
    match error:
        case typer.Abort() | KeyboardInterrupt():
            return _fail("interrupted", Exit.INTERRUPTED)
        case typer.TyperException():
            return _fail(error.format_message() + _mistyped(arguments) + _usage(error), Exit.USAGE)
        case CannotStartError():
            return _fail(str(error) + _mistyped(arguments), Exit.USAGE)
        case ConfigError():
            return _fail(str(error), Exit.USAGE)
        case stores.NoStoreError():
            return _fail(str(error) + _mistyped(arguments), Exit.STORE_FAILURE)
        case GatewayError():
            return _fail(str(error), Exit.STORE_FAILURE)
        case OSError():
            return _fail(f"{error.strerror or error}; see to that and try again", Exit.REFUSED)
    raise error


def with_command(arguments: list[str]) -> list[str]:
    """The arguments with the console's command before a store: a first word that is no command is one
    (ruling 62).
    """
    commands = command_names.names()
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first is None and not arguments:
        return ["console"]
    if first is None or first in commands:
        return arguments
    return ["console", *arguments]


def _usage(error: typer.TyperException) -> str:
    """How the command that was misused is used, on a line of its own; nothing where no command is known."""
    context = getattr(error, "ctx", None)
    return "" if context is None else f"\n{context.get_usage()}"


def _mistyped(arguments: Sequence[str]) -> str:
    """What to add to a refusal where the first word was meant for a command and is none."""
    first = next((word for word in arguments if not word.startswith("-")), "")
    commands = command_names.names()
    if first in commands or not first.isalpha():
        return ""
    close = get_close_matches(first, commands, n=1)
    meant = f"did you mean {close[0]}?" if close else "holdwatch --help lists them"
    return f"; {first!r} is no command either: {meant}"


def _commands() -> set[str]:
    return {
        command.name or str(getattr(command.callback, "__name__", "")) for command in app.registered_commands
    }


def _fail(message: str, code: Exit) -> int:
    print(f"holdwatch: {message}", file=sys.stderr)  # noqa: T201 - the command line's own voice
    return code
