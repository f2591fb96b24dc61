"""Property-based tests draw the same examples in every run: what a run says depends on the code alone. And a signal is
one however the tests were started.

`SCALE_EXAMPLES=2000` draws so many at random instead, to look for what these do not show.

A Python that a test starts (`python -c`) imports the package of the checkout, as the tests do. The command `scale`
is the installed one (tests/integration/cli.py).

The tests have a state of their own, so that `scale clean` in one of them removes nothing of another `scale`.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from scale_sweep.base.spawning import go_direct
from tests.needs import need
from tools.run_tests import ALONE

asked = int(os.environ.get("SCALE_EXAMPLES", "0"))
settings.register_profile("same", max_examples=40, derandomize=True, database=None, deadline=None)
settings.register_profile("search", max_examples=asked or 1, deadline=None, phases=(Phase.generate,))
settings.load_profile("search" if asked else "same")

# A shell starts background jobs with SIGINT and SIGQUIT ignored, and what ignores one hands that down; tests send both.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

go_direct()  # tests ask servers of this machine

# Open to the user that servers run as, on a disk, and below a directory that only this user may change.
STATE = tempfile.mkdtemp(prefix="scale-tests-", dir="/var/tmp")
os.chmod(STATE, 0o711)
os.environ.setdefault("SCALE_STATE_DIR", f"{STATE}/state")
os.environ.setdefault("SCALE_DISK_LIMIT", "off")  # test_kept_limit.py measures
os.environ.setdefault("SCALE_OTHER_SWEEPS", "off")  # tests run side by side; test_two_sweeps.py switches it on
os.environ.setdefault("SCALE_NEW_PAGES", "off")  # each sweep and plan would touch gigabytes; test_new_pages.py measures

for exported in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):  # by some shells: they change what commands print
    os.environ.pop(exported, None)

# Hundreds of processes import the package: without its bytecode, each compiles it again, which takes 1 s of CPU time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

CHECKOUT = str(Path(__file__).resolve().parents[1] / "runner")
os.environ["PYTHONPATH"] = os.pathsep.join([CHECKOUT, *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.hookimpl(tryfirst=True)  # before tests without the mark are left out
def pytest_collection_modifyitems(items):
    """Refuses a test that only an imported name marks as `alone`: tools/run_tests.py finds these tests by their files."""
    hidden = {item.path for item in items if item.get_closest_marker("alone")}
    hidden = [path for path in sorted(hidden) if ALONE not in path.read_text(encoding="utf-8")]
    if hidden:
        raise pytest.UsageError(f"{ALONE} does not stand in {', '.join(map(str, hidden))}")


@pytest.hookimpl(tryfirst=True)  # before fixtures
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            need(name)


def pytest_unconfigure():
    shutil.rmtree(STATE, ignore_errors=True)


@pytest.fixture
def shared():
    """A directory in which everybody can create names, as in /tmp."""
    path = Path(f"/var/tmp/scale-test-users-{os.getpid()}")
    path.mkdir()
    path.chmod(0o1777)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)
