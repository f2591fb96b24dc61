"""Certificates of authorities, by which a client knows the server: read once, the same for all connections."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import ssl
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.machine.state.trusted import read_trusted
from scale_sweep.model.declared import Tls

VERIFYING = ("verify-ca", "verify-full")  # of libpq's modes, those that compare the server's certificate
OF_SYSTEM = "/etc/ssl/certs/ca-certificates.crt"


def root_certificate(text: str) -> Mapping[str, str]:
    """Fields of `Tls` for a file. Raises ValueError."""
    if text == "system":
        raise ValueError(f"give the file of this machine's authorities, on Debian {OF_SYSTEM}")
    path = str(Path(text).absolute())
    return {"sslrootcert": path, "sha256": hashlib.sha256(_content(path)).hexdigest()}


def root_file(tls: Tls) -> str:
    """A path where the load generator and libpq read what was read once. Raises UsageError."""
    try:
        content = _content(tls.sslrootcert)
    except ValueError as error:
        raise UsageError(f"--sslrootcert: {error}") from None
    if hashlib.sha256(content).hexdigest() != tls.sha256:
        raise UsageError(
            f"--sslrootcert: {tls.sslrootcert} was changed since the run began",
            remedy="put the old file there, or start a new sweep",
        )
    return f"/proc/{os.getpid()}/fd/{_in_memory(content)}"


@functools.cache
def _in_memory(content: bytes) -> int:
    """A descriptor that stays open: no other user can open or change it."""
    descriptor = os.memfd_create("sslrootcert")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    return descriptor


@functools.cache
def _content(path: str) -> bytes:
    """Raises ValueError with the reason and the remedy in one sentence."""
    try:
        content = read_trusted(Path(path))
        ssl.create_default_context(cadata=content.decode("ascii"))
    except PreflightError as error:
        raise ValueError(f"{error.message}; give {error.remedy}") from None
    except ssl.SSLError:
        raise ValueError(f"{path} is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not PEM; convert it: openssl x509 -inform der -in {path}") from None
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        raise ValueError(f"{path}: {'is a link; name the file itself' if is_link else error.strerror}") from None
    return content
