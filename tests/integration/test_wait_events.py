"""A real PostgreSQL in which every statement of the load updates one row: its wait events say that connections wait for
locks, and they are kept with the samples."""

import json
import os
import tempfile
from dataclasses import replace

from bench.provoke import hot_row_home
from scale_sweep.base.interrupts import Stop
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import Sample, SampleTaken
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.texts import samples_text
from tests.unit.trial_orders import result_of, trial_order


def test_a_row_that_every_writer_updates_shows_in_the_wait_events(folder, monkeypatch):
    flags = {"load__duration": "4s", "knobs__connections": "8", "workload__rows_per_request": "10"}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as programs:
        os.chmod(programs, 0o755)  # the server does not run as root
        monkeypatch.setenv("XDG_CACHE_HOME", programs)  # no server that was installed into a closed home directory
        order = replace(trial_order(folder, "postgres", **flags), home=hot_row_home(programs))
        events = list(run_trial(order, Stop()))
    result = result_of(events)
    assert result.measurement.rows, result.verdict
    samples = [event.sample for event in events if isinstance(event, SampleTaken)]
    waits = measure_window(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns).waits
    assert sum(share for name, share in waits.items() if name.startswith("lock: ")) > 0.4, waits
    stored = samples_text(samples).splitlines()[-1]
    assert from_plain(json.loads(stored), Sample, folder).waits_total == samples[-1].waits_total
