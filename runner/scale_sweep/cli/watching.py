"""`scale watch`: shows a sweep that runs in another terminal. Wiring only."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from scale_sweep.cli.arguments import RESULTS, RUN

POLL_S = 0.5


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("watch", epilog="Example: scale watch last")(watch)


def watch(run: RUN, results: RESULTS = Path("results")) -> None:
    """Watch a sweep that runs in another terminal of this machine; Ctrl-C ends the watching, not the sweep."""
    from scale_sweep.base import output
    from scale_sweep.cli import console, views
    from scale_sweep.cli.console.live import LiveView
    from scale_sweep.results.store.follow import Follower
    from scale_sweep.results.store.held import is_held
    from scale_sweep.results.store.reader import find_run, read_manifest, read_run
    from scale_sweep.watch.live import LiveState

    output.need_messages()
    path = find_run(results, run)
    follower = Follower(path)
    try:
        with LiveView(LiveState(run=path.resolve().name, plan=follower.plan)) as view:
            goes_on = True
            while goes_on:
                goes_on = is_held(path)
                for event in follower.poll():
                    view(event)
                if goes_on:
                    time.sleep(POLL_S)
    except KeyboardInterrupt:
        console.say("watching ended; the sweep continues")
        return
    status = read_manifest(path).get("status")
    if status == "complete":
        views.show_run(read_run(path))
    else:
        console.say(f"no process writes this run any more; continue it with: scale resume {path.name}", "yellow")
