"""Does a stored run still contain what was measured?"""

from scale_sweep.verify.digests import Disagreement, Verification
from scale_sweep.verify.run import verify_run

__all__ = ["Disagreement", "Verification", "verify_run"]
