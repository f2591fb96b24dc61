"""Reads counters of the machine once a second during a trial."""
