"""Makes a trial's figures from what it collected: window, measurement, evidence, time series."""
