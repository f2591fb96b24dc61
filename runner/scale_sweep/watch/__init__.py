"""A sweep while it runs, for those who watch it: its state (`live`), metrics (`exporter`), Prometheus and Grafana
(`dashboards`)."""
