"""The commands that change a store: the console's changes for scripts, with the same plans, checks and audit.

One module per group. `--json` prints one document and never asks anything; what goes on, and the id under which a
change's outcome can be asked for, stands on standard error.
"""
