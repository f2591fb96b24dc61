"""Before anything starts: which server is measured and where, and what would go wrong."""

from scale_sweep.plan.preparing.choice import ServerChoice, choose
from scale_sweep.plan.preparing.data_place import DataPlace, data_place, default_data_dir
from scale_sweep.plan.preparing.elsewhere import prepare_elsewhere
from scale_sweep.plan.preparing.findings import preflight, refuse_blocking
from scale_sweep.plan.preparing.prepared import (
    Prepared,
    prepare,
    prepare_ab,
    prepare_again,
    prepare_plan,
)

__all__ = [
    "DataPlace",
    "Prepared",
    "ServerChoice",
    "choose",
    "data_place",
    "default_data_dir",
    "preflight",
    "prepare",
    "prepare_ab",
    "prepare_again",
    "prepare_elsewhere",
    "prepare_plan",
    "refuse_blocking",
]
