"""The options of `scale sweep` for several servers at once. Refuses combinations that mean nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from scale_sweep.base.errors import UsageError

_PANEL = "Several servers"


@dataclass(frozen=True, kw_only=True)
class FleetFlags:
    """The options as they were written."""

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
            "--cluster",
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
        """Whether the sweep is that of a fleet."""
        return self.each_server or self.cluster is not None

    def refuse_alone(self) -> None:
        """Raises UsageError for an option that needs a fleet."""
        if self.skip_missing:
            raise UsageError(
                "--skip-missing: the sweep has one server", remedy="--each-server or --cluster has several"
            )
