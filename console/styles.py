"""A widget's stylesheet lies beside its module."""

from __future__ import annotations

from pathlib import Path


def beside(module_file: str) -> str:
    """The text of the .tcss file next to a module; give it `__file__`."""
    return Path(module_file).with_suffix(".tcss").read_text(encoding="utf-8")
