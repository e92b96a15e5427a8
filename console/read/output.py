"""Standard output and exit codes of the reading commands."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

from console.command_line import Exit
from console.model import GatewayError
from console.read import documents
from console.read.table import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from console.present import Safe
    from console.read.documents import Document
    from console.read.table import Column


def print_document(document: Document) -> None:
    """One JSON document on one line."""
    print_lines([documents.as_json(document)])


def print_lines(lines: Iterable[str | Safe]) -> None:
    """Lines, at once; when the reader has gone away the command ends without a word."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # a terminal without some letter is no reason to fail
    try:
        for line in lines:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        # What is still buffered has nowhere to go: else the interpreter would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.OK) from error


def show_page(columns: Sequence[Column], found: Document, as_json: bool) -> None:
    """A page, as a table or as a document."""
    if as_json:
        print_document(found)
    else:
        print_lines(page(columns, found))


def warn(message: str) -> None:
    """A word on standard error that changes nothing else."""
    typer.echo(f"holdwatch: {message}", err=True)


def refuse(message: str) -> NoReturn:
    """End the command: what was asked for is not there, or cannot be answered as asked."""
    warn(message)
    raise typer.Exit(Exit.REFUSED)


@contextmanager
def refusals() -> Iterator[None]:
    """A question that the store refuses is no failure of the store: exit code 1, not 2."""
    try:
        yield
    except GatewayError as error:
        if error.code != "validation":
            raise
        refuse(str(error))
