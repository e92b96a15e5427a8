"""Stored JSON texts as lists carry them: their beginning and their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func

from engine.database.constructs import Size
from engine.desk.views import PREVIEW

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


def cut(text: ColumnElement[Any], name: str) -> list[ColumnElement[Any]]:
    """A text's beginning and the whole's size in bytes."""
    return [func.substr(text, 1, PREVIEW).label(name), Size(text).label("size")]
