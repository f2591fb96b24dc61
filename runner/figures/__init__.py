"""From what a trial collected to its figures: window, measurement, evidence, time series. Pure.

What is recorded is all that is needed, so that a trial that runs and `scale verify` do the same sums. Refuses to run
anything, to read a file, and to judge: that is runner/verdict.
"""
