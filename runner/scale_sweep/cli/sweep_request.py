"""The request of a sweep, as its commands take it from their flags."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import completion
from scale_sweep.cli.arguments import NEW_RESULTS
from scale_sweep.sweep.axis import commands

_PANEL = "Several servers"

WHAT = Annotated[
    str,
    typer.Argument(
        metavar="|".join((*commands(), "NAME", "FILE.toml")),
        help=f"The axis: {', '.join(f'`{word}`' for word in commands())}, a bundled sweep by name, or a file.",
        autocompletion=completion.sweeps,
    ),
]
RESULT_JSON = Annotated[bool, typer.Option("--json", help="Print the result as RESULT_JSON on standard output.")]
METRICS_PORT = Annotated[
    int,
    typer.Option(
        "--metrics-port",
        min=0,
        max=65535,
        metavar="PORT",
        help="Serve the run to Prometheus on this port of 127.0.0.1, or on a free one if it is in use. 0: no metrics.",
    ),
]
NO_METRICS = Annotated[bool, typer.Option("--no-metrics", help="Serve no metrics.")]
DASHBOARDS = Annotated[bool, typer.Option("--dashboards", help="Start Prometheus and Grafana if they do not run.")]
WAIT_QUIET = Annotated[
    str | None,
    typer.Option(
        "--wait-quiet",
        metavar="TIME",
        help="Wait at most so long before each trial, like 5m, until other programs use little of the server's CPUs.",
    ),
]
SKIP_UNAVAILABLE = Annotated[
    bool,
    typer.Option("--skip-unavailable", help="Of several databases of --target, leave out those that are not here."),
]
YES = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before a long sweep, nor before formatting disks.")]
HOSTS = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="HOSTS.ini",
        help="Server and load generator on the hosts of this Ansible inventory (`scale hosts prepare`).",
    ),
]


@dataclass(frozen=True, kw_only=True)
class SweepRequest:
    what: WHAT
    results: NEW_RESULTS = Path("results")
    as_json: RESULT_JSON = False
    yes: YES = False
    metrics_port: METRICS_PORT = 9464
    no_metrics: NO_METRICS = False
    with_dashboards: DASHBOARDS = False
    skip_unavailable: SKIP_UNAVAILABLE = False
    wait_quiet: WAIT_QUIET = None
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine", metavar="FILE", help="With --target simulated: the machine that this file describes."
        ),
    ] = None
    hosts: HOSTS = None
    insecure_network: Annotated[
        bool, typer.Option("--insecure-network", help="With --hosts: also a database without a password.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class FleetFlags:
    each_server: Annotated[
        bool,
        typer.Option(
            "--each-server",
            help="With --hosts: one run on every host of [server], in parallel.",
            rich_help_panel=_PANEL,
        ),
    ] = False
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tls://HOST:PORT",
            help="One run on every host of a Dask cluster, with the load on the same host.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing", help="Leave out levels that a host does not have, on that host.", rich_help_panel=_PANEL
        ),
    ] = False

    @property
    def is_wanted(self) -> bool:
        return self.each_server or self.cluster is not None

    def refuse_alone(self) -> None:
        """Raises UsageError."""
        if self.skip_missing:
            raise UsageError(
                "--skip-missing: the sweep has one server", remedy="--each-server or --cluster has several"
            )
