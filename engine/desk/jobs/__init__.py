"""Jobs: a confirmed plan carried out in chunks, by one console at a time (console.md F10)."""
