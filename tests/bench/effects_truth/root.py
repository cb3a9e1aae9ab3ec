"""Writes a seed as a Terraform root: the code, the provider, and the files that some resources take: a package, a certificate with its key."""

import datetime as dt
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from tests.bench.effects_truth.seeds import SEEDS, Seed

_CODE = "def handler(event, context):\n    return None\n"


def write_root(seed: Seed, root: Path) -> Path:
    """Write it, ready to be applied; the path of the code, which changes are written to. A key is new each time."""
    _write_files(seed.text, root)
    (root / "main.tf").write_text(seed.text)
    return root / "main.tf"


def write_modules(seeds: Sequence[Seed], root: Path) -> dict[str, Path]:
    """Write a root with a module for each of several seeds, as `write_root` does; the path of each one's code by its service."""
    _write_files("".join(seed.text for seed in seeds), root)
    calls = [f'module "{seed.service}" {{\n  source = "./{seed.service}"\n}}\n' for seed in seeds]
    (root / "main.tf").write_text("\n".join(calls))
    paths = {seed.service: root / seed.service / "main.tf" for seed in seeds}
    for seed in seeds:
        paths[seed.service].parent.mkdir()
        paths[seed.service].write_text(seed.text)
    return paths


def _write_files(text: str, root: Path) -> None:
    """Write what the code of a root reads."""
    root.mkdir(parents=True)
    for name in ("provider.tf", "saml.xml"):
        shutil.copyfile(SEEDS / name, root / name)
    for name, code in (("code.zip", _CODE), ("code2.zip", _CODE + "\n")):
        with zipfile.ZipFile(root / name, "w") as package:
            package.writestr(zipfile.ZipInfo("a.py", (2026, 1, 1, 0, 0, 0)), code)
    if "certificate.pem" in text:
        _write_certificate(root)


def _write_certificate(root: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "seed.example.com")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1000))
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.TraditionalOpenSSL
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (root / "private_key.pem").write_bytes(text)
    (root / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
