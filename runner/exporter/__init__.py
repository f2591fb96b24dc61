"""A running sweep as Prometheus metrics on one port of the loopback interface, and a stored run as OpenMetrics.

`names` is the table of all metrics; docs/metrics.md is made from it. Refuses to compute what was not measured: a value
that is not known has no sample.
"""

from runner.exporter.past import openmetrics
from runner.exporter.sink import Exporter

__all__ = ["Exporter", "openmetrics"]
