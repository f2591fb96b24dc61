"""One trial: provision → ready → schema → preload → check → warm-up → measure → drain → flush → verify → teardown.

It combines a runtime, a target, the load generator and the sampler, and yields events. It neither prints nor writes
files, and does not know its listeners.

`run` walks through the stages of an `order`. In their sequence: `provision` starts the server, `waiting` sends it every
request with a limit, `preload` provides the rows that reads find, `answers` checks answers, `loads` makes the load,
`loading` runs it with the sampler, and `stored_rows` compares what is stored. `disks` syncs and watches the disks;
`stages` has the results of the stages.
"""
