"""Serves a running sweep as Prometheus metrics on one loopback port, and writes a stored run as OpenMetrics.

`names` is the table of all metrics; docs/metrics.md is made from it. Refuses to compute what was not measured: an
unknown value has no sample.
"""

from scale_sweep.watch.exporter.past import openmetrics
from scale_sweep.watch.exporter.sink import Exporter

__all__ = ["Exporter", "openmetrics"]
