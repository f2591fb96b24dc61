"""The defaults that --quick replaces: more and shorter trials, and a sentinel in place of a drift check. Data only.

A run of --quick answers with a ratio: the speedup, from the ratios within blocks. Its error comes from trial to trial,
so seven short trials of a level know it better than three long ones; scale_sweep/plan/replicates.py plans fewer where
seven take too long. Drift cancels within a block, so the run needs no drift check. Refuses to replace what a file or a
flag says.
"""

QUICK_DEFAULTS = {"method.replicates": "7", "method.drift_check": "long"}
