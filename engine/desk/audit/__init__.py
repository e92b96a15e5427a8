"""What operators did: an append-only log, chained by hash; intent, then result (console.md, "Audit trail")."""
