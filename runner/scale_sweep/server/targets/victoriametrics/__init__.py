"""VictoriaMetrics: its facts (facts.py), start and checks (target.py), and a session (session.py)."""
