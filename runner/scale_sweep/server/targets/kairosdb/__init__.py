"""KairosDB on H2 or on Cassandra: its facts, start and checks, a session, and its datastores (stores.py)."""
