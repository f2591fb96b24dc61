"""KairosDB on H2: its facts (facts.py), how it is started and checked (target.py), a session with it (session.py)."""
