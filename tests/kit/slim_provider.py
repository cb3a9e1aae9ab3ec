"""Terraform in tests with an AWS provider that knows a few types: it plans the same in a fraction of the time.

A command of Terraform reads the schemas of all 1,500 types at its start. That takes ten times as long as the plan of a small stack, in Terraform and
in the provider. `slim_relay` leaves them out; everything else is what Terraform and the real provider do.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.bench.drift.terraform import PROVIDER, provider

_START_SECONDS: Final = 300
_RELAY: Final = Path(__file__).with_name("slim_relay.py")
_TESTS: Final = Path(__file__).parents[1]
_CODE: Final = (
    _TESTS / "cases" / "plans",
    _TESTS / "cases" / "reconcile",
    _TESTS / "cases" / "stacks",
    _TESTS / "clients",
    _TESTS / "gateway" / "cli",
    _TESTS / "reconciler",
    _TESTS.parent / "deploy",
)
"""Where the types are named that Terraform plans in tests."""


@contextmanager
def slim(attached: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """The variable that names terraform the running provider of `attached`, with the types of the tests alone."""
    (name, running), *_ = json.loads(attached["TF_REATTACH_PROVIDERS"]).items()
    with tempfile.TemporaryDirectory(prefix="slim-") as directory:
        socket = Path(directory) / "socket"
        command = [sys.executable, "-P", _RELAY, "beside", str(socket), running["Addr"]["String"], *_types()]
        with subprocess.Popen(command) as process:
            try:
                until = time.monotonic() + _START_SECONDS
                while not socket.exists():
                    assert process.poll() is None, "the relay ended"
                    assert time.monotonic() < until, "the relay did not start"
                    time.sleep(0.05)
                at = {**running, "Addr": {"Network": "unix", "String": str(socket)}}
                yield {"TF_REATTACH_PROVIDERS": json.dumps({name: at})}
            finally:
                process.kill()


def slim_config(directory: Path) -> Path:
    """Write a mirror whose AWS provider has the types of the tests alone, and starts the real one once it is asked for more than schemas.

    Returns the file for `TF_CLI_CONFIG_FILE`.
    """
    real = provider()
    version, platform = real.parts[-3:-1]
    program = directory / "mirror" / PROVIDER / version / platform / real.name
    program.parent.mkdir(parents=True)
    (directory / "types").write_text("\n".join(sorted(_types())))
    _certify(directory)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P "{_RELAY}" before "{directory}" "{real}"\n')
    program.chmod(0o755)
    config = directory / "terraform.rc"
    path = json.dumps(str(directory / "mirror"))
    config.write_text(f"provider_installation {{\n  filesystem_mirror {{\n    path = {path}\n  }}\n}}\n")
    return config


def _types() -> frozenset[str]:
    files = (path for folder in _CODE for path in folder.rglob("*") if path.suffix in {".tf", ".py"})
    return frozenset(name for file in files for name in re.findall(r"\baws_[a-z0-9_]+", file.read_text()))


def _certify(directory: Path) -> None:
    """A key and a certificate for itself: Terraform encrypts what it says to a provider that it started (go-plugin, `AutoMTLS`)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1)
    )
    alternative = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    signed = built.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    (directory / "certificate.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    (directory / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
