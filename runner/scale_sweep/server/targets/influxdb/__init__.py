"""InfluxDB: version 1.x is `target.py` with `session.py` and `facts.py`, version 2 is `v2.py` with `v2_session.py` and
`v2_facts.py`. What they share is in `influxql.py` and `queries.py`."""
