"""Steps of CI's files, taken from them and run as a runner would, in a clone with the tag of a release."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAG = "v0.2.0"
STEP_S = 600
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


def git(*words: object, cwd: Path) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *identity, *map(str, words)], cwd=cwd, check=True, capture_output=True)


def tagged_clone(folder: Path) -> Path:
    """A clone whose last commit has the tag of a release, as CONTRIBUTING.md says how to make one."""
    git("clone", "--quiet", "--no-hardlinks", ROOT, folder, cwd=ROOT)
    log = folder / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## Unreleased", f"## {TAG[1:]}", 1))
    git("commit", "--quiet", "--all", "--message", "Release", cwd=folder)
    git("tag", TAG, cwd=folder)
    return folder


def evaluated(text: str, values: Mapping[str, str]) -> str:
    return EXPRESSION.sub(lambda found: values[found[1]], text)


def shell(script: str, folder: Path, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step in the shell of both runners, which ends at the first command that fails."""
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PIP_CACHE_DIR": str(cache),
            "PIP_NO_COMPILE": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )
