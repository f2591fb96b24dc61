"""The only writer of `results/`: one directory per run, saved after each trial, readable after a kill at any moment.

    manifest.json     schema 2; written before the first trial, completed at the end
    points.csv        one row per trial, replaced whole after each
    timeseries.csv    one row per trial and tick
    trials/<id>/      spec, loadgen.jsonl, samples.jsonl, server.log; trial.json, written last, says that it is done
    fit.json, report.md, report.html
Plan, trials, manifest and fits say their format. 1 (2026-11): the first. 2: a trial says its point.
`upgrade` reads what an older version stored; `rewrite` makes a run whole in today's format before trials are added.
"""
