"""Deciding by hand what became of a reservation, on evidence (console.md F5)."""
