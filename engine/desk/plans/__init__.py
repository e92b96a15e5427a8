"""Plans: what a change would touch, frozen before it is done (console.md F1; rulings 54 and 55)."""
