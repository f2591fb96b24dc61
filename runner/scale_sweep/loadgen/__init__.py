"""Runs the load generator `scale-loadgen`: writes its spec, reads its JSON lines, and merges several processes.

Refuses to generate load itself, and to know a database: the target's knowledge arrives as lines of the spec.
"""
