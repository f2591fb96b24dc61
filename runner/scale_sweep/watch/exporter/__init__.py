"""Serves a running sweep as Prometheus metrics on one loopback port, and writes a stored run as OpenMetrics."""
