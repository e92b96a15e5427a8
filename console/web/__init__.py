"""The console in a browser of this machine: `holdwatch serve` (console.md 4.1, "Web").

Needs the extra `web`. Nothing here is imported before that command is given.
"""
