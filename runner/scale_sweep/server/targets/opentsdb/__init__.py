"""OpenTSDB on a standalone HBase."""
