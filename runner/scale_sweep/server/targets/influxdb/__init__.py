"""InfluxDB 1 and 2."""
