"""All tests: those that mostly wait for slow disks beside those that mostly compute; the ones that measure run alone.

With arguments it is pytest with these arguments. Standard library only, besides pytest.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

DISKS = ("tests/integration/test_disks.py", "tests/integration/test_disk_sweep.py")
COMPUTING = ("tests/unit", "tests/loadgen", "tests/contract")
PYTEST = (sys.executable, "-m", "pytest")


def main(arguments: list[str]) -> int:
    """The exit code of the first part that failed, 0 when all passed."""
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        with subprocess.Popen([*PYTEST, *DISKS], stdout=said, stderr=subprocess.STDOUT) as disks:
            try:
                computing = subprocess.call([*PYTEST, *COMPUTING])
                disks.wait()
            finally:
                if disks.poll() is None:
                    disks.terminate()
        said.seek(0)
        sys.stdout.write(said.read())
        sys.stdout.flush()
    measured = subprocess.call([*PYTEST, "tests/integration", *(f"--ignore={path}" for path in DISKS)])
    return next((code for code in (computing, disks.returncode, measured) if code), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
