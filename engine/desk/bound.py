"""What every part of the desk is made of: one verb bound to one transaction (design rule 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from engine.checkpoints.records import Undecodable, undecodable
from engine.database.address import follow_whole_indexes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions

    P = ParamSpec("P")
    T = TypeVar("T")


class Bound:
    """A store's transactions, and its name for errors."""

    def __init__(self, transactions: Transactions, store: str) -> None:
        self._tx = transactions
        self._store = store

    def _whole(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Several statements that must all see one moment."""
        try:
            return self._tx.snapshot(name, verb, *args, **options)
        except Undecodable as error:
            raise undecodable(name, error, self._store) from error

    def _one(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """A verb that is one statement."""
        try:
            return self._tx.single(name, verb, *args, **options)
        except Undecodable as error:
            raise undecodable(name, error, self._store) from error

    def _counted(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """A verb of one statement that counts up to a cap, in the order of an index, whatever a planner expects."""

        def following(connection: Connection) -> T:
            follow_whole_indexes(connection)
            return verb(connection, *args, **options)

        return self._whole(name, following)
