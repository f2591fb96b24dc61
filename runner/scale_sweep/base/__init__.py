"""Parts that every package may use: errors, units, texts, input files, signals, child processes, registries.

Refuses to know a sweep, a server or a measured value.
"""
