"""A node of Cassandra, for every target that starts one: its start (node.py) and statements of CQL (cql.py)."""
