"""The reserved-commit convention: tentative rows that any table can adopt (reserved.md)."""
