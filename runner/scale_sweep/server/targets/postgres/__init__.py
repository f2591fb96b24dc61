"""PostgreSQL, and TimescaleDB as PostgreSQL with an extension: facts, start and checks, and a session."""
