"""`scale dashboards up | down | status | load`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import PreflightError
from scale_sweep.cli.arguments import JSON, RESULTS, RUN

if TYPE_CHECKING:
    from contextlib import ExitStack

    from scale_sweep.watch.dashboards.state_directory import StateDirectory
    from scale_sweep.watch.dashboards.updown import Status
    from scale_sweep.watch.exporter.server import Exporter
    from scale_sweep.watch.live.state import LiveState

app = typer.Typer(
    no_args_is_help=True,
    help="Prometheus and Grafana beside a sweep, on this machine only.",
    epilog="Example: scale dashboards up",
)
BOTH = ("prometheus", "grafana")
BOARDS = ("live", "curve", "trial")


class How(StrEnum):
    AUTO = "auto"
    DOCKER = "docker"
    PROCESS = "process"


HOW = Annotated[How, typer.Option("--runtime", help="auto: containers, else installed programs.")]
IMAGES = Annotated[
    list[str] | None,
    typer.Option("--image", metavar="NAME=IMAGE", help="Another image: prometheus=... or grafana=...; repeatable."),
]


def register(root: typer.Typer) -> None:
    app.command("up", epilog="Example: scale dashboards up")(up)
    app.command("down", epilog="Example: scale dashboards down")(down)
    app.command("load", epilog="Example: scale dashboards load last")(load)
    app.command("status", epilog="Example: scale dashboards status --json")(status)
    root.add_typer(app, name="dashboards")


def state_directory() -> StateDirectory:
    from scale_sweep.watch.dashboards.state_directory import own_state_directory

    return own_state_directory()


def up(how: HOW = How.AUTO, image: IMAGES = None, as_json: JSON = False) -> None:
    """Start Prometheus and Grafana with the dashboards, and show their address. Programs that run already continue.

    The exit code is 3 without one of them, also if the other runs.
    """
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards import updown

    status = updown.up(state_directory(), how.value, updown.images_of(image or []), console.say)
    _show(status, as_json)
    if len(status.services) < len(BOTH):
        raise typer.Exit(PreflightError.exit_code)


def down(
    purge: Annotated[bool, typer.Option("--purge", help="Remove the data and the admin password too.")] = False,
    as_json: JSON = False,
) -> None:
    """Stop both services. Their data is kept for the next `up`."""
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards import updown

    stopped = updown.down(state_directory())
    if purge:
        updown.purge(state_directory())
    if as_json:
        console.show_json({"stopped": list(stopped), "purged": purge})
        return
    console.say(f"stopped {' and '.join(stopped)}" if stopped else "nothing ran")
    if purge:
        console.say(f"removed {state_directory().path}")


def status(as_json: JSON = False) -> None:
    """Show which services run, their address, and the sweeps that they watch."""
    from scale_sweep.watch.dashboards import updown

    _show(updown.status(state_directory()), as_json)


def load(run: RUN, results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """Load a stored run into the running Prometheus, so that the same dashboards show it."""
    from scale_sweep.cli import console
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.watch.dashboards import updown
    from scale_sweep.watch.exporter import openmetrics as metrics

    folder = find_run(results, run)
    stored, name = read_run(folder), folder.path.name
    console.say(f"making blocks of {name}; Prometheus shows them within a minute")
    openmetrics = metrics.openmetrics(folder, stored)
    fresh, span = updown.load_run(state_directory(), name, openmetrics), updown.span_of(openmetrics)
    services = updown.status(state_directory()).services
    pages = {board: updown.page_of(services, name, board, span) or None for board in BOARDS}
    if as_json:
        console.show_json({"run": name, "loaded": fresh, "from_s": span[0], "to_s": span[1], "pages": pages})
        return
    console.show_line(f"{name} {'is loaded' if fresh else 'was loaded before'}")
    for page in filter(None, pages.values()):
        console.show_line(f"open {page}")


def start_for_sweep() -> None:
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards import updown

    updown.up(state_directory(), How.AUTO.value, {}, console.say)


def serve(state: LiveState, port: int, stack: ExitStack, host: str = "") -> Exporter:
    """Metrics on this port, or on a free one, which Prometheus reads until the stack ends."""
    from scale_sweep.watch.dashboards.services import announced
    from scale_sweep.watch.exporter.server import Exporter

    exporter = Exporter(state, port)
    stack.enter_context(announced(state_directory(), state.run, exporter.port, host))
    return stack.enter_context(exporter)


def say_page() -> None:
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards import updown

    page = updown.status(state_directory()).page
    if page:
        console.say(f"watch it at {page}")


def _show(status: Status, as_json: bool) -> None:
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards.services import url_of

    if as_json:
        console.show_json(_document(status))
        return
    for name in BOTH:
        s = status.services.get(name)
        console.show_line(f"{name}: {f'{url_of(s)} ({s.how}, {s.program})' if s else 'does not run'}")
    for sweep in status.sweeps:
        console.show_line(f"running: {sweep.run}, metrics at http://{sweep.address}/metrics")
    if status.page:
        console.show_line(f"admin password (not needed for viewing): in {status.password_file}")
        console.show_line(f"open {status.page}")


def _document(status: Status) -> dict[str, Any]:
    from scale_sweep.watch.dashboards.services import url_of

    return {
        "state_directory": str(status.state),
        "page": status.page or None,
        "admin_password_file": str(status.password_file),
        "services": {
            name: {
                "how": s.how,
                "url": url_of(s),
                "program": s.program,
                "pid": s.pid or None,
                "container": s.container or None,
            }
            for name, s in status.services.items()
        },
        "sweeps": [{"run": s.run, "metrics": f"http://{s.address}/metrics"} for s in status.sweeps],
    }
