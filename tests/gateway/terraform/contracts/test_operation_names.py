"""The names of operations that a contract may have in `allow_invoke`."""

import pytest

from gateway.terraform.contracts.operation_names import operation_names, operation_problem


def test_the_names_are_botocores() -> None:
    assert {"PurgeQueue", "SendMessage"} <= operation_names()["sqs"]
    assert "DeleteDBInstance" in operation_names()["rds"]


@pytest.mark.parametrize("name", ["PurgeQueue", "sqs:PurgeQueue", "rds:RebootDBInstance", "elbv2:RegisterTargets"])
def test_an_operation_is_written_as_aws_spells_it(name: str) -> None:
    assert operation_problem(name) == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("*", '"*" is a pattern. Name each operation that agents may invoke.'),
        ("sqs:*", '"sqs:*" is a pattern.'),
        ("Send*", '"Send*" is a pattern.'),
        ("PurgeQueu?", "is a pattern."),
        ("[A-Z]urgeQueue", "is a pattern."),
        ("PurgeQueu", 'There is no operation "PurgeQueu" of any AWS service; did you mean "PurgeQueue"?'),
        ("purgequeue", 'did you mean "PurgeQueue"?'),
        ("reboot", 'There is no operation "reboot" of any AWS service'),
        ("sqs:SendMail", 'There is no operation "SendMail" of the service "sqs"'),
        ("sns:PurgeQueue", 'There is no operation "PurgeQueue" of the service "sns". There is "sqs:PurgeQueue".'),
        ("SQS:PurgeQueue", 'There is no AWS service "SQS"; did you mean "sqs"? There is "sqs:PurgeQueue".'),
        ("elasticloadbalancing:RegisterTargets", 'There is "elbv2:RegisterTargets", "vpc-lattice:RegisterTargets".'),
        ("aws:sqs:PurgeQueue", 'There is no AWS service "aws:sqs"'),
        ("", 'There is no operation "" of any AWS service.'),
        (":PurgeQueue", 'There is no AWS service ""'),
        ("sqs:", 'There is no operation "" of the service "sqs".'),
        (" PurgeQueue", 'did you mean "PurgeQueue"?'),
        ("PurgeQueue\n", 'did you mean "PurgeQueue"?'),
    ],
)
def test_any_other_name_is_refused_with_the_one_that_is_like_it(name: str, expected: str) -> None:
    assert expected in operation_problem(name)
