"""What an operator may see and do, for the console and for scripts (api.md, `engine.desk`)."""
