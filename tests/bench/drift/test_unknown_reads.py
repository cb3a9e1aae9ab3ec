"""Reads that the simulated AWS does not know are answered as if there was nothing; everything else is left as it is."""

import io
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.bench.drift.unknown_reads import answering_reads


def unknown(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """A simulated AWS that knows nothing."""
    if "json-1" in environ.get("CONTENT_TYPE", "") or "form" in environ.get("CONTENT_TYPE", ""):
        raise NotImplementedError
    start("404 NOT FOUND", [])
    return [b"<!doctype html>\n<p>no such page"]


def asked(body: bytes = b"", **environ: Any) -> tuple[str, bytes]:
    """Status and body of the answer."""
    said: list[str] = []
    request = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "PATH_INFO": "/", **environ}
    reply = answering_reads(unknown)(request, lambda status, _headers: said.append(status))
    return said[0], b"".join(reply)


def test_a_read_by_target_gets_an_empty_object() -> None:
    kind, target = "application/x-amz-json-1.1", "Budgets.DescribeSubscribers"
    assert asked(REQUEST_METHOD="POST", CONTENT_TYPE=kind, HTTP_X_AMZ_TARGET=target) == ("200 OK", b"{}")


def test_a_read_by_form_gets_an_empty_element() -> None:
    form = asked(b"Action=ListTags", REQUEST_METHOD="POST", CONTENT_TYPE="application/x-www-form-urlencoded")
    assert form == ("200 OK", b"<ListTagsResponse><ListTagsResult/></ListTagsResponse>")


def test_a_read_by_path_gets_an_empty_object() -> None:
    assert asked(REQUEST_METHOD="POST", PATH_INFO="/listTagsForStream") == ("200 OK", b"{}")
    assert asked(REQUEST_METHOD="GET", PATH_INFO="/tags/arn") == ("200 OK", b"{}")


def test_a_change_stays_unknown() -> None:
    assert asked(REQUEST_METHOD="POST", PATH_INFO="/createThing")[0] == "404 NOT FOUND"
    with pytest.raises(NotImplementedError):
        asked(b"Action=CreateThing", REQUEST_METHOD="POST", CONTENT_TYPE="application/x-www-form-urlencoded")


@pytest.mark.slow
def test_a_partition_says_its_catalog_and_a_certificate_its_number_as_aws_does() -> None:
    said = subprocess.run([sys.executable, "-c", _DEFAULTS], capture_output=True, text=True, check=True, timeout=120)
    catalog, arn, number = said.stdout.split()
    assert catalog == "123456789012"
    assert int(arn.rpartition("/")[2], 16) == int(number)


_DEFAULTS = """
from base64 import b64encode
from cryptography.x509 import load_pem_x509_certificate
from tests.bench.drift.unknown_reads import return_defaults
return_defaults()
from moto.acmpca.models import CertificateAuthority
from moto.glue.models import FakePartition
print(FakePartition("d", "t", {"Values": ["2026"]}).as_dict()["CatalogId"])
subject = {"Subject": {"CommonName": "a.example.com"}, "KeyAlgorithm": "RSA_2048", "SigningAlgorithm": "SHA256WITHRSA"}
authority = CertificateAuthority("eu-west-1", "123456789012", subject, "ROOT", {}, None)
arn = authority.issue_certificate(b64encode(authority.csr), "arn:aws:acm-pca:::template/RootCACertificate/V1")
print(arn, load_pem_x509_certificate(authority.get_certificate(arn)[0]).serial_number)
"""
"""In a process of its own: the defaults are those of the simulated AWS alone."""
