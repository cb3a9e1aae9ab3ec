"""Values of variables keep their form; what is secret in them is masked and named."""

from gateway.model.json import Json
from gateway.model.masking import PER_RUN, holds_mask
from reconciler.suggest.secret_values import masked_values


def test_only_what_is_secret_is_masked() -> None:
    values: dict[str, Json] = {
        "size": 3,
        "pw": ["a1", 7],
        "db": {"token": "b2", "name": "orders"},
        "all": [{"name": "x/pwd", "value": "c3"}],
    }
    shown, found = masked_values(values, frozenset({"var.pw"}), PER_RUN)
    assert isinstance(shown, dict)
    assert (shown["size"], shown["db"]["name"], shown["all"][0]["name"]) == (3, "orders", "x/pwd")
    assert all(
        holds_mask(each) for each in (shown["pw"][0], shown["pw"][1], shown["db"]["token"], shown["all"][0]["value"])
    )
    assert found == {"a1", "b2", "c3"}
