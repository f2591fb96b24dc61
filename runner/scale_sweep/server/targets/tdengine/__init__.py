"""TDengine 3.3: its facts (facts.py), start and checks (target.py), and a session (session.py).

The other files have one subject each: configuration, limits, client library, placement, counting, and taosBenchmark as
a load generator.
"""
