"""KairosDB on H2 or on Cassandra."""
