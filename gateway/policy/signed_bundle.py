"""Opens a bundle in OPA's form (`tar.gz`) whose signature has been verified, and makes a bundle of this gateway from it.

Source of the form: https://www.openpolicyagent.org/docs/management-bundles (`.manifest`, `.signatures.json`).
"""

import hashlib
import hmac
import io
import json
import re
import tarfile
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final

from gateway.core.errors import PolicyInvalid
from gateway.policy.bundle import ENTRYPOINTS, OPTIONAL, Bundle, Manifest, build, verified_bundle
from gateway.policy.opa_command import find_opa
from gateway.policy.rego_values import RegoLiteral, parse_json
from gateway.policy.sources import PREFIX, read_sources

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of an archive."""
_LARGEST_CONTENT: Final = 128 * 1024 * 1024
"""Bytes of an archive that is unpacked, with all its headers: who serves bundles could pack gigabytes of them into a megabyte."""
_MOST_FILES: Final = 5000
"""Files, directories and whatever else is in an archive."""
_SIGNATURES: Final = ".signatures.json"
_HASHES: Final = {"SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512", "SHA-512-256": "sha512_256"}
"""Those that are still safe; OPA has MD5 and SHA-1 too."""
_STRUCTURED: Final = ("data.json", ".manifest")
_GUARDRAIL: Final = re.compile(
    rb"^package " + ".".join(PREFIX[1:]).encode().replace(b".", rb"\.") + rb"\.(\w+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBundle:
    """The files of a bundle whose signature is right."""

    files: Mapping[str, bytes]
    revision: str
    """What its author calls it; may be empty."""
    issued: float | None = None
    """When it was signed (`iat`, in seconds since 1970); None if the signature does not say."""


def opened(archive: bytes, *, key: bytes, algorithm: str, scope: str) -> SignedBundle:
    """The files of an archive. Raises `errors.PolicyInvalid` unless every one of them is signed with the key, and nothing else is."""
    files = _unpacked(archive)
    signed, issued = _signed_files(files, key=key, algorithm=algorithm, scope=scope)
    names = set(files) - {_SIGNATURES}
    if names != set(signed):
        odd = min(names ^ set(signed))
        raise PolicyInvalid(f"The bundle was not taken: {odd[:200]} is either not in it or not in its signature.")
    for name, entry in signed.items():
        if not hmac.compare_digest(_digest(name, files[name], str(entry.get("algorithm"))), str(entry.get("hash"))):
            raise PolicyInvalid(f"The bundle was not taken: {name[:200]} is not the file that was signed.")
    manifest = _document(files.get(".manifest", b"{}"), ".manifest")
    return SignedBundle(files=files, revision=str(manifest.get("revision") or "")[:200], issued=issued)


def _unpacked(archive: bytes) -> Mapping[str, bytes]:
    """The files of the archive in memory, by their names without a leading slash."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_decompressed(archive)), mode="r:") as content:
            for number, member in enumerate(content):
                if number >= _MOST_FILES:
                    raise PolicyInvalid(_TOO_LARGE)
                if not member.isfile():
                    continue
                name = member.name.removeprefix("./").lstrip("/")
                file = content.extractfile(member)
                if name in found or file is None or ".." in name.split("/") or "\0" in name:
                    raise PolicyInvalid(f"The bundle was not taken: it has a file {name[:200]} twice, or outside.")
                if member.issparse():
                    raise PolicyInvalid(f"The bundle was not taken: its file {name[:200]} has holes.")
                found[name] = file.read()
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error) as error:
        raise PolicyInvalid(f"The bundle was not taken: it is not a tar.gz archive ({type(error).__name__}).") from None
    return found


_TOO_LARGE: Final = "The bundle was not taken: it unpacks to more than a bundle may hold."


def _decompressed(archive: bytes) -> bytes:
    """The archive without its compression. Raises `errors.PolicyInvalid` if it is larger than it may be, EOFError, and `zlib.error`."""
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    content = unpacking.decompress(archive, _LARGEST_CONTENT)
    if unpacking.unconsumed_tail:
        raise PolicyInvalid(_TOO_LARGE)
    if not unpacking.eof:
        raise EOFError
    return content


def _signed_files(
    files: Mapping[str, bytes], *, key: bytes, algorithm: str, scope: str
) -> tuple[Mapping[str, Mapping[str, Any]], float | None]:
    """The signed files with their digests, and when they were signed."""
    if _SIGNATURES not in files:
        raise PolicyInvalid("The bundle was not taken: it is not signed. Sign it with `opa sign`.")
    signatures = _document(files[_SIGNATURES], _SIGNATURES).get("signatures")
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], str):
        raise PolicyInvalid("The bundle was not taken: its .signatures.json does not hold exactly one signature.")
    import jwt  # noqa: PLC0415  a gateway whose policies nobody signs does not load it

    try:
        options = {
            "verify_signature": True,
            "verify_exp": False,
            "verify_iat": False,
            "verify_nbf": False,
            "verify_aud": False,
        }
        payload = jwt.decode(signatures[0], key, algorithms=[algorithm], options=options)  # type: ignore[arg-type]
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise PolicyInvalid(
            f"The bundle was not taken: its signature is not one of the key that is set ({type(error).__name__})."
        ) from None
    if payload.get("scope", "") != scope:
        raise PolicyInvalid("The bundle was not taken: its signature has another scope than the one that is set.")
    listed = payload.get("files")
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) and "name" in each for each in listed):
        raise PolicyInvalid("The bundle was not taken: its signature lists no files.")
    issued = payload.get("iat")
    if issued is not None and (isinstance(issued, bool) or not isinstance(issued, int | float) or not isfinite(issued)):
        raise PolicyInvalid("The bundle was not taken: its signature has an `iat` that is no time.")
    return {str(each["name"]).lstrip("/"): each for each in listed}, issued


def _document(content: bytes, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise PolicyInvalid(f"The bundle was not taken: its {name} is not a JSON object.")
    return found


def _digest(name: str, content: bytes, algorithm: str) -> str:
    """The digest of a file as OPA makes it: of a document, of its canonical text."""
    if algorithm not in _HASHES:
        raise PolicyInvalid(f"The bundle was not taken: {name[:200]} is signed with the digest {algorithm[:40]}.")
    if name.rpartition("/")[2] in _STRUCTURED:
        try:
            content = _canonical(parse_json(content.decode())).encode()
        except (ValueError, RecursionError):
            raise PolicyInvalid(f"The bundle was not taken: {name[:200]} is not JSON.") from None
    return hashlib.new(_HASHES[algorithm], content).hexdigest()


def _canonical(value: Any) -> str:
    """JSON as OPA hashes it: sorted keys, no spaces, numbers as they are written."""
    match value:
        case dict():
            return "{" + ",".join(f"{_text(key)}:{_canonical(value[key])}" for key in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(_canonical, value)) + "]"
        case RegoLiteral():
            return value.text
        case str():
            return _text(value)
        case _:
            return json.dumps(value)


def _text(value: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def gateway_bundle(signed: SignedBundle, directory: Path) -> Bundle:
    """The bundle for the embedded engine. One that holds `policy.wasm` (`opa build -t wasm`) is taken as it is; any other is built with opa.

    `directory` gets the sources. Raises `errors.PolicyInvalid` if it is neither, or would not run.
    """
    if "policy.wasm" in signed.files:
        return _compiled(signed)
    tool = find_opa()
    if tool is None:
        raise PolicyInvalid(
            "The bundle was not taken: it holds no policy.wasm, and there is no `opa` on PATH to build one. Build it with "
            "`opa build -t wasm -e sentinel/guardrails/result -e …`."
        )
    with tempfile.TemporaryDirectory(prefix="pulled-", dir=directory) as scratch:
        sources = Path(scratch)
        for name, content in signed.files.items():
            if name.endswith(".rego"):
                (sources / name).parent.mkdir(parents=True, exist_ok=True)
                (sources / name).write_bytes(content)
        data = _document(signed.files.get("data.json", b"{}"), "data.json").get("data")
        (sources / "data").mkdir(exist_ok=True)
        for name, value in data.items() if isinstance(data, Mapping) else ():
            if re.fullmatch(r"[a-z][a-z_]{0,60}", name):
                (sources / "data" / f"{name}.json").write_text(json.dumps({name: value}))
        return build(read_sources(sources), tool)


def _compiled(signed: SignedBundle) -> Bundle:
    manifest = _document(signed.files.get(".manifest", b"{}"), ".manifest")
    listed = {str(each.get("entrypoint")) for each in manifest.get("wasm") or () if isinstance(each, Mapping)}
    if missing := sorted(set(ENTRYPOINTS) - listed):
        raise PolicyInvalid(f"The bundle was not taken: its policy.wasm has no entrypoint {missing[0]}.")
    wasm, data = signed.files["policy.wasm"], signed.files.get("data.json", b"{}")
    modules = {name: content for name, content in signed.files.items() if name.endswith(".rego")}
    packages = sorted({found.decode() for content in modules.values() for found in _GUARDRAIL.findall(content)})
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in modules.items()}
    return verified_bundle(
        wasm,
        data,
        Manifest(
            opa="",
            entrypoints=tuple(sorted(listed & {*ENTRYPOINTS, *OPTIONAL})),
            packages=tuple(packages),
            sources=dict(sorted(digests.items())),
            wasm_sha256=hashlib.sha256(wasm).hexdigest(),
            data_sha256=hashlib.sha256(data).hexdigest(),
        ),
    )
