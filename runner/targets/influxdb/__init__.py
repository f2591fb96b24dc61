"""InfluxDB 1.x: its facts (facts.py), start and checks (target.py), and a session (session.py)."""
