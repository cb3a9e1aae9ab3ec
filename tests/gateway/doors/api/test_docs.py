"""The page of the API loads only what this gateway ships, unchanged, and works under a strict content security policy."""

import gzip
import hashlib
import re

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from gateway.doors.api.openapi import _ASSETS, add_docs, asset


@pytest.fixture
def client() -> TestClient:
    app = FastAPI(title="Sentinel", docs_url=None, openapi_url="/v1/openapi.json", redoc_url=None)
    add_docs(app)
    return TestClient(app)


def test_the_page_loads_nothing_from_elsewhere_and_has_no_script_inside(client: TestClient) -> None:
    page = client.get("/v1/docs")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page.text) == ["", ""]
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert loaded == ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/docs.js", "openapi.json"]
    for name in loaded:
        found = client.get(f"/v1/{name}")
        assert found.status_code == 200, name
        assert found.headers["content-type"].partition(";")[0] in {"text/css", "text/javascript", "application/json"}
        assert name == "openapi.json" or found.headers["x-content-type-options"] == "nosniff"


def test_what_is_shipped_is_what_its_authors_published() -> None:
    lines = [line.split() for line in (_ASSETS / "SHA256SUMS").read_text().splitlines()]
    sums = {name: checksum for checksum, name in lines}
    assert set(sums) == {"swagger-ui-bundle.js", "swagger-ui.css"}
    for name, expected in sums.items():
        assert hashlib.sha256(asset(name)).hexdigest() == expected
    assert "Apache License" in (_ASSETS / "LICENSE").read_text()


def test_a_client_that_reads_no_gzip_gets_the_file_as_it_is(client: TestClient) -> None:
    plain = client.get("/v1/docs/docs.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == (_ASSETS / "docs.js").read_bytes()
    with client.stream("GET", "/v1/docs/swagger-ui.css") as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(packed.iter_raw())) == asset("swagger-ui.css")


def test_the_script_asks_for_the_description_beside_the_page() -> None:
    script = (_ASSETS / "docs.js").read_text()
    assert "openapi.json" in script
    assert "http" not in script
