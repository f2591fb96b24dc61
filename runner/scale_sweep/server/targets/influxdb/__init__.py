"""InfluxDB: version 1.x in the files `influxdb_*.py`, version 2 in `influxdb2_*.py`."""
