"""The door to the load generator `scale-loadgen`: a spec out, JSON lines in, several processes merged into one.

Refuses to generate load itself, and to know a database: what only the target knows comes in as spec lines.
"""
