"""Reads taosBenchmark's insert options and JSON files into a Job for our own load generator.

The work and the two result lines are the same, so scripts written for taosBenchmark still work. Refuses, by name and
all at once, whatever the load generator cannot do: no option is dropped silently. Refuses queries and subscriptions.
"""
