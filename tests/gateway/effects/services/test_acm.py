"""Certificates that are imported and revoked."""

from collections.abc import Callable
from typing import Any

CA = "arn:aws:acm-pca:eu-west-1:123456789012:certificate-authority/1-2"


def test_a_certificate_is_imported_as_text_and_its_key_is_secret(effects_of: Callable[..., Any]) -> None:
    effects = effects_of("acm", "ImportCertificate", {"Certificate": b"PEM", "PrivateKey": b"KEY"}, {})
    found = {each.attribute: each for each in effects}
    assert (found["*"].action.value, found["certificate_body"].value) == ("create", "PEM")
    assert found["private_key"].sensitive
    assert "KEY" not in str(found["private_key"].value)
    assert effects_of("acm", "ImportCertificate", {"Certificate": b"\xff", "PrivateKey": b"KEY"}, {}) == ()


def test_a_revoked_certificate_is_the_one_whose_arn_ends_with_its_number(effects_of: Callable[..., Any]) -> None:
    recorded = {"aws_acmpca_certificate.c": {"arn": f"{CA}/certificate/249a"}}
    given = {"CertificateAuthorityArn": CA, "CertificateSerial": "24:9A", "RevocationReason": "SUPERSEDED"}
    (effect,) = effects_of("acm-pca", "RevokeCertificate", given, recorded)
    assert (effect.address, effect.action.value) == ("aws_acmpca_certificate.c", "delete")
    (other,) = effects_of("acm-pca", "RevokeCertificate", {**given, "CertificateSerial": "24:9B"}, recorded)
    assert not other.declared
