"""What continuous integration runs: `scale ab` with a gate, and its answer as a page for the summary of the job.

    python tools/prove_not_slower.py --margin 5% --summary page.md --arguments "cpu --cores 2 --b '--knob NAME=VALUE'"

`--arguments` are those of `scale ab`, as in a shell. The exit code is that of `scale ab`: 0 shown, 11 slower, 13 not
shown, 14 too few VALID trials, any other one not judged (docs/compare.md). The page is written whatever the code is; on
GitHub it is added to the summary of the job. Needs Python alone, and `scale` beside it or on PATH. Refuses to install
anything, and to judge by itself.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

ANSWERS = {
    0: "B is not slower",
    11: "B is slower",
    13: "not shown that B is not slower",
    14: "too few VALID trials of A or B",
}
NOT_JUDGED = "not judged"
SUMMARY_BYTES_MAX = 900_000  # GitHub takes 1 MiB of each step
LAST_LINES = 30


def main() -> int:
    """The exit code of `scale ab`."""
    wanted = parsed()
    arguments = shlex.split(wanted.arguments)
    wanted.results.mkdir(parents=True, exist_ok=True)
    # A folder of its own, in which there is no other run.
    results = Path(tempfile.mkdtemp(prefix="ab-", dir=wanted.results))
    results.chmod(0o755)
    command = ["ab", *arguments, "--prove-not-slower", wanted.margin, "--results", str(results), "--no-metrics", "-y"]
    print(f"scale {shlex.join(command)}", flush=True)
    code, answer, words = run([program(), *command])
    page = summary(code, shlex.join(command), answer, words, results)
    if wanted.summary:
        with wanted.summary.open("a", encoding="utf-8") as file:
            file.write(page)
    return code


def parsed() -> argparse.Namespace:
    """The command line. Ends with 2 if it is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--margin", default="5%", help="of --prove-not-slower; default: 5%%")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the run is stored")
    of_job = os.environ.get("GITHUB_STEP_SUMMARY")
    parser.add_argument("--summary", type=Path, default=of_job and Path(of_job), help="the page is added to this file")
    parser.add_argument("--arguments", required=True, help="arguments of scale ab in one text, as in a shell")
    wanted = parser.parse_args()
    try:
        shlex.split(wanted.arguments)
    except ValueError as error:
        parser.error(f"--arguments: {error}")
    return wanted


def program() -> str:
    """`scale` beside this Python, else on PATH."""
    beside = Path(sys.executable).parent
    found = shutil.which("scale", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        sys.exit("prove_not_slower: there is no command `scale`; install it first")
    return found


def run(command: Sequence[str]) -> tuple[int, str, str]:
    """The exit code, the standard output, and the end of the standard error. Both are shown as they come. A cancelled
    job ends the command as Ctrl-C does, so that it leaves nothing."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    process = subprocess.Popen(command, process_group=0, **pipes)
    for number in (signal.SIGTERM, signal.SIGINT):  # once, whoever of the job's processes got it
        signal.signal(number, lambda *_: process.send_signal(signal.SIGINT))
    answer: deque[str] = deque()
    words: deque[str] = deque(maxlen=LAST_LINES)
    readers = [
        threading.Thread(target=shown, args=(process.stdout, sys.stdout, answer)),
        threading.Thread(target=shown, args=(process.stderr, sys.stderr, words)),
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return process.wait(), "".join(answer), "".join(words)


def shown(source: IO[str], screen: IO[str], kept: deque[str]) -> None:
    """Shows each line, and keeps it."""
    for line in source:
        screen.write(line)
        screen.flush()
        kept.append(line)


def summary(code: int, command: str, answer: str, words: str, results: Path) -> str:
    """The page as Markdown: the answer, what was printed, and the report if there is one."""
    heading = f"## scale ab: {ANSWERS.get(code, NOT_JUDGED)}\n\nExit code {code} of `scale {command}`\n"
    printed = f"\n{fenced(answer if answer.strip() else words)}"
    reports = sorted(results.glob("*/report.md"))
    report = (
        f"\n<details><summary>Report</summary>\n\n{reports[-1].read_text('utf-8')}\n</details>\n" if reports else ""
    )
    page = heading + printed + report
    return page if len(page.encode()) <= SUMMARY_BYTES_MAX else heading + printed


def fenced(text: str) -> str:
    """The text as it was printed."""
    return f"````text\n{text.strip()}\n````\n"


if __name__ == "__main__":
    sys.exit(main())
