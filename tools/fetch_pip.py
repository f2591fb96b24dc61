"""Puts pip into this virtual environment where Python came without ensurepip (bare Debian).

Takes the newest pip wheel that PyPI names, checks its SHA-256 against PyPI's index, and lets pip install itself.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

INDEX = "https://pypi.org/pypi/pip/json"


def main() -> None:
    """Downloads, checks and runs the wheel. Raises SystemExit with one sentence."""
    with urllib.request.urlopen(INDEX, timeout=60) as answer:
        files = json.load(answer)["urls"]
    wheel = next(f for f in files if f["packagetype"] == "bdist_wheel")
    with urllib.request.urlopen(wheel["url"], timeout=120) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        sys.exit("setup: the pip wheel does not have the hash that PyPI gives for it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / wheel["filename"]
        path.write_bytes(content)
        subprocess.run([sys.executable, f"{path}/pip", "install", "--quiet", str(path)], check=True)


if __name__ == "__main__":
    main()
