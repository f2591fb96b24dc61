"""Cassandra: facts (facts.py), how it is started and checked (target.py), a session (session.py), words (cql.py)."""
