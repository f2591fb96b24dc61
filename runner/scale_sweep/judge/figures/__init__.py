"""Makes a trial's figures from what it collected: window, measurement, evidence, time series. Pure.

Everything it needs is recorded, so a running trial and `scale verify` compute the same figures. Refuses to run
anything, to read a file, and to judge: scale_sweep/judge/verdict does that.
"""
