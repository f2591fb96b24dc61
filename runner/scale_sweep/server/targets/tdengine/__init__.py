"""TDengine 3.3: its facts, its start and checks, and a session."""
