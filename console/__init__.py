"""The operators' console over a Holdwatch store, and the `holdwatch` command."""

VERSION = "0.1.0"
