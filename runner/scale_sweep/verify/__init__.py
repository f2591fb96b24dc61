"""Does a stored run still contain what was measured? Checks digests, and makes everything again from the raw files.

`verify_run` checks a run. It reads files and writes none. Refuses to call a run good because its files agree with each
other: points, verdicts, time series, fit and reports are computed again from what the load generator and the sampler
wrote.
"""

from scale_sweep.verify.result import Disagreement, Verification
from scale_sweep.verify.run import verify_run

__all__ = ["Disagreement", "Verification", "verify_run"]
