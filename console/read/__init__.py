"""The reading commands for scripts and for people at a plain prompt: `holdwatch threads STORE --json` and so on.

Each command is one bounded page over the views that the console shows. Without `--json` it prints an aligned
table of harmless text; with it one JSON document, or for `events` one document a line. JSON is ASCII; instants
are ISO-8601 in UTC to the microsecond, durations exact seconds under a name that ends in `_seconds`, and bodies
stand in it number for number as they were stored.
"""
