"""Spend: the day store bounds money in micro-dollars, the meter bounds units per account (spend.md)."""

from engine.spend.answers import Answer, Consumed, Deferred, Released

__all__ = ["Answer", "Consumed", "Deferred", "Released"]
