"""Every named workload that reads, on a real TDengine by the command as a user types it: it is asked all of their queries,
and every answer is right.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_named_workloads.py
"""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.contract.tdengine_contract import HOME, NEEDS_SERVER
from tests.integration.test_named_workloads import READING, sweep_and_check

pytestmark = list(NEEDS_SERVER)


@pytest.mark.parametrize("workload", READING)
def test_tdengine_is_asked_what_it_can_answer(tmp_path, workload):
    data_dir = Path(tempfile.mkdtemp(prefix="scale-td-workload-", dir="/var/tmp"))  # open to the server's user
    data_dir.chmod(0o755)
    try:
        sweep_and_check(tmp_path, data_dir, workload, ("tdengine",), "--duration", "1s", "--home", str(HOME))
    finally:
        shutil.rmtree(data_dir)
