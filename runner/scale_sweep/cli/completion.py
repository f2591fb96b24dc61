"""Candidates for shell completion: runs, databases, their knobs, servers to install, workloads, tables, sweeps."""

from __future__ import annotations

from pathlib import Path

import typer

RUNS_MAX = 50  # the newest


def runs(context: typer.Context, incomplete: str) -> list[str]:
    from scale_sweep.results.store.reader import run_paths

    names = [path.name for path in run_paths(Path(context.params.get("results") or "results"))]
    return [name for name in ("last", *reversed(names[-RUNS_MAX:])) if name.startswith(incomplete)]


def targets(incomplete: str) -> list[str]:
    from scale_sweep.server.targets import TARGETS

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in ("auto", *TARGETS.names()) if name.startswith(last)]


def servers(incomplete: str) -> list[str]:
    from scale_sweep.server.pinned.pins import read_pins

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in read_pins().servers if name.startswith(last)]


def knobs(context: typer.Context, incomplete: str) -> list[str]:
    """Names that are known of the databases of --target, or of all, with `=`."""
    from scale_sweep.server.targets import all_facts

    chosen = str(context.params.get("target") or "").split(",")
    every = all_facts()
    facts = [one for one in every if one.name in chosen] or every
    names = {name for one in facts for name in (*(knob.name for knob in one.knobs), *one.vendor_defaults, *one.loading)}
    return sorted(f"{name}=" for name in names if name.startswith(incomplete) and " " not in name)


def workloads(incomplete: str) -> list[str]:
    from scale_sweep.sweep.named_workloads import NAMED

    return [name for name in NAMED if name.startswith(incomplete)]


def tables(incomplete: str) -> list[str]:
    from scale_sweep.results.store.outside import bundled_tables

    return [name for name in bundled_tables() if name.startswith(incomplete)]


def prices(incomplete: str) -> list[str]:
    from scale_sweep.sweep.prices import bundled_prices

    return [*(name for name in bundled_prices() if name.startswith(incomplete)), *_toml_files(incomplete)]


def sweeps(incomplete: str) -> list[str]:
    from scale_sweep.sweep.axis import commands
    from scale_sweep.sweep.file import bundled_sweeps

    return [
        *(word for word in (*commands(), *bundled_sweeps()) if word.startswith(incomplete)),
        *_toml_files(incomplete),
    ]


def _toml_files(incomplete: str) -> list[str]:
    folder, slash, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(folder + slash or ".").iterdir())
    except (OSError, ValueError):
        entries = []
    return [
        f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
        for path in entries
        if path.name.startswith(start) and (path.suffix == ".toml" or (path.is_dir() and not path.name.startswith(".")))
    ]
