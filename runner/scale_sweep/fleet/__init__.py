"""The same sweep on several servers: one whole run for each, side by side.

`engine` is the seam: an engine knows hosts, starts a run on each, passes its lines on, and stops it. `each_server`
runs on the hosts of an inventory, `cluster` on the hosts of a Dask cluster. `run` starts the runs of any engine and
waits for them. Refuses to split a trial over hosts, and to know which engine it has.
"""
