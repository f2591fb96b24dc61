"""One trial: provision → ready → schema → warm-up → measure → drain → flush → verify → teardown.

It combines a runtime, a target, the load generator and the sampler, and yields events. It neither prints nor writes
files, and does not know its listeners.
"""
