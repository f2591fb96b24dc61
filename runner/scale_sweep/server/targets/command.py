"""Any server: one that runs already, or the command that starts it."""

from __future__ import annotations

import http.client
import re
import shlex
import socket
import subprocess
from collections.abc import Callable, Mapping

from scale_sweep.base.errors import TargetError
from scale_sweep.base.spawning import run_within
from scale_sweep.loadgen.placeholders import filled, values_of
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSource, ServerSpec, Site
from scale_sweep.server.targets import Facts, Installation, Session, Target
from scale_sweep.server.targets.base import ENVIRONMENT
from scale_sweep.server.targets.common_facts import connections_knob

FACTS = Facts(
    name="command",
    title="the server",
    implementation="scale_sweep.server.targets.command:CommandTarget",
    methods=("command",),
    by_command=True,
    acknowledged="as its command sets it",
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    knobs=(connections_knob(None),),
    disk_placements=("own",),
)
ANSWER_S = 2.0
_LINES = 1000


class CommandSession(Session):
    def _pending(self) -> str:
        how, _, what = self._trial.subject.ready.partition(":")
        return _READY.get(how, CommandSession._port)(self, what)

    def _port(self, _: str) -> str:
        try:
            socket.create_connection((self._address.host, self._address.port), timeout=ANSWER_S).close()
        except OSError as error:
            return f"port {self._address.port}: {error.strerror or error}"
        return ""

    def _log(self, pattern: str) -> str:
        return "" if re.search(pattern, self.log_tail(_LINES)) else f"its log has no {pattern!r}"

    def _http(self, path: str) -> str:
        connection = http.client.HTTPConnection(self._address.host, self._address.port, timeout=ANSWER_S)
        try:
            connection.request("GET", path)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return f"{path}: {error}"
        finally:
            connection.close()
        return f"{path}: HTTP {status}" if status >= 400 else ""

    def _command(self, command: str) -> str:
        a = self._address
        values = values_of(self._trial, a.host, a.port, a.data_dir, a.disks)
        try:
            done = run_within(self.left_s(ANSWER_S), filled(shlex.split(command), values), start_new_session=True)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{command}: {error}"
        return f"{command}: code {done.returncode}: {done.stderr.strip()}" if done.returncode else ""

    def version(self) -> str:
        return ""

    def load_spec(self) -> Mapping[str, str]:
        raise TargetError("scale-loadgen has no driver for this server", remedy="give --load CMD")


_READY: Mapping[str, Callable[[CommandSession, str], str]] = {
    "log": CommandSession._log,
    "http": CommandSession._http,
    "command": CommandSession._command,
}


class CommandTarget(Target):
    session_type = CommandSession

    def find(self, home: str) -> Installation:
        return Installation(home=home, version="", source="--server")

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        values = values_of(trial, site.bind_address, site.port, site.data_dir, site.disks)
        argv = filled(shlex.split(trial.subject.command), values)
        return ServerSpec(argv=argv, env=ENVIRONMENT, ports=(site.port,))
