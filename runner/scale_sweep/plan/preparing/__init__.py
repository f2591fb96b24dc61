"""Before anything starts: which server is measured and where, and what would go wrong.

`prepare` plans a sweep for this machine, `prepare_plan` one that is only shown, `prepare_ab` two as variants of one
run, `prepare_again` a stored run's (`prepared`); `prepare_elsewhere` plans for a machine that is not here
(`elsewhere`). `choice` selects the servers, `assumed` those that a plan can do without, `data_place` the directory for
data. `specs` and `same_server` refuse plans, and `findings` lists what would go wrong: with the machine
(`machine_findings`), with a server (`server_findings`), and by the plan. All of it only reads the machine, except
`own_runs`, which notes the runs that begin here. Refuses to start, to make or to change anything else.
"""

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
