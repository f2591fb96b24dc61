"""Before anything starts: which server is measured and where (choice), and what would go wrong (findings).

`prepare` plans a sweep for this machine, `prepare_ab` two as variants of one run, `prepare_again` a stored run's. It
reads the machine and checks what is installed. Refuses to start, to make or to change anything.
"""

from scale_sweep.plan.preparing.choice import ServerChoice, choose
from scale_sweep.plan.preparing.findings import preflight, refuse_blocking
from scale_sweep.plan.preparing.prepared import Prepared, default_data_dir, prepare, prepare_ab, prepare_again

__all__ = [
    "ServerChoice",
    "Prepared",
    "choose",
    "default_data_dir",
    "preflight",
    "prepare",
    "prepare_ab",
    "prepare_again",
    "refuse_blocking",
]
