"""Changing the store from the console: the read-write window, confirmation, plans, jobs, resolutions."""
