"""The operations without a resource are of the data plane, and have no effect row."""

from gateway.doors.aws import call_classes
from gateway.effects.registry import SERVICES
from gateway.effects.without_resource import WITHOUT_RESOURCE
from gateway.model.mutation import CallClass


def test_they_are_of_the_data_plane_and_in_no_table() -> None:
    classes = call_classes.shipped()
    assert {classes.of(*operation) for operation in WITHOUT_RESOURCE} == {CallClass.DATA}
    assert not [name for service, name in WITHOUT_RESOURCE if name in SERVICES.get(service, {})]
