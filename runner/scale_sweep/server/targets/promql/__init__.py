"""PromQL as VictoriaMetrics and Prometheus both have it: selectors, conditions, and the rows of an answer."""
