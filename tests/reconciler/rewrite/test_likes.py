"""The siblings of a new resource are found by their names, and the new key is the part that differs."""

from reconciler.drift.creations import Created
from reconciler.rewrite.likes import likes


def _addresses(created: Created, **live: str) -> list[str]:
    found = {address.replace("__", "."): {"name": name, "id": name} for address, name in live.items()}
    return [address for address, _ in likes(created, found)]


def _log(name: str) -> Created:
    return Created(resource_type="aws_log", import_id=name, attributes={"name": name}, name=name)


def test_the_sibling_with_the_most_like_name_comes_first() -> None:
    live = {
        'aws_log.all["/a/b"]': "/a/b",
        'aws_log.team["red"]': "/team/red",
        'module.x["red"].aws_log.this[0]': "/team/red-x",
    }
    found = [
        address for address, _ in likes(_log("/team/blue"), {address: {"name": name} for address, name in live.items()})
    ]
    assert found == ['aws_log.team["blue"]', 'aws_log.all["/team/blue"]']
    found = [
        address
        for address, _ in likes(_log("/team/blue-x"), {address: {"name": name} for address, name in live.items()})
    ]
    assert 'module.x["blue"].aws_log.this[0]' in found[:2]


def test_an_index_more_is_the_next() -> None:
    live = {f"aws_log.all[{number}]": {"name": f"log-{name}"} for number, name in enumerate(("a", "b"))}
    (address, like), *_ = likes(_log("log-c"), live)
    assert (address, like.old, like.new) == ("aws_log.all[2]", "a", "c")


def test_what_belongs_to_another_is_called_after_itself() -> None:
    rule = Created(resource_type="aws_rule", import_id="r", attributes={}, name="8080", parent="sg-1")
    live = {
        'aws_rule.peer["ssh"]': {"group": "sg-1", "id": "sgr"},
        'aws_rule.other["ssh"]': {"group": "sg-2", "id": "sgr"},
    }
    assert [address for address, _ in likes(rule, live)] == ['aws_rule.peer["port_8080"]']
    assert _addresses(rule, aws_rule__x="sg-2") == []
