"""The only writer of `results/`: one directory per run, saved after each trial, readable after a kill at any moment."""
