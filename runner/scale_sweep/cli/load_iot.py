"""`scale load --iot`: a configuration of IoT-benchmark, done by scale-loadgen. Wiring only; see
scale_sweep/iotbenchmark."""

from __future__ import annotations

import os

import typer

from scale_sweep.base.errors import EXIT_INTERRUPTED


def load_iot(path: str, overrides: tuple[str, ...], *, as_json: bool) -> None:
    """Loads, and prints the result matrix; as_json: a JSON document on standard output instead."""
    from scale_sweep.base.interrupts import current
    from scale_sweep.cli import console
    from scale_sweep.iotbenchmark.output import document, matrix_lines
    from scale_sweep.iotbenchmark.run import read_file, run_job
    from scale_sweep.iotbenchmark.stored import store_results
    from scale_sweep.loadgen.binary import loadgen_path

    job = read_file(path, overrides, os.environ)
    result = run_job(job, loadgen_path(), console.say, current())
    if result.done is not None:
        if as_json:
            console.show_json(document(job, result.done))
        else:
            for line in matrix_lines(job, result.done):
                console.show_line(line)
        store_results(job, result.done)
    if result.failure is not None:
        raise result.failure
    if result.done is None or result.done.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
