"""What jobs do with the items of their plans: one executor for each planned deed (console.md F1, F9, F10)."""
