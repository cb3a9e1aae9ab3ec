"""The names and values of a record are read whatever service wrote it."""

from reconciler.changes.event_values import MOST_VALUES, event_values


def test_wrappers_of_lists_and_versions_of_operations_are_passed_over() -> None:
    values = event_values(
        {
            "eventSource": "lambda.amazonaws.com",
            "eventName": "CreateFunction20150331v2",
            "recipientAccountId": "123456789012",
            "requestParameters": {"functionName": "f", "groups": {"items": [{"groupId": "sg-1"}]}, "dry": False},
            "responseElements": {"functionArn": "arn:f", "empty": "", "nothing": None},
        }
    )
    assert (values.service, values.operation, values.verb, values.noun) == ("lambda", "CreateFunction", "create", ("function",))  # fmt: skip
    assert [(each.steps, each.text) for each in values.asked] == [
        (("functionName",), "f"),
        (("groups", "groupId"), "sg-1"),
        (("dry",), "false"),
    ]
    assert [each.name for each in values.answered] == ["functionarn"]
    assert values.account == "123456789012"
    assert values.texts == frozenset({"f", "sg-1", "arn:f"})


def test_the_words_of_an_operation_are_those_that_people_read() -> None:
    names = {
        "CreateDBSubnetGroup": ("create", "db", "subnet", "group"),
        "CreateOpenIDConnectProvider": ("create", "open", "id", "connect", "provider"),
        "PutBucketCors": ("put", "bucket", "cors"),
        "Subscribe": ("subscribe",),
    }
    assert {name: event_values({"eventName": name}).words for name in names} == names


def test_a_record_without_end_is_read_up_to_a_limit() -> None:
    values = event_values({"eventName": "PutX", "requestParameters": {"items": [{"a": 1}] * 10_000}})
    assert len(values.asked) == MOST_VALUES


def test_an_empty_record_says_nothing() -> None:
    assert event_values({}).texts == frozenset()
