"""A host's side of a sweep on several hosts: one process for each host and run, JSON lines in and out.

`python -m scale_sweep.agent` is started by OpenSSH and ends with its controller. `serve` answers requests, `lines` has
their form, `trials` runs the trials of the server's host and `setup` holds what they share, `loads` runs the load of a
load host. Refuses pickle, and to outlive its controller.
"""
