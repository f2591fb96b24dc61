"""KairosDB on H2 or on Cassandra: its facts (facts.py), start and checks (target.py), its datastores (stores.py), and a
session (session.py)."""
