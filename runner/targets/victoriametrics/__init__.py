"""VictoriaMetrics: its facts (facts.py), how it is started and checked (target.py), and a session (session.py)."""
