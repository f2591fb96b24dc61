"""IoTDB: facts (facts.py), files it starts from (files.py), how it is checked (target.py), a session (session.py)."""
