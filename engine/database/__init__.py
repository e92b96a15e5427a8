"""All that knows a dialect: back ends, transactions, compiled statements, wake-ups and migrations."""
