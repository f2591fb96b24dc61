"""Builds what is published: a source distribution, and from it a wheel for Linux that brings the load generator.

    python tools/dist.py                                             into dist/, with the version of this checkout
    python tools/dist.py --repository URL --release v0.2.0           of a tag, with links to this repository

Works on a copy of the files that git knows, in which README's links lead to the repository: pages of packages show it
elsewhere. Without --repository they stay as they are, and no address of the project is stated. `auditwheel` names the
oldest glibc that runs the programs, so that pip refuses older systems. Needs the extra `dist`. Refuses a release whose
tag is not the version, or has no heading in CHANGELOG.md. Publishes nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
VERSION_VARIABLE = "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_SCALE_SWEEP"
RELATIVE = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!\w+:|#)([^)\s]+)", re.MULTILINE)  # of a link, or of a name of links
PICTURES = (".png", ".svg")


def main() -> int:
    """The exit code: 0 when both are built."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder for both; default: dist")
    parser.add_argument("--repository", default="", metavar="URL", help="where the project is published")
    parser.add_argument("--release", default="", metavar="TAG", help="refuse to build any other version")
    parser.add_argument("--needs", action="store_true", help="print the packages that this program needs, and end")
    wanted = parser.parse_args()
    if wanted.needs:
        print("\n".join(needs()))
        return 0
    version = version_of_checkout()
    if wanted.release and (reason := not_a_release(wanted.release, version)):
        print(f"dist: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="scale-dist-") as folder:
        source = staged(Path(folder) / "source", wanted.repository.rstrip("/"), wanted.release or "HEAD")
        for path in built(source, version, Path(folder) / "built", wanted.out):
            print(path)
    return 0


def needs() -> list[str]:
    """The packages of the extra `dist`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["optional-dependencies"]["dist"])


def version_of_checkout() -> str:
    """As setuptools-scm reads it from the tags."""
    command = (sys.executable, "-I", "-m", "setuptools_scm", "--root", str(ROOT))
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def not_a_release(tag: str, version: str) -> str:
    """Why this checkout cannot be released under the tag; "" if it can."""
    if tag != f"v{version}":
        return f"the tag is {tag}, and the version of this checkout is {version}: build in a clean checkout of the tag"
    if not re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        return f"CHANGELOG.md has no heading `## {version}`: write it in place of Unreleased"
    return ""


def staged(source: Path, repository: str, ref: str) -> Path:
    """A copy of the files that git knows. repository: "" leaves its links as they are."""
    names = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    for name in map(os.fsdecode, filter(None, names.split(b"\0"))):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    if repository:
        readme, project = source / "README.md", source / "pyproject.toml"
        readme.write_text(with_absolute_links(readme.read_text(encoding="utf-8"), repository, ref), encoding="utf-8")
        project.write_text(project.read_text(encoding="utf-8") + urls(repository, ref), encoding="utf-8")
    return source


def with_absolute_links(text: str, repository: str, ref: str) -> str:
    """A page whose relative links lead to the repository, those of pictures to the files themselves."""

    def absolute(link: re.Match[str]) -> str:
        begin, path = link.groups()
        return f"{begin}{repository}/{'raw' if path.endswith(PICTURES) else 'blob'}/{ref}/{path}"

    return RELATIVE.sub(absolute, text)


def urls(repository: str, ref: str) -> str:
    """The section of pyproject.toml with the addresses of the project."""
    pages = {"Source": repository, "Issues": f"{repository}/issues"} | {
        name: f"{repository}/blob/{ref}/{path}"
        for name, path in (("Documentation", "docs/index.md"), ("Changelog", "CHANGELOG.md"))
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{address}"\n' for name, address in pages.items())


def built(source: Path, version: str, between: Path, out: Path) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it."""
    environment = {**os.environ, VERSION_VARIABLE: version, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}

    def module(*words: str | Path) -> None:
        subprocess.run((sys.executable, "-I", "-m", *words), env=environment, stdout=sys.stderr, check=True)

    module("build", "--outdir", between, source)
    (archive,) = between.glob("*.tar.gz")
    (plain,) = between.glob("*.whl")
    repaired = between / "repaired"
    module("auditwheel", "repair", "--wheel-dir", repaired, plain)
    (wheel,) = repaired.glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(archive, out)), Path(shutil.copy2(wheel, out))


if __name__ == "__main__":
    sys.exit(main())
