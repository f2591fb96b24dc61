"""Runs Prometheus and Grafana beside a sweep: starts them, finds them again, stops them, and loads stored runs."""

from scale_sweep.watch.dashboards.load import load_run, span_of
from scale_sweep.watch.dashboards.services import ServiceLeftover, find_leftovers, remove, url_of
from scale_sweep.watch.dashboards.state_directory import StateDirectory, own_state_directory
from scale_sweep.watch.dashboards.targets import announced, running_sweeps
from scale_sweep.watch.dashboards.updown import Status, down, images_of, page_of, purge, status, up

__all__ = [
    "ServiceLeftover",
    "StateDirectory",
    "Status",
    "announced",
    "down",
    "find_leftovers",
    "images_of",
    "load_run",
    "page_of",
    "purge",
    "remove",
    "own_state_directory",
    "running_sweeps",
    "span_of",
    "status",
    "up",
    "url_of",
]
