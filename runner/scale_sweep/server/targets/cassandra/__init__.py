"""Cassandra: its facts (facts.py), start and checks (target.py), a session (session.py), CQL (cql.py)."""
