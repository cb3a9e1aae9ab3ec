"""Functions that encode and decode. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from gateway.terraform.lang.functions_encoding import FUNCTIONS
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text('ab "\\#:-?[]{}', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab:", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_encoded_is_decoded_again(value: Value) -> None:
    assert FUNCTIONS["yamldecode"](FUNCTIONS["yamlencode"](value)) == value
    assert FUNCTIONS["jsondecode"](FUNCTIONS["jsonencode"](value)) == value
    assert json.loads(str(FUNCTIONS["jsonencode"](value))) == value


def test_rsadecrypt_decrypts() -> None:
    key = generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    secret = base64.b64encode(key.public_key().encrypt(b"hello", PKCS1v15())).decode()
    assert FUNCTIONS["rsadecrypt"](secret, pem) == "hello"
    with pytest.raises(EvaluationFailed):
        FUNCTIONS["rsadecrypt"](secret, "no key")


@pytest.mark.parametrize("written", ["a: !!str 5", "a: yes", "%YAML 1.1\n---\na: 1", "a: 2019-01-01", "<<: {a: 1}"])
def test_yaml_that_versions_read_differently_is_unknown(written: str) -> None:
    with pytest.raises(Unknown):
        FUNCTIONS["yamldecode"](written)


def test_csv_that_readers_read_differently_is_unknown() -> None:
    with pytest.raises(Unknown):
        FUNCTIONS["csvdecode"]('a\nx"y\n')
