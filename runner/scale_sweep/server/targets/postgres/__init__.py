"""PostgreSQL, and TimescaleDB as its extension."""
