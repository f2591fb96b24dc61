"""OpenTSDB on a standalone HBase: facts, what it starts from, how it is checked, a session, and HBase's own calls."""
