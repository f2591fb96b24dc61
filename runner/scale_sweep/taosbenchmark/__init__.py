"""Reads taosBenchmark's insert options and JSON files into a Job for our own load generator."""
