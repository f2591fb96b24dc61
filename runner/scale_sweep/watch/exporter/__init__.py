"""Serves a running sweep as Prometheus metrics on one loopback port, and writes a stored run as OpenMetrics."""

from scale_sweep.watch.exporter.openmetrics import openmetrics
from scale_sweep.watch.exporter.server import Exporter

__all__ = ["Exporter", "openmetrics"]
