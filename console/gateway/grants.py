"""The GRANT statements of `engine.desk.grants`, which needs no store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Sequence


def statements(
    role: str, to: str, *, schema: str, prefixes: Sequence[str], tables: Sequence[str]
) -> tuple[str, ...]:
    """For one role, a statement each; no prefixes stand for the usual meter's. GatewayError `validation`."""
    from engine.desk.grants import Role, grants
    from engine.errors import EngineError
    from engine.spend.meter.prefix import DEFAULT_PREFIX

    try:
        return grants(
            Role(role),
            to,
            schema=schema,
            prefixes=tuple(prefixes) or (DEFAULT_PREFIX,),
            tables_with_rows=tables,
        )
    except EngineError as error:
        raise GatewayError(error.explain(), code=error.code, retryable=error.retryable) from error
