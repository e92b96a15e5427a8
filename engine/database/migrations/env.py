"""Alembic's hook, called by `engine.database.migrations.upgrade`, which has configured the context."""

from alembic import context

context.run_migrations()
