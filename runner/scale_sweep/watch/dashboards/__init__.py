"""Runs Prometheus and Grafana beside a sweep: starts them, finds them again, stops them, and loads stored runs."""
