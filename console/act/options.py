"""The options that changing commands share, and reading them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console.acting import permission
from console.acting.equivalent import UNSAID
from console.acting.plans import Bounds
from console.money import MICRO
from console.spans import span_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta

    from console.config import Config

FROM_STDIN: Final = "-"
MOST_LINES: Final = 10_000
"""Ids that one change may be about (ruling 55)."""
MOST_LINE: Final = 4_096
"""Characters of a line of them."""
_USD: Final = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?")
_MOST: Final = 2**62

Reason = Annotated[
    str, typer.Option(metavar="WHY", help="Why: kept in the audit, for those who read it later.")
]
MaybeReason = Annotated[
    str | None, typer.Option("--reason", metavar="WHY", help="Why: kept in the audit with the change.")
]
PlanId = Annotated[str, typer.Argument(metavar="PLAN", help="The id of a stored plan.")]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="The id of a job.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what a plan would hold; store nothing, need no right to write."),
]
AboveUsd = Annotated[
    str | None,
    typer.Option("--approve-above-usd", metavar="USD", help="Above it another person must approve the plan."),
]
AboveUnits = Annotated[
    int | None,
    typer.Option("--approve-above-units", min=0, metavar="N", help="The same, in a meter's units."),
]
AboveRows = Annotated[
    int | None, typer.Option("--approve-above-rows", min=0, metavar="N", help="The same, in rows.")
]
ResolverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--resolver",
        metavar="KIND=MODULE:FUNCTION",
        help="Who answers for day, or for meter:PREFIX, beside the configuration's; may be given again.",
    ),
]


def reason_of(text: str) -> str:
    """A reason that says something: neither blanks nor the dots that stand for one in a printed command."""
    if not text.strip() or text.strip() == UNSAID:
        raise typer.BadParameter("--reason: say why, for those who read the audit later")
    return text


def bounds(config: Config, usd: str | None, units: int | None, rows: int | None) -> Bounds:
    """The configuration's bounds, or stricter ones: a command line can lower them, and not lift them."""
    said = permission.bounds_of(config)
    return Bounds(
        _lower(said.micro, None if usd is None else _micro(usd)),
        _lower(said.units, units),
        _lower(said.rows, rows),
    )


def _lower(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _micro(text: str) -> int:
    parts = _USD.fullmatch(text)
    if parts is None:
        raise typer.BadParameter(
            f"--approve-above-usd: {text!r} is no amount; write dollars as 5 or 0.250000"
        )
    return int(parts[1]) * MICRO + int((parts[2] or "").ljust(6, "0"))


def span(option: str, text: str | None) -> timedelta | None:
    """A span of time that an option gives."""
    return None if text is None else value(option, lambda: span_of(text))


def value(option: str, read: Callable[[], Any]) -> Any:
    """What was read of an option; a usage error that names it where it is not what it should be."""
    try:
        return read()
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{option}: {error}") from error


def resolvers(given: Sequence[str] | None) -> dict[str, str]:
    """`module:function` by `day` and `meter:PREFIX`, as the command line gives them."""
    return dict(_resolver(text) for text in given or ())


def _resolver(text: str) -> tuple[str, str]:
    kind, _, path = text.partition("=")
    named, _, prefix = kind.partition(":")
    module, _, function = path.partition(":")
    if not (module and function) or not (kind == "day" or (named == "meter" and prefix)):
        raise typer.BadParameter(
            f"--resolver: {text!r} is none; write day=MODULE:FUNCTION or meter:PREFIX=..."
        )
    return kind, path


def words(given: Sequence[str] | None, what: str) -> tuple[str, ...]:
    """What a command is about, each once; `-` stands for the lines of standard input."""
    named = tuple(dict.fromkeys(each for word in given or () for each in _of_word(word)))
    if len(named) > MOST_LINES:
        raise typer.BadParameter(f"more than {MOST_LINES:,} of {what}; a change is about that many at most")
    return named


def _of_word(word: str) -> Iterator[str]:
    if word != FROM_STDIN:
        yield word
        return
    for _ in range(MOST_LINES + 2):
        line = sys.stdin.readline(MOST_LINE + 1)
        if not line:
            return
        if len(line) > MOST_LINE:
            raise typer.BadParameter("a line of standard input is longer than any id")
        if line.rstrip("\r\n"):
            yield line.rstrip("\r\n")


def count(given: int | None, option: str) -> int | None:
    """A number that a store can hold."""
    if given is not None and given > _MOST:
        raise typer.BadParameter(f"{option}: {given} is more than a store can count")
    return given
