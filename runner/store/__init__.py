"""The only writer of `results/`: one directory per run, saved after each trial, readable after a kill at any moment.

    manifest.json     schema 1; written before the first trial, completed at the end
    points.csv        one row per trial, replaced whole after each
    timeseries.csv    one row per trial and tick
    trials/<id>/      spec, loadgen.jsonl, samples.jsonl, server.log; trial.json, written last, says that it is done
    fit.json, report.md, report.html
Schema 1 (2026-11): the first.
"""
