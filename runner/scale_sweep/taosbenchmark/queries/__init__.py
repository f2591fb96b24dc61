"""taosBenchmark's query files: statements asked so often by so many threads, of given tables or of each subtable."""
