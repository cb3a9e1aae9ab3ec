"""Names become labels, and what two names share ends at a separator."""

import pytest

from reconciler.rewrite.slug import names, shared, slug


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("AmazonS3ReadOnlyAccess", "amazon_s3_read_only_access"),
        ("AmazonSQSFullAccess", "amazon_sqs_full_access"),
        ("/shop/web", "shop_web"),
        ("10.0.0.0/8", "10_0_0_0_8"),
        ("", ""),
    ],
)
def test_a_label(name: str, label: str) -> None:
    assert slug(name) == label


def test_what_is_shared_ends_at_a_separator() -> None:
    assert shared("shop-mail", "shop-main", "other") == "shop-"
    assert shared("shop", "shopping") == ""
    assert shared("a") == ""


def test_names_are_told_once() -> None:
    assert list(names({"id": "a", "name": "a", "bucket": "b", "size": 1})) == ["a", "b"]
