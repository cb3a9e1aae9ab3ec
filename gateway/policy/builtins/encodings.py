"""The built-ins of digests, and of encodings of texts: hex, base64url, URL queries and URIs."""

import base64
import hashlib
import hmac
import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Final

from gateway.policy.builtins.evaluation import BuiltinError
from gateway.policy.builtins.operands import members, text, texts
from gateway.policy.rego_values import RegoSet, Term

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_PORT: Final = re.compile(r":[0-9]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ASCII_ESCAPE: Final = re.compile(r"%(?!25)[0-7]")
_HOST: Final = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]*")


def octets(value: Term) -> bytes:
    """The bytes of a string; also of one that is not UTF-8, as `base64.decode` may return it."""
    return text(value).encode(errors="surrogateescape")


def from_octets(content: bytes) -> str:
    """A string of these bytes."""
    return content.decode(errors="surrogateescape")


def _digest(algorithm: str) -> Callable[[Term], Term]:
    return lambda value: hashlib.new(algorithm, octets(value), usedforsecurity=False).hexdigest()


def _hmac(algorithm: str) -> Callable[[Term, Term], Term]:
    return lambda message, key: hmac.new(octets(key), octets(message), algorithm).hexdigest()


def _hmac_equal(one: Term, other: Term) -> Term:
    return hmac.compare_digest(octets(one), octets(other))


def _hex_decode(value: Term) -> Term:
    written = text(value)
    if not re.fullmatch(r"(?:[0-9A-Fa-f]{2})*", written):
        raise BuiltinError("this is not hexadecimal")
    return from_octets(bytes.fromhex(written))


def _base64url_no_pad(value: Term) -> Term:
    return base64.urlsafe_b64encode(octets(value)).rstrip(b"=").decode()


def _query_escape(value: Term) -> str:
    return urllib.parse.quote_plus(octets(value), safe="")


def _query_unescape(value: Term) -> str:
    written = text(value)
    if _BAD_ESCAPE.search(written):
        raise BuiltinError("a % is not followed by two hexadecimal digits")
    return from_octets(urllib.parse.unquote_to_bytes(written.replace("+", " ").encode(errors="surrogateescape")))


def _encode_object(value: Term) -> Term:
    pairs: list[str] = []
    for key, each in sorted(members(value).items()):
        match each:
            case str():
                values = [each]
            case list() | RegoSet():
                values = sorted(texts(each)) if isinstance(each, RegoSet) else texts(each)
            case _:
                raise BuiltinError("the values must be strings, or arrays or sets of strings")
        pairs += [f"{_query_escape(key)}={_query_escape(one)}" for one in values]
    return "&".join(pairs)


def _decode_object(value: Term) -> Term:
    found: dict[str, Term] = {}
    for part in text(value).split("&"):
        if ";" in part:
            raise BuiltinError("a semicolon separates nothing in a query")
        if not part:
            continue
        key, _, written = part.partition("=")
        values = found.setdefault(_query_unescape(key), [])
        if isinstance(values, list):
            values.append(_query_unescape(written))
    return found


def _uri_parse(value: Term) -> Term:
    """The parts of a URL that are there, as Go's `url.Parse` splits them."""
    written = text(value)
    if re.search(r"[\x00-\x1f\x7f]", written):
        raise BuiltinError("a URI has no control characters")
    rest, _, fragment = written.partition("#")
    scheme, rest = _split_scheme(rest)
    parts: dict[str, str] = {"scheme": scheme, "fragment": _unescaped(fragment, "a fragment")}
    rest, _, parts["raw_query"] = rest.partition("?")
    opaque = bool(scheme) and not rest.startswith("/")
    if not opaque and not scheme and ":" in rest.partition("/")[0] and not rest.startswith("/"):
        raise BuiltinError("the first segment of a path has no colon")
    if rest.startswith("//") and not (not scheme and rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        parts["hostname"], parts["port"] = _authority(authority)
        rest = slash + path
    if not opaque:
        parts["path"] = _unescaped(rest, "a path")
        # Go leaves the raw path out where encoding the path gives it again, and OPA then shows the path.
        default = urllib.parse.quote(octets(parts["path"]), safe="$&+,/:;=@")
        parts["raw_path"] = parts["path"] if default == rest else rest
    return {name: each for name, each in parts.items() if each}


def _split_scheme(rest: str) -> tuple[str, str]:
    if rest.startswith(":"):
        raise BuiltinError("the scheme is missing")
    match = _SCHEME.fullmatch(rest)
    return (match[1].lower(), match[2]) if match else ("", rest)


def _authority(authority: str) -> tuple[str, str]:
    """Host and port."""
    user, _, host = authority.rpartition("@")
    if user and (not re.fullmatch(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", user) or _BAD_ESCAPE.search(user)):
        raise BuiltinError("the user is not valid")
    if not _HOST.fullmatch(host):
        raise BuiltinError("the host is not valid")
    if host.startswith("["):
        name, closed, port = host[1:].rpartition("]")
        if not closed or not _is_ipv6(name):
            raise BuiltinError("only an IPv6 address stands in brackets")
        name = _unescaped(name, "a zone")
    else:
        if "[" in host or _ASCII_ESCAPE.search(host):
            raise BuiltinError("the host is not valid")
        name, colon, port = host.rpartition(":")
        name, port = (name, colon + port) if colon else (host, "")
    if port and not _PORT.fullmatch(port):
        raise BuiltinError("the port is not a number")
    if "%" in name and not host.startswith("["):
        name = _unescaped(name, "a host")
    return name, port[1:]


def _is_ipv6(written: str) -> bool:
    try:
        ipaddress.IPv6Address(written.replace("%25", "%", 1))
    except ValueError:
        return False
    return True


def _unescaped(written: str, what: str) -> str:
    if _BAD_ESCAPE.search(written):
        raise BuiltinError(f"{what} has a % without two hexadecimal digits")
    return from_octets(urllib.parse.unquote_to_bytes(written.encode(errors="surrogateescape")))


def _uri_is_valid(value: Term) -> Term:
    try:
        return bool(text(value)) and _uri_parse(value) is not None
    except BuiltinError:
        return False


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    **{f"crypto.{name}": _digest(name) for name in ("md5", "sha1", "sha256")},
    **{f"crypto.hmac.{name}": _hmac(name) for name in ("md5", "sha1", "sha256", "sha512")},
    "crypto.hmac.equal": _hmac_equal,
    "hex.encode": lambda value: octets(value).hex(),
    "hex.decode": _hex_decode,
    "base64url.encode_no_pad": _base64url_no_pad,
    "urlquery.encode": _query_escape,
    "urlquery.decode": _query_unescape,
    "urlquery.encode_object": _encode_object,
    "urlquery.decode_object": _decode_object,
    "uri.parse": _uri_parse,
    "uri.is_valid": _uri_is_valid,
}
