"""Runs Prometheus and Grafana beside a sweep: starts them, finds them again, stops them, and loads stored runs."""

from scale_sweep.watch.dashboards.services import (
    ServiceLeftover,
    announced,
    find_leftovers,
    remove,
    running_sweeps,
    url_of,
)
from scale_sweep.watch.dashboards.state_directory import StateDirectory, own_state_directory
from scale_sweep.watch.dashboards.updown import Status, down, images_of, load_run, page_of, purge, span_of, status, up

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
