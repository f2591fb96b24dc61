"""CrateDB: its facts, its start and checks, and a session."""
