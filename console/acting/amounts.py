"""A part of what is reserved, as it is typed: exact to the micro-dollar, or refused with the reason (F5 (b))."""

from __future__ import annotations

import re
from typing import Final

from console.money import MICRO

DECIMALS: Final = 6
"""Decimals of a dollar that the store keeps."""
MOST_TYPED: Final = 24
"""Characters of an amount that are looked at; more of them name no reservation's part."""
_DIGITS: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
_FORM: Final = "write dollars as 0.120000"


def part_of(text: str, most: int) -> int:
    """Dollars as micro-dollars, above zero and at most `most`; ValueError with the reason for anything else."""
    fault = _fault(text)
    if fault:
        raise ValueError(f"{fault}; {_FORM}")
    parts = _DIGITS.fullmatch(text)
    if parts is None:
        raise ValueError(f"that is no amount; {_FORM}")
    decimals = parts[2] or ""
    if len(decimals) > DECIMALS:
        raise ValueError(f"{len(decimals)} decimals; the store keeps {DECIMALS}")
    micro = int(parts[1]) * MICRO + int(decimals.ljust(DECIMALS, "0"))
    if not micro:
        raise ValueError("nothing of it is a release: choose v")
    if micro > most:
        raise ValueError(f"more than the {dollars(most)} USD that may be consumed")
    return micro


def dollars(micro: int) -> str:
    """Micro-dollars, none of them negative, as they are typed: six decimals and no separators."""
    return f"{micro // MICRO}.{micro % MICRO:0{DECIMALS}d}"


def _fault(text: str) -> str:
    """The reason that is worth a word of its own; empty where there is none."""
    if not text:
        return "an amount is needed"
    if len(text) > MOST_TYPED:
        return "that is longer than any amount"
    if any(each.isspace() for each in text):
        return "no blanks in an amount"
    if not text.isascii():
        return "only the digits 0 to 9 count"
    if text[0] == "-":
        return "an amount is not negative"
    if text[0] == "+":
        return "an amount has no sign"
    if "," in text:
        return "no separators, and a point before the decimals"
    if re.fullmatch(r"[0-9.]+[eE][-+]?[0-9]*", text):
        return "no exponent: every digit is written"
    return ""
