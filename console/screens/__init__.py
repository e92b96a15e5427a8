"""Screens: one class a file, its stylesheet beside it."""
