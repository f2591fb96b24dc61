"""IoT-benchmark's configuration file, read into a job that our own load generator does on a running server."""
