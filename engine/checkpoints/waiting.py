"""Waiting for events (checkpoints.md 2.9)."""
