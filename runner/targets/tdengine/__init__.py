"""TDengine 3.3: its facts (facts.py), how it is started and checked (target.py), and a session with it (session.py).

The other files are what these are made of, each of one question: configuration, limits, client library, placement,
counting, and taosBenchmark as a load generator.
"""
