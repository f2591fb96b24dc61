"""Does a stored run still say what was measured? Digests, and everything made again from the raw files.

`verify_run` is the door. Reads files, writes none. Refuses to call a run good because its files agree with each other:
points, verdicts, time series, fit and reports are computed anew from what the load generator and the sampler wrote.
"""

from runner.verify.result import Disagreement, Verification
from runner.verify.run import verify_run

__all__ = ["Disagreement", "Verification", "verify_run"]
