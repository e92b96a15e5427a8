"""What F12 shows: all that a report of a fault needs, and no secret. Sections of names and values."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from console import VERSION, present
from console.acting.pace import paced
from console.config import DEFAULT, Valued
from console.identity import Trust
from console.present import Cell, Safe, Tone, own, pad, safe, width, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta

    from console.config import Config, Context, Source
    from console.jsontext import Line
    from console.session import Session

LIBRARIES: Final = ("textual", "rich", "sqlalchemy", "psycopg", "alembic", "platformdirs", "wcwidth")
TERMINAL_VARIABLES: Final = (
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "NO_COLOR",
    "LANG",
    "LC_ALL",
    "TZ",
    "ESCDELAY",
    "TEXTUAL_FPS",
    "TEXTUAL_ANIMATIONS",
    "TEXTUAL_COLOR_SYSTEM",
)
MULTIPLEXERS: Final = {"TMUX": "tmux", "STY": "screen", "ZELLIJ": "zellij"}
_PASSWORD_VARIABLES: Final = ("PGPASSWORD", "PGPASSFILE")
_NAME: Final = 16
_ONE_LINE: Final = 4_000
"""Cells that no fact needs: what is copied is not broken."""
_LEAST: Final = 20
_TEXT: Final = 600
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One name and its value, with where the value came from."""

    name: str
    value: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Facts under a heading."""

    heading: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Terminal:
    """What only the running application knows of its terminal."""

    columns: int
    rows: int
    colours: str


@dataclass(frozen=True, slots=True)
class Latency:
    """Round trips to the store, in seconds, newest last; `trouble` is why there is none."""

    trips: tuple[float, ...] = ()
    trouble: str = ""


def versions() -> Section:
    """Programs and libraries; looks at the disk."""
    found = [Fact(name, _version(name)) for name in LIBRARIES]
    return Section(
        "VERSIONS",
        (
            Fact("holdwatch", VERSION),
            Fact("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
            Fact("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
            *found,
        ),
    )


def store(session: Session) -> Section:
    """What was asked for, what the live connection says, and how the two go together."""
    label, identity, standing = session.gateway.label, session.identity, session.standing
    facts = [Fact("address", label.address), Fact("kind", label.kind)]
    if identity is None:
        return Section("STORE", (*facts, Fact("connection", "has not answered yet")))
    facts += [
        Fact("server", identity.server),
        Fact("database", identity.database),
        Fact("version", identity.version),
    ]
    if identity.role:
        facts += [Fact("role", identity.role), Fact("login", identity.login)]
    facts.append(Fact("standby", "yes" if identity.standby else "no"))
    opened = session.contexts.current
    if opened is not None:
        facts.append(Fact("context", f"{opened.name}: {standing.trust.value}"))
        if standing.trust is Trust.OTHER and opened.name in session.contexts.seen:
            seen = session.contexts.seen[opened.name]
            facts.append(
                Fact("last seen as", f"{seen.database} on {seen.server}, {present.instant(seen.at)}")
            )
    return Section("STORE", tuple(facts))


def configuration(session: Session, environ: Mapping[str, str] = os.environ) -> Section:
    """Each value that holds, and who said it."""
    config, settings = session.contexts.config, session.settings
    missing = config.file is None
    file = (
        "none was read"
        if config.looked_at is None
        else f"{config.looked_at}{' (not there)' if missing else ''}"
    )
    facts = [
        Fact("file", file),
        *_of_context(session.contexts.current),
        _fact("refresh", settings.refresh, f"{settings.refresh.value:g} s"),
        _fact("tenant", settings.tenant, settings.tenant.value or "all"),
        _fact("read_only", settings.read_only, "yes" if settings.read_only.value else "no"),
        _fact("time", settings.time, settings.time.value.value),
        _fact("ascii", settings.ascii, "yes" if settings.ascii.value else "no"),
        Fact("password", _password(session.contexts.current, environ)),
        *_of_changes(config),
        *(_fact(f"columns {name}", each, ", ".join(each.value)) for name, each in config.columns.items()),
        *(_fact(f"key {verb}", each, each.value) for verb, each in config.keys.items()),
        *(
            Fact(f"command {each.name}", f"{each.scope}, at most {each.limit:g} s", _source(each.source))
            for each in config.commands.values()
        ),
    ]
    return Section("CONFIGURATION", tuple(facts))


def _of_changes(config: Config) -> list[Fact]:
    """Above what a plan waits for another person, who decides in a pass, and a job's pace, as far as configured."""
    approval, after, rate = config.approval, config.after_lease, config.rate
    bounds = (("usd", approval.usd), ("units", approval.units), ("rows", approval.rows))
    return [
        *(
            _fact(f"approval above {name}", each, f"{each.value:g}")
            for name, each in bounds
            if each is not None
        ),
        *(() if after is None else (_fact("units after their lease", after, after.value.value),)),
        *(() if rate is None else (_fact("jobs rate", rate, paced(rate.value)),)),
        *(_fact(f"resolver {kind}", path, path.value) for kind, path in config.resolvers.items()),
    ]


def terminal(found: Terminal, environ: Mapping[str, str] = os.environ) -> Section:
    """The terminal, as its variables and the application tell it."""
    around = [name for variable, name in MULTIPLEXERS.items() if variable in environ]
    return Section(
        "TERMINAL",
        (
            Fact("size", f"{found.columns}x{found.rows}"),
            Fact("colours", found.colours),
            *(Fact(name, environ[name]) for name in TERMINAL_VARIABLES if name in environ),
            Fact("inside", ", ".join(around) or "no multiplexer"),
            Fact("over ssh", "yes" if "SSH_CONNECTION" in environ else "no"),
        ),
    )


def queries(session: Session, latency: Latency) -> Section:
    """How busy we are, and how far away the store is."""
    calls = session.calls
    return Section(
        "QUERIES",
        (
            Fact("in flight", f"{calls.running}/{calls.limit}"),
            Fact("finished", f"{calls.finished:,}"),
            Fact("latency", _trips(latency)),
            Fact("our clock", _skew(session.skew)),
        ),
    )


def lines(sections: Iterable[Section], room: int = _ONE_LINE) -> tuple[Line, ...]:
    """The sections as lines of a pane; values are broken between words."""
    found: list[Line] = []
    for section in sections:
        found.append((Cell(own(section.heading), Tone.ACCENT),))
        found += [line for fact in section.facts for line in _lines(fact, room)]
        found.append(())
    return tuple(found)


def text(sections: Iterable[Section]) -> Safe:
    """The sections as text to be copied; its only control characters are our own line ends."""
    shown: Sequence[Line] = lines(sections)
    return Safe("\n".join("".join(cell.text for cell in line) for line in shown))


def _lines(fact: Fact, room: int) -> list[Line]:
    """A fact in as many lines as it needs; its source stands behind the value, or below it."""
    name = safe(fact.name, _TEXT)
    head = Cell(own(f"  {pad(name, max(_NAME, width(name)))}  "))
    first, *rest = wrap(safe(fact.value, _TEXT), max(room - width(head.text), _LEAST))
    blank = Cell(own(" " * width(head.text)))
    told: list[Line] = [(head, Cell(first, Tone.STRONG))]
    told += [(blank, Cell(text, Tone.STRONG)) for text in rest]
    if not fact.source:
        return told
    source = Cell(safe(f"  {fact.source}", _TEXT), Tone.MUTED)
    if sum(width(cell.text) for cell in (*told[-1], source)) <= room:
        told[-1] = (*told[-1], source)
        return told
    return [*told, (blank, source)]


def _fact(name: str, valued: Valued[Any], shown: str) -> Fact:
    return Fact(name, shown, _source(valued.source))


def _source(source: Source) -> str:
    """A source without its folder, which stands above it once."""
    return str(replace(source, place=Path(source.place).name))


def _of_context(context: Context | None) -> list[Fact]:
    if context is None:
        return [Fact("context", "none", str(DEFAULT))]
    return [
        Fact("context", context.name),
        Fact("url", context.address, _source(context.url.source)),
        Fact("label", context.label.value, _source(context.label.source)),
        Fact("environment", context.environment.value, _source(context.environment.source)),
        Fact("colour", context.colour.value, _source(context.colour.source)),
    ]


def _password(context: Context | None, environ: Mapping[str, str]) -> str:
    """Where the password comes from: never the password, and never the command's words."""
    if context is not None and context.password_command is not None:
        return f"printed by a command, {_source(context.password_command.source)}"
    found = [name for name in _PASSWORD_VARIABLES if environ.get(name)]
    return f"from {found[0]}" if found else "none given; libpq looks into its own file"


def _skew(skew: timedelta | None) -> str:
    """How far this machine's clock is ahead of the store's, to a tenth: an answer is on its way for as long."""
    if skew is None:
        return "not compared yet"
    seconds = skew.total_seconds()
    return f"{abs(seconds):.1f} s {'ahead of' if seconds >= 0 else 'behind'} the store's"


def _trips(latency: Latency) -> str:
    if latency.trouble:
        return f"no answer: {latency.trouble}"
    if not latency.trips:
        return "asking ..."
    newest, middle, worst = latency.trips[-1], median(latency.trips), max(latency.trips)
    count = len(latency.trips)
    return f"{newest * 1000:.1f} ms now, {middle * 1000:.1f} median, {worst * 1000:.1f} worst of {count}"


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"
