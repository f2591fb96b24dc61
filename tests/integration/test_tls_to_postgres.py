"""TLS to a PostgreSQL that runs already: Debian's server, because the wheel's has none, and certificates of openssl."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.integration.cli import assert_measured, run, start, waited_for
from tests.integration.test_running_servers import SWEEP
from tests.loadgen.postgres_server import NOBODY, home_with_tls, running_postgres
from tests.needs import need

LOAD = ("--rows-per-request", "1000", "--no-metrics", "-y")
NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
SECRET = "s3cret-of-nobody"


def openssl(folder, words):
    subprocess.run([need("openssl"), *words.split()], cwd=folder, check=True, capture_output=True)


def certificates(folder):
    """Of two authorities, and of a server named localhost, whose key only the server's user reads."""
    for name in ("ca", "other"):
        openssl(folder, f"req -x509 {NEW_KEY} -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem")
    openssl(folder, f"req {NEW_KEY} -subj /CN=server -keyout server.key -out server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    sign = "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem"
    openssl(folder, sign)
    (folder / "server.key").chmod(0o600)
    if os.geteuid() == 0:
        os.chown(folder / "server.key", NOBODY, NOBODY)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home, folder = home_with_tls(), Path(f"/var/tmp/scale-test-tls-{os.getpid()}")
    folder.mkdir(mode=0o755)
    certificates(folder)
    files = {"ssl_cert_file": f"{folder}/server.pem", "ssl_key_file": f"{folder}/server.key"}
    settings = {"ssl": "on", **files, "log_connections": "on"}
    try:
        with running_postgres(listen="localhost", installed=home, settings=settings) as running:
            running.certificates = folder
            yield running
    finally:
        shutil.rmtree(folder)


def sweep(server, cwd, *words, host="localhost", **environment):
    at = ("--target", "postgres", "--endpoint", f"{host}:{server.port}")
    return run(*SWEEP, *at, *LOAD, *words, cwd=cwd, SCALE_TARGET_PASSWORD=SECRET, **environment)


def verifying(server, mode, name="ca"):
    return "--sslmode", mode, "--sslrootcert", f"{server.certificates}/{name}.pem"


def measured(done, cwd):
    """What the run stored of its connections; it has no password."""
    assert_measured(done)
    (stored,) = cwd.glob("r/*/trials/*/trial.json")
    texts = b"".join(path.read_bytes() for path in cwd.glob("r/*/**/*") if path.is_file())
    assert SECRET.encode() not in texts and b"PRIVATE KEY" not in texts
    said = json.loads(stored.read_text())["effective"]["encryption"]
    assert said in next(cwd.glob("r/*/report.md")).read_text()
    return said


@pytest.mark.parametrize(
    ("mode", "said"),
    [("verify-full", "certificate and host name verified"), ("verify-ca", "certificate verified")],
)
def test_load_and_checks_are_encrypted_and_the_server_is_verified(mode, said, server, tmp_path):
    log = server.folder / "server.log"
    begin = log.stat().st_size
    done = sweep(server, tmp_path, *verifying(server, mode), PGSSLMODE="disable", PGSSLROOTCERT="/none")
    assert measured(done, tmp_path) == f"TLSv1.3, {said}"
    lines = log.read_bytes()[begin:].decode().splitlines()
    seen = [line for line in lines if "connection authorized" in line and "pg_isready" not in line]
    assert len([line for line in seen if "application_name=scale-loadgen" in line]) > 3, lines
    assert len(seen) > 6 and all("SSL enabled (protocol=TLSv1.3" in line for line in seen), seen


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("--sslmode", "require"), {"PGSSLROOTCERT": "{folder}/other.pem"}, "TLSv1.3, server not verified"),
        (("--sslmode", "disable"), {"PGSSLMODE": "require"}, "none"),
        ((), {"PGSSLMODE": "verify-full"}, None),  # libpq's default: with TLS if the library of the load has it
    ],
)
def test_the_environment_changes_nothing(words, environment, said, server, tmp_path):
    environment = {name: text.format(folder=server.certificates) for name, text in environment.items()}
    found = measured(sweep(server, tmp_path, *words, **environment), tmp_path)
    assert found == said or said is None


def refused(done, cwd, words, remedy):
    sentences = [line for line in done.stderr.splitlines() if "--endpoint:" in line]
    assert done.returncode == 3 and len(sentences) == 1, done.stderr
    assert words in sentences[0] and remedy in " ".join(done.stderr.split()), done.stderr
    assert not list(cwd.glob("r/*"))


def test_another_name_and_another_authority_are_refused_before_anything_starts(server, tmp_path):
    done = sweep(server, tmp_path, *verifying(server, "verify-full"), host="127.0.0.1")
    refused(done, tmp_path, "does not match host name", "or --sslmode verify-ca")
    for mode in ("verify-ca", "verify-full"):
        done = sweep(server, tmp_path, *verifying(server, mode, "other"))
        refused(done, tmp_path, "certificate verify failed", "--sslrootcert with the certificate of the authority")


def test_a_server_without_tls_is_refused(server, tmp_path):
    with running_postgres(listen="127.0.0.1") as plain:
        done = sweep(plain, tmp_path, "--sslmode", "require", host="127.0.0.1")
        refused(done, tmp_path, "does not support SSL", "turn TLS on in the server (ssl = on)")


def test_a_resume_needs_the_same_authorities(server, tmp_path):
    own = tmp_path / "ca.pem"
    shutil.copy(server.certificates / "ca.pem", own)
    words = (
        "sweep",
        "cpu",
        "--cores",
        "1",
        "--duration",
        "2s",
        "--warmup",
        "0s",
        "--replicates",
        "2",
        "--results",
        "r",
    )
    at = ("--target", "postgres", "--endpoint", f"localhost:{server.port}", "--sslmode", "verify-full")
    process = start(*words, *at, "--sslrootcert", "ca.pem", "--connections-check", "off", *LOAD, cwd=tmp_path)
    waited_for(lambda: list(tmp_path.glob("r/*/trials/*/trial.json")), process=process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    resume = ("resume", "last", "--results", "r", "--no-metrics", "-y")
    shutil.copy(server.certificates / "other.pem", own)
    done = run(*resume, cwd=tmp_path)
    assert done.returncode == 2 and f"{own} was changed since the run began" in done.stderr, done.stderr
    shutil.copy(server.certificates / "ca.pem", own)
    assert_measured(run(*resume, cwd=tmp_path))
    said = [
        json.loads(path.read_text())["effective"]["encryption"] for path in tmp_path.glob("r/*/trials/*/trial.json")
    ]
    assert said == ["TLSv1.3, certificate and host name verified"] * 2
