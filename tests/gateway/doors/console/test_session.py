"""The cookie of a sign-in cannot be made by anybody else, and is worth nothing elsewhere."""

from typing import Any

import pytest

from gateway.doors.console.session import SessionCookies

COOKIES = SessionCookies(key=b"k" * 32, https=False)
SECURE = SessionCookies(key=b"k" * 32, https=True)


def scope(cookie: str, scheme: str = "http") -> dict[str, Any]:
    return {"headers": [(b"cookie", cookie.encode("latin-1"))], "scheme": scheme}


def pair(header: str) -> str:
    return header.partition(";")[0]


def test_a_cookie_names_its_key() -> None:
    made = COOKIES.made("SNTS1A", 60, https=False)
    assert made.endswith("; Path=/console; Max-Age=60; HttpOnly; SameSite=Lax")
    assert COOKIES.key_id(scope(f"theme=dark; {pair(made)}; x=y")) == "SNTS1A"
    assert COOKIES.key_id(scope(pair(COOKIES.ended(https=False)))) == ""


def test_over_https_only_this_host_can_set_it() -> None:
    made = SECURE.made("SNTS1A", 60, https=False)
    assert made.startswith("__Host-sentinel-console=")
    assert "; Path=/; Secure;" in made
    assert SECURE.key_id(scope(pair(made))) == "SNTS1A"
    assert COOKIES.key_id(scope(pair(made), "https")) == "SNTS1A"
    assert SECURE.key_id(scope(pair(COOKIES.made("SNTS1A", 60, https=False)))) == ""


@pytest.mark.parametrize("change", [lambda v: v.replace("1A", "1B"), lambda v: v[:-1] + "x", lambda v: v.partition(".")[0], lambda v: v + "ü"])  # fmt: skip
def test_a_changed_cookie_names_nothing(change: Any) -> None:
    name, _, value = pair(COOKIES.made("SNTS1A", 60, https=False)).partition("=")
    assert COOKIES.key_id(scope(f"{name}={change(value)}")) == ""


def test_another_gateway_s_cookie_and_two_of_them_name_nothing() -> None:
    own = pair(COOKIES.made("SNTS1A", 60, https=False))
    assert SessionCookies(key=b"x" * 32, https=False).key_id(scope(own)) == ""
    assert COOKIES.key_id(scope(f"{own}; {own}")) == ""
    assert COOKIES.key_id(scope(f"{own}; {'x' * 5000}")) == ""
    assert COOKIES.key_id({"headers": []}) == ""


def test_the_key_does_not_show() -> None:
    assert "kkk" not in repr(COOKIES)
