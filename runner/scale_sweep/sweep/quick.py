"""The defaults that --quick replaces: more and shorter trials, and a sentinel in place of a drift check."""

QUICK_DEFAULTS = {"method.replicates": "7", "method.drift_check": "long"}
