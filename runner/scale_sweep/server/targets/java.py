"""Servers in Java: their runtime, its resources and its report, logback, two programs as one server."""

from __future__ import annotations

import glob
import math
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import Site
from scale_sweep.server.targets.base import Target, cores_of
from scale_sweep.server.targets.installations import places, version_of
from scale_sweep.server.targets.records import Installation

LOG = "jvm.log"


class JavaTarget(Target):
    jar = ""  # the start of the name of the jar that has the version
    oldest: int = 17  # Java
    newest: int | None = 17

    def find(self, home: str) -> Installation | None:
        """With a Java that runs it."""
        return find_jars(self.facts.name, self.jar, home, self.oldest, self.newest)

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        return outside(home, self.oldest, self.newest)

    def java_runtime(self, home: str) -> str:
        return _folder(java(home, self.oldest, self.newest))

    def java(self, site: Site) -> str:
        return program(site, site.home, self.oldest, self.newest, image_java=self.facts.image_java)


def find_jars(name: str, jar: str, home: str, oldest: int, newest: int | None = None) -> Installation | None:
    """A server with its jars in `lib`; None also where no Java runs it. jar: the start of the name of the jar that has
    the version, `cassandra-all-`."""
    for folder, source in places(name, home):
        for path in Path(folder, "lib").glob(f"{jar}*.jar"):
            if java(folder, oldest, newest):
                return Installation(
                    home=str(Path(folder).resolve()), version=path.stem.removeprefix(jar), source=source
                )
    return None


def java(home: str, oldest: int, newest: int | None = None) -> str:
    """A program of these versions: beside the server, of JAVA_HOME, or on PATH; "" if there is none."""
    named = os.environ.get("JAVA_HOME", "")
    candidates = [
        *sorted(glob.glob(f"{home}/java/bin/java") + glob.glob(f"{home}/jdk/bin/java")),
        *([f"{named}/bin/java"] if named else []),
        shutil.which("java") or "",
    ]
    return next((path for path in candidates if path and oldest <= _major(path) <= (newest or math.inf)), "")


def outside(home: str, oldest: int, newest: int | None = None) -> tuple[str, ...]:
    """The runtime's folder, if it is not in the home."""
    runtime = _folder(java(home, oldest, newest))
    return (runtime,) if runtime and not Path(runtime).is_relative_to(Path(home).resolve()) else ()


def program(site: Site, home: str, oldest: int, newest: int | None = None, *, image_java: str = "") -> str:
    """As a server on the site runs it. home: of the server, as the site has it. image_java: a folder in its image."""
    if site.in_image:
        return f"{image_java}/bin/java"
    path = java(home, oldest, newest)
    copy = site.copies.get(_folder(path))
    return f"{copy}/bin/java" if copy else path or "java"


def _folder(program: str) -> str:
    """/usr/lib/jvm/java-17 of /usr/bin/java, which is a link there."""
    return str(Path(program).resolve().parent.parent) if program else ""


@cache
def _major(program: str) -> int:
    """17 of `JAVA_VERSION="17.0.15"` in its file, or of `openjdk version "17.0.15"`; 0 without one."""
    try:
        stated = re.search(
            r'^JAVA_VERSION="(\d+)', Path(_folder(program), "release").read_text(encoding="utf-8"), re.MULTILINE
        )
    except (OSError, UnicodeDecodeError):
        stated = None
    version = stated.group(1) if stated else version_of((program, "-version"), r'version "(\d+)', within_s=20)
    return int(version) if version else 0


def java_settings(trial: Trial) -> dict[str, str]:
    """As `effective` reads them back."""
    return {"jvm_processors": cores_of(trial), "jvm_heap": trial.knobs["heap"]}


def options(data_dir: str, processors: str, heap: str) -> tuple[str, ...]:
    """Flags for processors and a heap of fixed size ("512m"). The JVM writes its files to data_dir."""
    return (
        f"-XX:ActiveProcessorCount={processors}",
        f"-Xms{heap}",
        f"-Xmx{heap}",
        "-XX:-UsePerfData",
        f"-XX:ErrorFile={data_dir}/hs_err.log",
        f"-Djava.io.tmpdir={data_dir}/tmp",
        f"-Xlog:gc+init=info:file={data_dir}/{LOG}",
    )


def logback(kept: Mapping[str, str], more: str = "") -> str:
    """Warnings to standard output, and what some loggers write to files, by their paths. more: other loggers."""
    out = (
        '<appender name="out" class="ch.qos.logback.core.ConsoleAppender">'
        '<filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>WARN</level></filter>'
        "<encoder><pattern>%level %logger{0} %msg%n%ex{3}</pattern></encoder></appender>\n"
    )
    files = "".join(
        f'<appender name="{path}" class="ch.qos.logback.core.FileAppender"><file>{path}</file>'
        "<encoder><pattern>%msg%n</pattern></encoder></appender>"
        f'<logger name="{name}" level="INFO"><appender-ref ref="{path}"/></logger>\n'
        for path, name in kept.items()
    )
    return f'<configuration>{out}{files}{more}<root level="WARN"><appender-ref ref="out"/></root></configuration>\n'


def heap_bytes(heap: str) -> int:
    """2**29 of "512m"; 0 of what the JVM would refuse."""
    match = re.fullmatch(r"(\d+)([kmgt]?)", heap.lower())
    return int(match.group(1)) * 1024 ** " kmgt".index(match.group(2) or " ") if match else 0


def effective(data_dir: str) -> Mapping[str, str]:
    """By the JVM's log; empty without one."""
    try:
        log = Path(data_dir, LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    processors = re.search(r"CPUs: \d+ total, (\d+) available", log)
    heap = re.search(r"Heap Max Capacity: (\d+)([MG])", log)
    return {
        **({"jvm_processors": processors.group(1)} if processors else {}),
        **({"jvm_heap": f"{heap.group(1)}{heap.group(2).lower()}"} if heap else {}),
    }


# setpriv: a process whose parent is killed goes with it. The second program ends first, because it may need the first
# one until then, and gets ten seconds to store the rest. If one ends by itself, the other is killed: its last words
# would hide the reason, and its clients would wait.
_SCRIPT = """rm -f {ready}
setpriv --pdeathsig KILL {first} &
first=$!
trap 'ended=1' TERM
while [ ! -e {ready} ] && [ ! "$ended" ]; do
  kill -0 $first 2>/dev/null || exit 1
  sleep 0.2
done
code=0
if [ ! "$ended" ]; then
  trap : CHLD
  setpriv --pdeathsig KILL {second} &
  second=$!
  wait $second $first
  trap - CHLD
  trap '' TERM
  [ "$ended" ] || kill -KILL $first $second 2>/dev/null
  kill $second 2>/dev/null
  left=50
  while [ $left -gt 0 ] && kill -0 $second 2>/dev/null; do
    sleep 0.2
    left=$((left - 1))
  done
  kill -KILL $second 2>/dev/null
  wait $second
  code=$?
fi
kill $first 2>/dev/null
wait $first
exit $code
"""


def in_turn(ready: str, first: Sequence[str], second: Sequence[str]) -> str:
    """A script: the first program, then the second when the file `ready` exists, until either ends or the shell is to
    end. Its code is that of the second."""
    return _SCRIPT.format(ready=shlex.quote(ready), first=shlex.join(first), second=shlex.join(second))
