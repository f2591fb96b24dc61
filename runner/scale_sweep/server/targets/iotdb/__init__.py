"""IoTDB: its facts, the files that it starts from (files.py), its checks, and a session."""
