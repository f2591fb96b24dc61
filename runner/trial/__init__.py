"""One trial: provision → ready → schema → warm-up → measure → drain → flush → verify → teardown.

Composes a runtime, a target, the load generator and the sampler, and yields events. It neither prints nor writes files,
and does not know who listens.
"""
