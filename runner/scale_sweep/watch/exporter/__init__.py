"""Serves a running sweep as Prometheus metrics on one loopback port, and writes a stored run as OpenMetrics.

`names` is the table of all metrics; docs/metrics.md is made from it. Refuses to compute what was not measured: an
unknown value has no sample.
"""

from scale_sweep.watch.exporter.openmetrics import openmetrics
from scale_sweep.watch.exporter.server import Exporter

__all__ = ["Exporter", "openmetrics"]
