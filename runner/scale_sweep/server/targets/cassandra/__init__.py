"""Cassandra: its facts, its start and checks, a session, and its schema."""
