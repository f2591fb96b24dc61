"""taosBenchmark's query files: statements asked so often by so many threads, of given tables or of each subtable.

The load generator asks; nothing is timed here. Refuses whatever it cannot do, by the path of its key.
"""
