"""TDengine 3.3: its facts, its start and checks, and a session.

The other files have one subject each: configuration, limits, client library, placement, counting, and taosBenchmark as
a load generator.
"""
