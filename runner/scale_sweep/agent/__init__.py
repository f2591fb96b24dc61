"""A host's side of a sweep on several hosts: one process for each host and run, JSON lines in and out."""
