"""All tests: those that mostly wait for slow disks beside the others; then, alone, those marked `alone`: they measure.

With arguments it is pytest with these arguments. Standard library only, besides pytest.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

DISKS = tuple(f"tests/integration/{name}.py" for name in ("test_disks", "test_disk_sweep", "test_striped_disks"))
OTHERS = ("tests", *(f"--ignore={path}" for path in DISKS))
PYTEST = (sys.executable, "-m", "pytest")


def main(arguments: list[str]) -> int:
    """The exit code of the first part that failed, 0 when all passed."""
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        with subprocess.Popen([*PYTEST, *DISKS], stdout=said, stderr=subprocess.STDOUT) as disks:
            try:
                others = subprocess.call([*PYTEST, *OTHERS, "-m", "not alone"])
                disks.wait()
            finally:
                if disks.poll() is None:
                    disks.terminate()
        said.seek(0)
        sys.stdout.write(said.read())
        sys.stdout.flush()
    measured = subprocess.call([*PYTEST, *OTHERS, "-m", "alone"])
    return next((code for code in (others, disks.returncode, measured) if code), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
