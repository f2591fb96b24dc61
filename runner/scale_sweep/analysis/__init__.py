"""Several trials: spread and drift, the fitted curve, comparisons of runs, the parts of a soak."""
