"""IoT-benchmark's configuration file, read into a job that our own load generator does on a server that already runs.

The same load, and its result matrix. Refuses, by key and all at once, what would be another load here; a key that has
no meaning here is named and ignored.
"""
