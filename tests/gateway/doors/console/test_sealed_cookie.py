"""A sealed cookie cannot be made by anybody else, and is worth nothing elsewhere."""

from typing import Any

import pytest

from gateway.doors.console.sealed_cookie import SealedCookie

COOKIES = SealedCookie(key=b"k" * 32, https=False)
SECURE = SealedCookie(key=b"k" * 32, https=True)


def scope(cookie: str, scheme: str = "http") -> dict[str, Any]:
    return {"headers": [(b"cookie", cookie.encode("latin-1"))], "scheme": scheme}


def pair(header: str) -> str:
    return header.partition(";")[0]


def test_a_cookie_names_its_key() -> None:
    made = COOKIES.made("SNTS1A", 60, {"scheme": "http"})
    assert made.endswith("; Path=/console; Max-Age=60; HttpOnly; SameSite=Lax")
    assert COOKIES.text(scope(f"theme=dark; {pair(made)}; x=y")) == "SNTS1A"
    assert COOKIES.text(scope(pair(COOKIES.ended({"scheme": "http"})))) == ""


def test_over_https_only_this_host_can_set_it() -> None:
    made = SECURE.made("SNTS1A", 60, {"scheme": "http"})
    assert made.startswith("__Host-sentinel-console=")
    assert "; Path=/; Secure;" in made
    assert SECURE.text(scope(pair(made))) == "SNTS1A"
    assert COOKIES.text(scope(pair(made), "https")) == "SNTS1A"
    assert SECURE.text(scope(pair(COOKIES.made("SNTS1A", 60, {"scheme": "http"})))) == ""


@pytest.mark.parametrize("change", [lambda v: v.replace("1A", "1B"), lambda v: v[:-1] + "x", lambda v: v.partition(".")[0], lambda v: v + "ü"])  # fmt: skip
def test_a_changed_cookie_names_nothing(change: Any) -> None:
    name, _, value = pair(COOKIES.made("SNTS1A", 60, {"scheme": "http"})).partition("=")
    assert COOKIES.text(scope(f"{name}={change(value)}")) == ""


def test_another_gateway_s_cookie_and_two_of_them_name_nothing() -> None:
    own = pair(COOKIES.made("SNTS1A", 60, {"scheme": "http"}))
    assert SealedCookie(key=b"x" * 32, https=False).text(scope(own)) == ""
    assert COOKIES.text(scope(f"{own}; {own}")) == ""
    assert COOKIES.text(scope(f"{own}; {'x' * 5000}")) == ""
    assert COOKIES.text({"headers": []}) == ""


def test_the_seal_of_one_purpose_is_none_of_another() -> None:
    other = SealedCookie(key=b"k" * 32, https=False, purpose="sign-in")
    assert COOKIES.text(scope(pair(other.made("SNTS1A", 60, {"scheme": "http"})))) == ""
    renamed = SealedCookie(key=b"k" * 32, https=True, name="sentinel-sign-in")
    assert renamed.made("x", 60, {"scheme": "http"}).startswith("__Host-sentinel-sign-in=x.")


def test_the_key_does_not_show() -> None:
    assert "kkk" not in repr(COOKIES)
