"""XML elements become nested parameters."""

import pytest

from gateway.aws.door.protocols import xml
from gateway.core.errors import Malformed
from gateway.core.http.strict_parsers import xml_root
from gateway.core.service_models import ServiceModels


def test_flattened_lists_repeat_their_element_and_namespaces_are_dropped(models: ServiceModels) -> None:
    shape = models.shape("s3", "DeleteObjects")
    assert shape is not None
    root = xml_root(
        b'<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a</Key></Object>'
        b"<Object><Key> b </Key></Object><Quiet>true</Quiet></Delete>"
    )
    assert xml.structure(shape.members["Delete"], root, "Delete") == {
        "Objects": [{"Key": "a"}, {"Key": " b "}],
        "Quiet": True,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"<Delete><Object><VersionId>1</VersionId></Object></Delete>",
        b"<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
        b"<Delete><Object><Key><b/></Key></Object></Delete>",
        b"<Delete><Object>text</Object></Delete>",
        b"<Delete><Object><Key>a</Key></Object><Quiet>1</Quiet></Delete>",
    ],
    ids=["required missing", "twice", "element for text", "text for elements", "no boolean"],
)
def test_xml_that_does_not_fit_is_refused(models: ServiceModels, body: bytes) -> None:
    shape = models.shape("s3", "DeleteObjects")
    assert shape is not None
    with pytest.raises(Malformed):
        xml.structure(shape.members["Delete"], xml_root(body), "Delete")


def test_a_required_list_without_items_is_empty(models: ServiceModels) -> None:
    shape = models.shape("s3", "DeleteObjects")
    assert shape is not None
    parsed = xml.structure(shape.members["Delete"], xml_root(b"<Delete><Quiet>true</Quiet></Delete>"), "Delete")
    assert parsed == {"Objects": [], "Quiet": True}
