"""The console over a made-up store: model, widgets, screens; and once over a real one in a real terminal."""
