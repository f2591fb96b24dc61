"""taosBenchmark's subscribe files: topics made, and read by consumers until no message comes any more.

The load generator consumes; no client library enters this process. Refuses whatever it cannot do, by the path of its
key.
"""
