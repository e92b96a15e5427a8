"""The day store: money, in whole micro-dollars, bounded per UTC day (spend.md 2A)."""
