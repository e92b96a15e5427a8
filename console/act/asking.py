"""Asking whoever sits at the terminal: never where output goes to a program, and never from a pipe (console.md F4)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from console.act import options
from console.acting import equivalent
from console.read.output import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from console.present import Safe


def interactive(*, as_json: bool) -> bool:
    """Whether there is somebody who can be asked."""
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def check_given(wanted: str, *, as_json: bool, reason: str | None, confirm: str | None) -> None:
    """A usage error that names each of the two options that is missing, where nobody can be asked for it.

    `wanted` is the phrase: to be called when all else was checked, so that what it names is all that is lacking.
    """
    given = (("--reason WHY", reason), (f"--confirm {equivalent.quoted(wanted)}", confirm))
    missing = [option for option, value in given if value is None]
    if missing and not interactive(as_json=as_json):
        raise typer.BadParameter(
            f"{' and '.join(missing)} must be given: nobody can be asked"
            f"{', for --json never asks' if as_json else ' here, for this is no terminal'}"
        )


def reason(given: str | None) -> str:
    """Why, asked for where it was not said."""
    return options.reason_of(_typed("Reason: ") if given is None else given)


def phrase(given: str | None, wanted: str, shown: Callable[[], Iterable[Safe]]) -> str:
    """What was given as confirmation; where nothing was, `shown` is told and the phrase has to be typed.

    The command ends with 1 where another is: nothing has been changed then.
    """
    if given is None:
        for line in shown():
            typer.echo(line, err=True)
        given = _typed(f"To go on type {wanted}: ")
    if given != wanted:
        refuse(f"that is not {wanted}; nothing was changed")
    return given


def _typed(question: str) -> str:
    typer.echo(question, err=True, nl=False)
    line = sys.stdin.readline(options.MOST_LINE)
    if not line:
        refuse("nothing was typed; nothing was changed")
    return line.rstrip("\r\n")
