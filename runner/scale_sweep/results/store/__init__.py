"""The only writer of `results/`: one directory per run, saved after each trial, readable after a kill at any moment.

    manifest.json     written before the first trial, completed at the end
    points.csv        one row per trial, replaced whole after each
    timeseries.csv    one row per trial and tick
    trials/<id>/      spec, loadgen.jsonl, samples.jsonl, server.log; trial.json, written last, says that it is done
    fit.json, report.md, report.html
Plan, trials, manifest and fits state their schema (codec.py). A document of another schema is refused.
"""
