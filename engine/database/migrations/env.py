"""Steps are run in process by `engine.database.migrations.upgrade`; this file keeps alembic's own command line working."""

from alembic import context

context.run_migrations()
