"""The meter: units per account, bounded per period or rolling window (spend.md 2B)."""
