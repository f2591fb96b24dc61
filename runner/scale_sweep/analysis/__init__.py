"""Several trials: noise, the fitted curve, comparisons, soaks."""
