"""The lists of the store: one module each, with its columns, its facts, and how it is asked for."""
